// The effects of signals on `quorum-lock`: the table in tools/docs/CLI.md and in the manual page.

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "integration/cli/tool.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

class CliSignals : public ::testing::Test {
 protected:
  void occupy() {
    for (const RedisServer& node : nodes_) {
      ASSERT_TRUE(node.command({"SET", "r", "somebody", "PX", "60000"}).is_ok());
    }
  }
  [[nodiscard]] ChildProcess start(Words words, const Words& command = {}) const {
    words.insert(words.end(), {"--nodes", nodes_.joined_urls()});
    if (!command.empty()) words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return start_tool(words);
  }
  [[nodiscard]] ChildProcess start_waiting(const Words& verb, const Words& command) {
    occupy();
    ChildProcess child = start(verb, command);
    EXPECT_TRUE(child.wait_for_errors("waiting for 'r'")) << child.errors();
    return child;
  }
  /// Whether only the holder has keys and no client is queued.
  [[nodiscard]] bool nothing_left_behind() const {
    return eventually([this] {
      for (std::size_t node = 0; node < nodes_.size(); ++node) {
        // The empty name, the next ticket, outlives the clients that waited.
        for (const Reply& client :
             nodes_[node].command({"ZRANGE", "redlock:node:queue:r", "0", "-1"}).elements) {
          if (!client.string.empty()) return false;
        }
      }
      return nodes_.count_held_by("r", "somebody") == nodes_.size();
    });
  }

  Nodes nodes_{3};
};

TEST_F(CliSignals, AWaitEndsAtEachThatEndsAProcess) {
  occupy();
  std::vector<ChildProcess> children;
  for (std::size_t i = 0; i < std::size(ending_signals); ++i) {
    children.push_back(start({"run", "r", "--wait", "10m"}, {"echo", "ran"}));
  }
  for (std::size_t i = 0; i < std::size(ending_signals); ++i) {
    const int signal = ending_signals[i];
    ChildProcess& child = children[i];
    ASSERT_TRUE(child.wait_for_errors("waiting for 'r'")) << child.errors();
    child.signal(signal);
    EXPECT_EQ(child.wait(), (ExitStatus{128 + signal, 0})) << child.errors();
    EXPECT_EQ(child.output(), "") << signal;
  }
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(CliSignals, ACandidateThatWaitsEndsTheSameWay) {
  ChildProcess with_command = start_waiting({"elect", "r"}, {"echo", "ran"});
  with_command.signal(SIGTERM);
  EXPECT_EQ(with_command.wait(), (ExitStatus{128 + SIGTERM, 0})) << with_command.errors();
  EXPECT_EQ(with_command.output(), "");
  ChildProcess without = start_waiting({"elect", "r"}, {});
  without.signal(SIGTERM);
  EXPECT_EQ(without.wait(), (ExitStatus{128 + SIGTERM, 0})) << without.errors();
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(CliSignals, AWaitIsStoppedAndContinued) {
  ChildProcess child = start_waiting({"run", "r", "--wait", "10m"}, {"echo", "ran"});
  child.signal(SIGTSTP);
  EXPECT_TRUE(eventually([&] { return process_stopped(child.pid()); }));
  child.signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return !process_stopped(child.pid()); }));
  nodes_.clear();
  EXPECT_EQ(child.wait(), (ExitStatus{0, 0})) << child.errors();
  EXPECT_EQ(child.output(), "ran\n");
}

TEST_F(CliSignals, AWaitIgnoresTheOthersThatAreTaken) {
  ChildProcess child = start_waiting({"run", "r", "--wait", "10m"}, {"echo", "ran"});
  for (const int signal : {SIGWINCH, SIGCHLD, SIGPIPE, SIGCONT}) child.signal(signal);
  nodes_.clear();
  EXPECT_EQ(child.wait(), (ExitStatus{0, 0})) << child.errors();
  EXPECT_EQ(child.output(), "ran\n");
}

TEST_F(CliSignals, ALeaderWithoutACommandResigns) {
  for (const int signal : ending_signals) {
    ChildProcess child = start({"elect", "leader"});
    ASSERT_TRUE(child.wait_for_output("elected leader")) << child.errors();
    child.signal(signal);
    EXPECT_EQ(child.wait(), (ExitStatus{128 + signal, 0})) << child.errors();
    EXPECT_EQ(nodes_.count_held("leader"), 0U) << signal;
  }
}

