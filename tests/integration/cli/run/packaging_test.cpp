// The examples of tools/packaging, used as they are: the command of a unit or of a line of cron is
// taken from the file and run, with another program, other nodes and another command.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "integration/cli/run/packaging.hpp"

namespace redlock::test {
namespace {

bool is_installed(const std::string& program) {
  return run_process({"sh", "-c", "command -v " + program}).exit_code == 0;
}

/// A unit as systemd reads it, limited to what our units use.
class Unit {
 public:
  explicit Unit(const std::string& file) : settings_(assignments_in("systemd/" + file)) {}

  [[nodiscard]] std::string operator[](const std::string& name) const {
    const auto setting = settings_.find(name);
    EXPECT_NE(setting, settings_.end()) << name;
    return setting == settings_.end() ? std::string() : setting->second;
  }
  /// The command of ExecStart. A word $NAME becomes the words of the variable, ${NAME} its value.
  [[nodiscard]] Words exec_start(std::map<std::string, std::string> variables,
                                 const std::map<std::string, std::string>& replaced) const {
    for (const std::string& word : words_in((*this)["Environment"])) {
      const std::size_t equals = word.find('=');
      variables.try_emplace(word.substr(0, equals), word.substr(equals + 1));
    }
    Words words;
    for (std::string word : words_in((*this)["ExecStart"])) {
      if (word.starts_with('$') && !word.starts_with("${")) {
        for (std::string& part : words_in(variables.at(word.substr(1)))) words.push_back(part);
        continue;
      }
      for (const auto& [name, value] : variables) replace_all(word, "${" + name + "}", value);
      words.push_back(with_replaced(word, replaced));
    }
    return words;
  }
  [[nodiscard]] bool lists(const std::string& setting, int code) const {
    for (const std::string& word : words_in((*this)[setting])) {
      if (word == std::to_string(code)) return true;
    }
    return false;
  }

 private:
  std::map<std::string, std::string> settings_;
};

/// The unit of a worker, with the example of its environment.
class PackagedElection : public Packaging {
 protected:
  [[nodiscard]] Words candidate(const std::string& worker, const std::string& more = "") const {
    std::map<std::string, std::string> variables = assignments_in("systemd/scheduler.env");
    variables["COMMAND"] = worker;
    replace_all(variables["OPTIONS"], ":9464", ":0");
    variables["OPTIONS"] += more;
    return unit_.exec_start(variables, replaced("scheduler"));
  }

