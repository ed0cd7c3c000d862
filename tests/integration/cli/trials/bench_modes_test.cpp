// bench --mode crowd, --mode faults, --mode family; the progress of all modes.

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <chrono>
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

std::size_t count_stopped(const std::set<pid_t>& servers) {
  std::size_t stopped = 0;
  for (const pid_t pid : servers) stopped += process_stopped(pid) ? 1U : 0U;
  return stopped;
}

void expect_cycles(const Json& row) {
  for (const char* name : {"cycles_per_s", "acquire_p50_us", "acquire_p99_us", "cycle_p50_us",
                           "client_cpu_us_per_cycle"}) {
    EXPECT_GT(row.value(name, 0.0), 0.0) << name << row;
  }
  EXPECT_EQ(row.value("failures", -1), 0) << row;
}

void expect_fault_row(const Json& row, const std::string& fault, int nodes_down) {
  EXPECT_EQ(row.value("fault", ""), fault);
  EXPECT_EQ(row.value("nodes_down", -1), nodes_down);
  if (nodes_down == 2) {
    EXPECT_EQ(row.value("unavailable", 0), 4) << row;
    EXPECT_GT(row.value("unavailable_max_us", 0.0), 0.0) << row;
    EXPECT_FALSE(row.contains("cycles_per_s"));
    return;
  }
  expect_cycles(row);
  EXPECT_GT(row.value("acquire_max_us", 0.0), 0.0) << row;
  EXPECT_EQ(row.contains("ratio_to_healthy"), nodes_down > 0);
  if (nodes_down == 0) return;
  EXPECT_GT(row.at("ratio_to_healthy").value("cycles_per_s", 0.0), 0.0);
}

TEST(CliBenchFaults, HasARowForHealthyNodesAndForEachFault) {
  const TempDir directory;
  const ProcessResult result = run_tool({"bench", "--mode", "faults", "--local", "3", "--in-flight",
                                         "4", "--duration", "50ms", "--repetitions", "1", "--json"},
                                        {.environment = in(directory)});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("mode", ""), "faults");
  EXPECT_EQ(json.value("nodes_count", 0), 3);
  EXPECT_EQ(json.value("node_limit_ms", 0.0), 250);
  const Json& rows = json.at("rows");
  ASSERT_EQ(rows.size(), 5U);
  for (const Json& row : rows) EXPECT_EQ(row.value("in_flight", 0), 4);
  expect_fault_row(rows.at(0), "none", 0);
  expect_fault_row(rows.at(1), "killed", 1);
  expect_fault_row(rows.at(2), "stopped", 1);
  expect_fault_row(rows.at(3), "killed", 2);
  expect_fault_row(rows.at(4), "stopped", 2);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(CliBenchFaults, KillsAndStopsServersAndStartsThemAgain) {
  const TempDir directory;
  ChildProcess child = start_tool({"bench", "--mode", "faults", "--local", "3", "--in-flight", "1",
                                   "--duration", "150ms", "--repetitions", "1"},
                                  {.environment = in(directory)});
  std::set<pid_t> servers;
  std::size_t most_stopped = 0;
  EXPECT_TRUE(eventually(
      [&] {
        servers.merge(servers_of(directory));
        most_stopped = std::max(most_stopped, count_stopped(servers));
        return !child.running();
      },
      std::chrono::minutes(1)));
  EXPECT_EQ(child.wait(), (ExitStatus{0, 0})) << child.errors();
  EXPECT_EQ(child.errors(), "");
  EXPECT_EQ(most_stopped, 2U);
  // One server was killed first, and two later; each was started again.
  EXPECT_EQ(servers.size(), 6U);
  for (const pid_t pid : servers) EXPECT_TRUE(gone(pid)) << pid;
  for (const char* line : {"1 healthy ", "1 1 killed ", "1 1 stopped ", "1 2 killed ",
                           "unavailable: first ", "a node's limit is 250 ms"}) {
    EXPECT_NE(child.output().find(line), std::string::npos) << line << '\n' << child.output();
  }
}

TEST(CliBenchFaults, ASignalEndsStoppedServersToo) {
  const TempDir directory;
  ChildProcess child = start_tool({"bench", "--mode", "faults", "--local", "3", "--in-flight", "1",
                                   "--duration", "300ms", "--repetitions", "1000"},
                                  {.environment = in(directory)});
  std::set<pid_t> servers;
  ASSERT_TRUE(eventually([&] {
    servers = servers_of(directory);
    return count_stopped(servers) > 0;
  }));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGINT, 0})) << child.errors();
  EXPECT_EQ(child.output(), "");
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  for (const pid_t pid : servers) EXPECT_TRUE(gone(pid)) << pid;
}

TEST(CliBenchFamily, HasARowForEachKindOnAllItsTerms) {
  const TempDir directory;
  const ProcessResult result = run_tool({"bench", "--mode", "family", "--local", "1", "--in-flight",
                                         "2", "--duration", "50ms", "--repetitions", "1", "--json"},
                                        {.environment = in(directory)});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("mode", ""), "family");
  EXPECT_EQ(json.value("nodes_count", 0), 1);
  std::vector<std::string> rows;
  for (const Json& row : json.at("rows")) {
    rows.push_back(row.value("kind", "") + " " + row.value("terms", ""));
    EXPECT_EQ(row.value("in_flight", 0), 2);
    expect_cycles(row);
    EXPECT_GT(row.value("node_cpu_us_per_cycle", 0.0), 0.0) << row;
    EXPECT_EQ(row.contains("ratio_to_plain_exclusive"), rows.back() != "exclusive plain") << row;
  }
  EXPECT_EQ(rows, (std::vector<std::string>{
                      "exclusive plain", "exclusive guarded", "exclusive fenced", "shared plain",
                      "shared guarded", "owned plain", "owned guarded", "semaphore plain",
                      "semaphore guarded", "interval plain", "interval guarded", "interval fenced",
                      "several plain", "several guarded", "several fenced"}));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(CliBenchFamily, ATableIsForPeople) {
  const ProcessResult result = run_tool({"bench", "--mode", "family", "--local", "1", "--in-flight",
                                         "1", "--duration", "50ms", "--repetitions", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
  EXPECT_NE(result.output.find("interval   fenced"), std::string::npos) << result.output;
}

TEST(CliBenchFamily, WithoutAnyCycleIs69) {
  const ProcessResult result =
      run_tool({"bench", "--mode", "family", "--nodes", "127.0.0.1:1", "--in-flight", "1",
                "--duration", "5ms", "--repetitions", "1", "--json"});
  EXPECT_EQ(result.exit_code, 69) << result.output;
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  EXPECT_NE(result.errors.find("exclusive, plain: "), std::string::npos) << result.errors;
  // The bench cannot measure the cost on nodes that it did not start.
  EXPECT_FALSE(json_of(result).at("rows").at(0).contains("node_cpu_us_per_cycle"));
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

INSTANTIATE_TEST_SUITE_P(All, CliBenchMode,
                         ::testing::Values("cycle", "handoff", "market", "cohort", "crowd",
                                           "faults", "family"),
                         [](const auto& mode) { return mode.param; });

}  // namespace
}  // namespace redlock::test