TEST_F(CliSignals, TheCommandIsSentWhatIsTaken) {
  ChildProcess child = start({"elect", "leader"},
                             {"sh", "-c",
                              "trap 'echo interrupt' INT; trap 'echo quit' QUIT; trap 'echo size' "
                              "WINCH; trap 'echo pipe' PIPE; trap 'echo end; exit 9' TERM;"
                              "echo ready; while :; do sleep 0.02; done"});
  ASSERT_TRUE(child.wait_for_output("ready")) << child.errors();
  child.signal(SIGPIPE);  // for quorum-lock only, which ignores it
  child.signal(SIGINT);
  ASSERT_TRUE(child.wait_for_output("interrupt"));
  child.signal(SIGQUIT);
  ASSERT_TRUE(child.wait_for_output("quit"));
  child.signal(SIGWINCH);
  ASSERT_TRUE(child.wait_for_output("size"));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), (ExitStatus{9, 0})) << child.errors();
  EXPECT_EQ(child.output().find("pipe"), std::string::npos) << child.output();
}

TEST_F(CliSignals, OneThatIsNotTakenEndsUsAndSoTheCommand) {
  ChildProcess child = start({"run", "r"}, {"sh", "-c", "echo $$; exec sleep 1000"});
  ASSERT_TRUE(child.wait_for_output("\n")) << child.errors();
  const pid_t command = std::stoi(child.output());
  child.signal(SIGALRM);
  EXPECT_EQ(child.wait(), (ExitStatus{-1, SIGALRM}));
  EXPECT_TRUE(eventually([command] { return gone(command); }));
}

TEST_F(CliSignals, WhatNohupIgnoresStaysIgnoredAndIsNotPassedOn) {
  const TempDir directory;
  ChildProcess child = ChildProcess(
      {"nohup", quorum_lock_program(), "run", "r", "--nodes", nodes_.joined_urls(), "--", "sh",
       "-c", "trap 'echo end; exit 9' TERM; echo ready; while :; do sleep 0.02; done"},
      {.environment = tool_environment(), .directory = directory.path()});
  ASSERT_TRUE(child.wait_for_output("ready")) << child.errors();
  child.signal(SIGHUP);
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), (ExitStatus{9, 0})) << child.errors();
}

/// Runs quorum-lock as process 1 of a container, where the kernel ignores signals without a
/// handler.
class CliProcessOne : public CliSignals {
 protected:
  void SetUp() override {
    prefix_ = {"unshare", "--pid", "--fork", "--mount-proc"};
    if (geteuid() != 0) prefix_.insert(prefix_.begin() + 1, "--map-root-user");
    Words probe = prefix_;
    probe.emplace_back("true");
    if (run_process(probe).exit_code != 0) {
      GTEST_SKIP() << "no process may be made the first one of a namespace here (unshare --pid)";
    }
  }
  /// Starts the program as process 1 of a namespace.
  [[nodiscard]] ChildProcess start_first(const Words& verb, const Words& command) const {
    Words words = prefix_;
    const Words tool = tool_words(verb);
    words.insert(words.end(), tool.begin(), tool.end());
    words.insert(words.end(), {"--nodes", nodes_.joined_urls(), "--"});
    words.insert(words.end(), command.begin(), command.end());
    return ChildProcess(words, {.environment = tool_environment()});
  }
  /// The first process of the namespace, as the only child of unshare.
  [[nodiscard]] static pid_t first_process(const ChildProcess& child) {
    const std::string number = std::to_string(child.pid());
    return std::atoi(read_file("/proc/" + number + "/task/" + number + "/children").c_str());
  }

 private:
  Words prefix_;
};

TEST_F(CliProcessOne, PassesSignalsOnAndReapsWhatTheCommandLeaves) {
  ChildProcess child =
      start_first({"run", "r"}, {"sh", "-c",
                                 "trap 'echo one' USR1; trap 'echo end; exit 9' TERM;"
                                 "sh -c 'setsid true & echo orphan $!'; echo ready;"
                                 "while :; do sleep 0.02; done"});
  ASSERT_TRUE(child.wait_for_output("ready")) << child.errors();
  const pid_t first = first_process(child);
  ASSERT_GT(first, 0);
  EXPECT_TRUE(eventually([&] {
    // The zombies of the namespace, whose processes are visible here, too.
    const ProcessResult zombies =
        run_process({"pgrep", "--ns", std::to_string(first), "--runstates", "Z"});
    return zombies.output.empty();
  }));
  ASSERT_EQ(::kill(first, SIGUSR1), 0);
  ASSERT_TRUE(child.wait_for_output("one"));
  ASSERT_EQ(::kill(first, SIGTERM), 0);
  EXPECT_EQ(child.wait(), (ExitStatus{9, 0})) << child.errors();
  EXPECT_EQ(nodes_.count_held("r"), 0U);
}

TEST_F(CliProcessOne, EndsAtSigtermWhileItWaits) {
  occupy();
  ChildProcess child = start_first({"elect", "r"}, {"echo", "ran"});
  ASSERT_TRUE(child.wait_for_errors("waiting for 'r'")) << child.errors();
  ASSERT_EQ(::kill(first_process(child), SIGTERM), 0);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGTERM, 0})) << child.errors();
  EXPECT_EQ(child.output(), "");
}

}  // namespace
}  // namespace redlock::test