  Unit unit_{"quorum-lock-elect@.service"};
};

TEST_F(PackagedElection, OneWorkerRunsAndStopsInGoodOrder) {
  // systemd signals only quorum-lock, which passes signals on.
  EXPECT_EQ(unit_["KillMode"], "mixed");
  const std::string worker = script("worker", "echo works; exec sleep 1000\n");
  ChildProcess first = start(candidate(worker));
  ASSERT_TRUE(first.wait_for_output("works")) << first.errors();
  ChildProcess second = start(candidate(worker));
  ASSERT_TRUE(second.wait_for_errors("waiting for 'scheduler'")) << second.errors();
  ChildProcess third = start(candidate(worker));
  ASSERT_TRUE(third.wait_for_errors("waiting for 'scheduler'")) << third.errors();

  third.signal(SIGTERM);
  const auto while_it_waited = third.wait();
  ASSERT_TRUE(while_it_waited);
  EXPECT_TRUE(unit_.lists("SuccessExitStatus", while_it_waited->code)) << while_it_waited->code;

  first.signal(SIGTERM);
  const auto while_it_ran = first.wait();
  ASSERT_TRUE(while_it_ran);
  EXPECT_TRUE(unit_.lists("SuccessExitStatus", while_it_ran->code)) << while_it_ran->code;
  ASSERT_TRUE(second.wait_for_output("works")) << second.errors();
  EXPECT_EQ(third.output(), "");
}

TEST_F(PackagedElection, OnlyWhatAPersonHasToMendIsNotStartedAgain) {
  EXPECT_EQ(unit_["Restart"], "always");
  const auto started_again = [this](const ProcessResult& result) {
    return !unit_.lists("RestartPreventExitStatus", result.exit_code);
  };
  const ProcessResult wrong = run(candidate("true", " --no-such-option"));
  EXPECT_EQ(wrong.exit_code, 64) << wrong.errors;
  EXPECT_FALSE(started_again(wrong));
  const ProcessResult missing = run(candidate("/no/such/worker"));
  EXPECT_EQ(missing.exit_code, 127) << missing.errors;
  EXPECT_FALSE(started_again(missing));
  const ProcessResult no_program = run(candidate(directory_.path().string()));
  EXPECT_EQ(no_program.exit_code, 126) << no_program.errors;
  EXPECT_FALSE(started_again(no_program));

  const ProcessResult ended = run(candidate(script("ends", "exit 0\n")));
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_TRUE(started_again(ended));
  const ProcessResult crashed = run(candidate(script("crashes", "kill -SEGV $$\n")));
  EXPECT_EQ(crashed.exit_code, 128 + SIGSEGV) << crashed.errors;
  EXPECT_TRUE(started_again(crashed));
  for (const int code : {69, 74, 75}) {
    EXPECT_FALSE(unit_.lists("RestartPreventExitStatus", code)) << code;
    EXPECT_FALSE(unit_.lists("SuccessExitStatus", code)) << code;
  }
}

/// The unit of a job, with the example of its environment.
class PackagedJob : public Packaging {
 protected:
  [[nodiscard]] Words machine(const std::string& job) const {
    std::map<std::string, std::string> variables = assignments_in("systemd/hourly-report.env");
    variables["COMMAND"] = job;
    Words words = unit_.exec_start(variables, replaced("hourly-report"));
    // The test does not wait for a lock that is not released.
    const auto wait = std::find(words.begin(), words.end(), "--wait");
    if (wait == words.end() || wait + 1 == words.end())
      ADD_FAILURE() << "no --wait";
    else
      *(wait + 1) = "0s";
    return words;
  }

  Unit unit_{"quorum-lock-job@.service"};
};

TEST_F(PackagedJob, RunsOnceAndThatIsNoFailureOfTheOthers) {
  EXPECT_EQ(unit_["Type"], "oneshot");
  const std::string job = script("job", "echo ran\n");
  const ProcessResult first = run(machine(job));
  EXPECT_EQ(first.exit_code, 0) << first.errors;
  EXPECT_EQ(first.output, "ran\n");
  // The job has ended, but the interval has not.
  const ProcessResult late = run(machine(job));
  EXPECT_EQ(late.output, "");
  EXPECT_TRUE(unit_.lists("SuccessExitStatus", late.exit_code)) << late.exit_code << late.errors;
}

TEST_F(PackagedJob, AFailureIsOne) {
  const ProcessResult failed = run(machine(script("fails", "exit 3\n")));
  EXPECT_EQ(failed.exit_code, 3) << failed.errors;
  EXPECT_FALSE(unit_.lists("SuccessExitStatus", 3));
  for (std::size_t node = 0; node < 3; ++node) nodes_[node].kill();
  const ProcessResult unavailable = run(machine(script("job", "echo ran\n")));
  EXPECT_EQ(unavailable.exit_code, 69) << unavailable.errors;
  EXPECT_FALSE(unit_.lists("SuccessExitStatus", 69));
}

TEST(PackagedTimer, IsShorterThanTheIntervalAllows) {
  const Unit timer("quorum-lock-job@.timer");
  EXPECT_EQ(timer["OnCalendar"], "hourly");
  EXPECT_EQ(timer["Persistent"], "no");
  EXPECT_EQ(assignments_in("systemd/hourly-report.env")["AT_LEAST"], "55m");
}

TEST(PackagedUnits, AreAcceptedBySystemd) {
  if (!is_installed("systemd-analyze")) GTEST_SKIP() << "systemd-analyze is not installed";
  const TempDir directory;
  Words words = {"systemd-analyze", "verify", "--man=no"};
  for (const char* name :
       {"quorum-lock-elect@.service", "quorum-lock-job@.service", "quorum-lock-job@.timer"}) {
    std::string text = read_file(packaging_file("systemd/" + std::string(name)));
    ASSERT_FALSE(text.empty()) << name;
    replace_all(text, "/usr/bin/quorum-lock", quorum_lock_program());
    words.push_back(directory.write(name, text).string());
  }
  const ProcessResult checked = run_process(words);
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  // systemd-analyze only warns of unknown settings, and succeeds.
  EXPECT_EQ(checked.output + checked.errors, "");
}

/// /etc/cron.d/quorum-lock, as cron reads it.
class PackagedCron : public Packaging {
 protected:
  PackagedCron() {
    for (const std::string& line : lines_in(read_file(packaging_file("cron/quorum-lock")))) {
      if (line.empty() || line.front() == '#') continue;
      // A line that begins with a name and an equals sign sets a variable.
      const std::size_t equals = line.find('=');
      const std::size_t blank = line.find(' ');
      if (equals != std::string::npos && equals < blank) {
        variables_[line.substr(0, equals)] = line.substr(equals + 1);
      } else {
        jobs_.push_back(line);
      }
    }
    std::filesystem::create_symlink(quorum_lock_program(), directory_.path() / "quorum-lock");
    std::filesystem::create_symlink(
        std::filesystem::absolute(packaging_file("cron/quorum-lock-cron")),
        directory_.path() / "quorum-lock-cron");
  }
  /// The job's command, which follows five fields and the user, as /bin/sh gets it.
  [[nodiscard]] std::string command() const {
    EXPECT_EQ(jobs_.size(), 1U);
    std::istringstream line(jobs_.at(0));
    std::string field;
    for (int i = 0; i < 5; ++i) {
      line >> field;
      EXPECT_EQ(field.find_first_not_of("0123456789*/,-"), std::string::npos) << field;
    }
    line >> field;
    EXPECT_EQ(field, "nobody");
    std::string rest;
    std::getline(line, rest);
    replace_all(rest, "\\%", "\x01");
    EXPECT_EQ(rest.find('%'), std::string::npos) << "the end of the command, to cron";
    replace_all(rest, "\x01", "%");
    return with_replaced(rest, replaced(""));
  }
  [[nodiscard]] ProcessResult run_as_cron(const std::string& command) {
    const std::string path = directory_.path().string() + ":" + variables_["PATH"];
    return run_process({"env", "-i", "HOME=/", "LOGNAME=nobody",
                        "TMPDIR=" + directory_.path().string(), "PATH=" + path, variables_["SHELL"],
                        "-c", command});
  }

