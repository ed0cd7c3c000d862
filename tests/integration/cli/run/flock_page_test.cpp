// The page for users of flock and of `consul lock` has every option of theirs, its commands work,
// and `run` names what to write in place of an option that it does not have.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "integration/cli/on_nodes.hpp"
#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

struct Row {
  std::vector<std::string> left{};   ///< the words in backquotes in the first column
  std::vector<std::string> right{};  ///< the words in backquotes in the second column
};

std::vector<std::string> in_backquotes(std::string_view text) {
  std::vector<std::string> found;
  for (;;) {
    const std::size_t begin = text.find('`');
    if (begin == std::string_view::npos) return found;
    const std::size_t end = text.find('`', begin + 1);
    found.emplace_back(text.substr(begin + 1, end - begin - 1));
    text.remove_prefix(end + 1);
  }
}

std::vector<Row> rows_of(const std::string& section) {
  std::istringstream page(read_file(pages_folder() + "/pages/moving.md"));
  std::vector<Row> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) inside = line == "## " + section;
    const std::size_t middle = line.find(" | ", 2);
    if (!inside || !line.starts_with("| `") || middle == std::string::npos) continue;
    rows.push_back({in_backquotes(line.substr(0, middle)), in_backquotes(line.substr(middle))});
  }
  // The head of the table.
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

std::set<std::string> options_of(const std::string& section) {
  std::set<std::string> options;
  for (const Row& row : rows_of(section)) {
    for (const std::string& word : row.left) {
      if (word.starts_with('-')) options.insert(word);
    }
  }
  return options;
}

class CliFlockPage : public CliOnNodes {};

TEST_F(CliFlockPage, HasEveryOption) {
  EXPECT_EQ(options_of("flock"),
            (std::set<std::string>{
                "-s",        "--shared", "-x",        "-e",        "--exclusive",
                "-u",        "--unlock", "-n",        "--nb",      "--nonblock",
                "-w",        "--wait",   "--timeout", "-E",        "--conflict-exit-code",
                "-o",        "--close",  "-c",        "--command", "-F",
                "--no-fork", "--exec",   "--verbose", "-h",        "--help",
                "-V",        "--version"}));
  EXPECT_EQ(options_of("consul lock"),
            (std::set<std::string>{"-child-exit-code", "-monitor-retry", "-n", "-name",
                                   "-pass-stdin", "-shell", "-timeout", "-try", "-verbose"}));
}

TEST_F(CliFlockPage, ItsCommandsWork) {
  const TempDir folder;
  std::filesystem::permissions(folder.write("job.sh", "#!/bin/sh\necho ran\n"),
                               std::filesystem::perms::owner_all);
  const std::string tools = std::filesystem::path(quorum_lock_program()).parent_path().string();
  const std::string token = "token=$(quorum-lock acquire nightly --quiet); ";
  std::size_t commands = 0;
  for (const char* section : {"flock", "consul lock"}) {
    for (const Row& row : rows_of(section)) {
      for (const std::string& command : row.right) {
        if (command.find("quorum-lock ") == std::string::npos) continue;
        ++commands;
        // The row's lock has to be acquired first.
        const bool is_release = command.starts_with("quorum-lock release");
        const ProcessResult result = run_process(
            {"sh", "-c",
             "PATH=\"" + tools + ":$PATH\"; " + (is_release ? token : std::string()) + command},
            {.environment = tool_environment({"QUORUM_LOCK_NODES=" + nodes().joined_urls()}),
             .directory = folder.path()});
        EXPECT_EQ(result.exit_code, 0) << command << "\n" << result.errors;
        EXPECT_THAT(result.output, AnyOf(StartsWith("ran\n"), HasSubstr("released nightly"),
                                         StartsWith("quorum-lock "), HasSubstr("COMMAND")))
            << command;
        EXPECT_EQ(nodes().count_held("nightly"), 0U) << command;
      }
    }
  }
  EXPECT_GT(commands, 15U);
}

TEST_F(CliFlockPage, WhatIsNotTakenIsAnsweredWithWhatToWrite) {
  const std::set<std::string> taken{"--shared",  "--wait",   "--conflict-exit-code",
                                    "--verbose", "-h",       "--help",
                                    "--version", "--timeout"};
  for (const char* section : {"flock", "consul lock"}) {
    for (const std::string& option : options_of(section)) {
      if (taken.contains(option)) continue;
      for (const std::string& word : {option, option + "=5"}) {
        const ProcessResult result = run_tool({"run", "r", word, "echo", "ran"});
        EXPECT_TRUE(refused_in_one_line(result, option)) << word;
        EXPECT_THAT(result.errors, AllOf(HasSubstr("not an option of run: "),
                                         AnyOf(HasSubstr("write"), HasSubstr("leave it out"))));
      }
    }
  }
  EXPECT_THAT(run_tool({"run", "r", "-w5", "true"}).errors, HasSubstr("write --wait DURATION"));
}

TEST_F(CliFlockPage, TheExitCodeOfAConflictCanBeChosen) {
  EXPECT_EQ(tool({"acquire", "r", "--ttl", "20s"}).exit_code, 0);
  for (const char* verb : {"run", "acquire"}) {
    for (const int exit_code : {0, 1, 75, 255}) {
      Words words{verb, "r", "--wait", "0s", "--conflict-exit-code", std::to_string(exit_code)};
      if (std::string_view(verb) == "run") words.insert(words.end(), {"--", "echo", "ran"});
      const ProcessResult result = tool(words);
      EXPECT_EQ(result.exit_code, exit_code) << verb;
      EXPECT_EQ(result.output.find("ran"), std::string::npos);
      EXPECT_THAT(result.errors, HasSubstr("held"));
    }
  }
  // As if several asked at the same instant: none has the lock, and none runs the job.
  for (std::size_t node = 0; node < 3; ++node) {
    nodes()[node].command({"SET", "apart", "token" + std::to_string(node), "PX", "60000"});
  }
  const ProcessResult apart =
      tool({"run", "apart", "--wait", "0s", "--conflict-exit-code", "0", "--", "echo", "ran"});
  EXPECT_EQ(apart.exit_code, 75) << apart.errors;
  EXPECT_EQ(apart.output, "");
  // The exit code of the command does not change, and neither does that of an outage.
  EXPECT_EQ(
      tool({"run", "free", "--conflict-exit-code", "1", "--", "sh", "-c", "exit 75"}).exit_code,
      75);
  nodes()[2].kill();
  EXPECT_EQ(tool({"run", "r", "--wait", "0s", "--conflict-exit-code", "9", "true"}).exit_code, 9)
      << "a minority is killed";
  nodes()[1].kill();
  EXPECT_EQ(tool({"run", "r", "--wait", "0s", "--conflict-exit-code", "9", "true"}).exit_code, 69);
  nodes()[1].start();
  nodes()[2].start();
}

TEST_F(CliFlockPage, AnExitCodeThatIsNoneIsRefused) {
  for (const char* number : {"256", "-1", "x", "1.5"}) {
    for (const Words& words :
         {Words{"run", "r", "--conflict-exit-code", number, "--", "echo", "ran"},
          Words{"acquire", "r", "--conflict-exit-code", number}}) {
      EXPECT_TRUE(refused_in_one_line(tool(words), "--conflict-exit-code")) << number;
    }
  }
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

}  // namespace
}  // namespace redlock::test
