// bench --mode crowd; the progress of all modes.

#include <gtest/gtest.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "integration/cli/tool.hpp"
#include "support/eventually.hpp"
#include "support/pseudo_terminal.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

std::vector<std::string> in(const TempDir& directory) {
  return {"TMPDIR=" + directory.path().string()};
}

/// The processes of all servers that have written a log here: each line begins with the process.
std::set<pid_t> servers_of(const TempDir& directory) {
  std::set<pid_t> servers;
  std::error_code gone;
  for (std::filesystem::recursive_directory_iterator entries(directory.path(), gone), end;
       !gone && entries != end; entries.increment(gone)) {
    if (entries->path().extension() != ".log") continue;
    std::istringstream lines(read_file(entries->path()));
    for (std::string line; std::getline(lines, line);) {
      pid_t pid = 0;
      std::from_chars(line.data(), line.data() + line.size(), pid);
      if (pid > 0) servers.insert(pid);
    }
  }
  return servers;
}

TEST(CliCrowd, HasARowForEachCrowdOverEachNumberOfNodes) {
  const TempDir directory;
  // Twelve contenders are two processes.
  const ProcessResult result =
      run_tool({"bench", "--mode", "crowd", "--nodes-count", "1,3", "--contenders", "2,12",
                "--hold", "0s", "--duration", "300ms", "--json"},
               {.environment = {in(directory).front(), "QUORUM_LOCK_RESTART_GUARD="}});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("mode", ""), "crowd");
  const Json& rows = json.at("rows");
  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows.at(i);
    EXPECT_EQ(row.value("nodes_count", 0), i < 2 ? 1 : 3);
    EXPECT_EQ(row.value("clients", 0), i % 2 == 0 ? 2 : 12);
    EXPECT_GE(row.value("connections_per_client_and_node", 0.0), 1.0) << row;
    for (const char* name : {"connect_us", "acquisitions_per_s", "ratio_to_first", "wait_max_us",
                             "wait_max_turns", "share_max"}) {
      EXPECT_GT(row.value(name, 0.0), 0.0) << name << row;
    }
    EXPECT_EQ(row.value("failures", -1), 0) << row;
    EXPECT_EQ(row.value("overlaps", -1), 0) << row;
    if (i % 2 == 0) {
      EXPECT_EQ(row.value("ratio_to_first", 0.0), 1) << row;
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(CliCrowd, ATableIsForPeople) {
  const ProcessResult result = run_tool(
      {"bench", "--mode", "crowd", "--local", "1", "--contenders", "2", "--duration", "100ms"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
  EXPECT_NE(result.output.find("most/least"), std::string::npos) << result.output;
}

/// The child processes of `parent`.
std::vector<pid_t> children_of(pid_t parent) {
  const std::string number = std::to_string(parent);
  std::istringstream list(read_file("/proc/" + number + "/task/" + number + "/children"));
  std::vector<pid_t> children;
  for (pid_t pid = 0; list >> pid;) children.push_back(pid);
  return children;
}

TEST(CliCrowd, NoProcessOutlivesTheOneThatMeasures) {
  for (const int signal : {SIGINT, SIGKILL}) {
    const TempDir directory;
    ChildProcess child = start_tool(
        {"bench", "--mode", "crowd", "--local", "1", "--contenders", "20", "--duration", "10m"},
        {.environment = in(directory)});
    std::vector<pid_t> children;
    // One server, and two processes with ten clients each.
    ASSERT_TRUE(eventually([&] {
      children = children_of(child.pid());
      return children.size() == 3;
    })) << child.errors();
    child.signal(signal);
    ASSERT_TRUE(child.wait().has_value());
    for (const pid_t pid : children) {
      EXPECT_TRUE(eventually([&] { return gone(pid); })) << pid << " after signal " << signal;
    }
  }
}

TEST(CliCrowd, WithoutNodesItFailsInOneLine) {
  const ProcessResult result = run_tool({"bench", "--mode", "crowd", "--nodes", "127.0.0.1:1"});
  EXPECT_EQ(result.exit_code, 69) << result.output;
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
}

class CliBenchMode : public ::testing::TestWithParam<std::string> {};

TEST_P(CliBenchMode, ShowsHowLongItTakesAndEndsAtCtrlC) {
  const TempDir directory;
  // Long enough for the first line to appear before the first step ends.
  Words words = {"bench", "--mode", GetParam(), "--local", "3"};
  const Words length =
      GetParam() == "handoff" ? Words{"--hand-overs", "100000"} : Words{"--duration", "10m"};
  words.insert(words.end(), length.begin(), length.end());
  PseudoTerminal terminal(tool_words(words), tool_environment(in(directory)), {});
  EXPECT_TRUE(terminal.wait_for(" left  ")) << terminal.output();
  const std::set<pid_t> servers = servers_of(directory);
  EXPECT_GE(servers.size(), 3U);
  terminal.type("\x03");
  EXPECT_EQ(terminal.wait(), (ExitStatus{128 + SIGINT, 0})) << terminal.output();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  for (const pid_t pid : servers) EXPECT_TRUE(gone(pid)) << pid;
}

INSTANTIATE_TEST_SUITE_P(All, CliBenchMode, ::testing::Values("cycle", "handoff", "crowd"),
                         [](const auto& mode) { return mode.param; });

}  // namespace
}  // namespace redlock::test