  std::map<std::string, std::string> variables_;
  std::vector<std::string> jobs_;
};

TEST_F(PackagedCron, OneMachineRunsTheJobAndTheOthersSendNoMail) {
  static_cast<void>(script("hourly-report", "echo \"report $*\"; echo note >&2\n"));
  std::string line = command();
  replace_all(line, "--wait 30s", "--wait 0s");
  const ProcessResult first = run_as_cron(line);
  EXPECT_EQ(first.exit_code, 0) << first.errors;
  EXPECT_EQ(first.output.substr(0, 15), "report --day 20") << first.output;
  EXPECT_EQ(first.errors, "note\n");
  const ProcessResult other = run_as_cron(line);
  EXPECT_EQ(other.exit_code, 0);
  EXPECT_EQ(other.output + other.errors, "");
}

TEST_F(PackagedCron, FailuresAreMailed) {
  static_cast<void>(script("hourly-report", "echo broken >&2; exit 3\n"));
  const ProcessResult failed = run_as_cron(command());
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_EQ(failed.errors, "broken\n");
  for (std::size_t node = 0; node < 3; ++node) nodes_[node].kill();
  std::string line = command();
  replace_all(line, "--wait 30s", "--wait 0s");
  const ProcessResult unavailable = run_as_cron(line);
  EXPECT_EQ(unavailable.exit_code, 69);
  EXPECT_NE(unavailable.errors.find("unavailable"), std::string::npos) << unavailable.errors;
}

TEST(PackagedConfiguration, IsReadAsItIs) {
  const Nodes nodes(1);
  const ProcessResult listed = run_tool(
      {"list", "--config", packaging_file("quorum-lock.toml"), "--nodes", nodes.joined_urls()});
  EXPECT_EQ(listed.exit_code, 0) << listed.errors;
  EXPECT_EQ(listed.errors, "");
}

}  // namespace
}  // namespace redlock::test
