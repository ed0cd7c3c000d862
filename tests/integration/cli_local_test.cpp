#include <gtest/gtest.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "integration/cli_tool.hpp"
#include "support/eventually.hpp"
#include "support/resp_client.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using namespace std::chrono_literals;

std::vector<std::uint16_t> ports_of(const std::string& urls) {
  std::vector<std::uint16_t> ports;
  std::istringstream stream(urls);
  for (std::string url; std::getline(stream, url, ',');) {
    const std::string text = url.substr(url.rfind(':') + 1);
    std::uint16_t port = 0;
    std::from_chars(text.data(), text.data() + text.size(), port);
    ports.push_back(port);
  }
  return ports;
}

bool nobody_listens(std::uint16_t port) {
  try {
    static_cast<void>(RespClient::tcp(port));
    return false;
  } catch (const std::runtime_error&) {
    return true;
  }
}

TEST(CliLocal, NodesLiveAsLongAsTheCommandAndNoLonger) {
  const TempDir directory;
  ChildProcess child = start_tool(
      {"run", "r", "--local", "3", "--", "sh", "-c", "echo $QUORUM_LOCK_NODES; read line"},
      {.environment = {"TMPDIR=" + directory.path().string()}});
  ASSERT_TRUE(child.wait_for_output("\n")) << child.errors();
  const std::vector<std::uint16_t> ports = ports_of(child.output());
  ASSERT_EQ(ports.size(), 3U);
  for (const std::uint16_t port : ports) {
    RespClient client = RespClient::tcp(port);
    EXPECT_EQ(client.call({"EXISTS", "r"}).integer, 1);
    EXPECT_EQ(client.call({"CONFIG", "GET", "appendonly"}).elements.at(1).string, "no");
  }
  child.write_input("\n");
  EXPECT_EQ(child.wait(), (ExitStatus{0, 0}));
  for (const std::uint16_t port : ports) EXPECT_TRUE(nobody_listens(port));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(CliLocal, ASecondQuorumLockInsideSeesTheLock) {
  const ProcessResult result =
      run_tool({"run", "r", "--local", "5", "--", QUORUM_LOCK_BINARY, "inspect", "r", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("state", ""), "held");
  EXPECT_EQ(json.at("nodes").size(), 5U);
}

TEST(CliLocal, OneNodeIsEnough) {
  const ProcessResult result = run_tool({"acquire", "r", "--local", "1", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(json_of(result).value("quorum", 0), 1);
}

TEST(CliLocal, NodesAreGoneHoweverTheProgramEnds) {
  // After SIGKILL nobody is left to remove the servers' directory but this one's owner.
  const TempDir directory;
  for (const int signal : {SIGTERM, SIGKILL}) {
    ChildProcess child = start_tool(
        {"run", "r", "--local", "2", "--", "sh", "-c", "echo $QUORUM_LOCK_NODES; exec sleep 1000"},
        {.environment = {"TMPDIR=" + directory.path().string()}});
    ASSERT_TRUE(child.wait_for_output("\n")) << child.errors();
    const std::vector<std::uint16_t> ports = ports_of(child.output());
    child.signal(signal);
    ASSERT_TRUE(child.wait().has_value());
    for (const std::uint16_t port : ports) {
      EXPECT_TRUE(eventually([port] { return nobody_listens(port); }));
    }
  }
}

TEST(CliLocal, ASignalWhileWaitingRemovesTheDirectory) {
  const TempDir directory;
  ChildProcess child = start_tool({"bench", "--local", "1", "--duration", "1h"},
                                  {.environment = {"TMPDIR=" + directory.path().string()}});
  ASSERT_TRUE(eventually([&] { return !std::filesystem::is_empty(directory.path()); }));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGINT, 0})) << child.errors();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(CliLocal, AMissingServerProgramIsToldClearly) {
  const ProcessResult result =
      run_tool({"acquire", "r", "--local", "1"}, {.environment = {"PATH=/nowhere"}});
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  EXPECT_NE(result.errors.find("redis-server is not installed"), std::string::npos)
      << result.errors;
}

constexpr const char* figure_names[] = {"cycles_per_s",   "acquire_p50_us",
                                        "acquire_p99_us", "cycle_p50_us",
                                        "cycle_p99_us",   "client_cpu_us_per_cycle"};

TEST(CliBench, HasARowForEachCombination) {
  const ProcessResult result =
      run_tool({"bench", "--local", "3", "--nodes-count", "1,3", "--in-flight", "1,8", "--duration",
                "100ms", "--repetitions", "2", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("mode", ""), "cycle");
  ASSERT_EQ(json.at("rows").size(), 4U);
  const std::vector<std::pair<int, int>> combinations = {{1, 1}, {1, 8}, {3, 1}, {3, 8}};
  for (std::size_t i = 0; i < 4; ++i) {
    const Json& row = json.at("rows").at(i);
    EXPECT_EQ(row.value("nodes", 0), combinations[i].first);
    EXPECT_EQ(row.value("in_flight", 0), combinations[i].second);
    for (const char* name : figure_names) EXPECT_GT(row.value(name, 0.0), 0.0) << name;
    EXPECT_EQ(row.value("failures", -1), 0);
    EXPECT_FALSE(row.contains("floor"));
  }
}

TEST(CliBench, SetsTheFloorBesideIt) {
  const ProcessResult result =
      run_tool({"bench", "--local", "3", "--nodes-count", "3", "--in-flight", "4", "--duration",
                "100ms", "--repetitions", "2", "--floor", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const Json row = json_of(result).at("rows").at(0);
  for (const char* name : figure_names) EXPECT_GT(row.at("floor").value(name, 0.0), 0.0) << name;
  EXPECT_GT(row.at("ratio").value("cycles_per_s", 0.0), 0.0);
  EXPECT_GT(row.at("ratio").value("acquire_p50", 0.0), 0.0);
}

TEST(CliBench, DrivesTheBlockingInterfaceToo) {
  const ProcessResult result = run_tool({"bench", "--blocking", "--nodes-count", "1", "--in-flight",
                                         "2", "--duration", "100ms", "--repetitions", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(result.output.find("cycles/s"), std::string::npos) << result.output;
  EXPECT_EQ(result.errors, "");
}

TEST(CliBench, LeavesNoKeysOnGivenNodes) {
  ChildProcess child = start_tool(
      {"run", "r", "--local", "1", "--", "sh", "-c",
       "\"$0\" bench --in-flight 4 --duration 100ms --repetitions 1 > /dev/null || exit; "
       "\"$0\" release r --token $QUORUM_LOCK_TOKEN --quiet; echo $QUORUM_LOCK_NODES; read line",
       QUORUM_LOCK_BINARY});
  ASSERT_TRUE(child.wait_for_output("\n")) << child.errors();
  RespClient client = RespClient::tcp(ports_of(child.output()).at(0));
  EXPECT_TRUE(eventually([&] { return client.call({"DBSIZE"}).integer == 0; }));
  child.write_input("\n");
  // It released the lock of the command around it, so that nothing but the bench could be left.
  EXPECT_EQ(child.wait(), (ExitStatus{74, 0})) << child.errors();
}

TEST(CliBench, WithoutAnyCycleIs69) {
  const ProcessResult result = run_tool({"bench", "--nodes", "127.0.0.1:1", "--in-flight", "1",
                                         "--duration", "50ms", "--repetitions", "1"});
  EXPECT_EQ(result.exit_code, 69) << result.output;
}

}  // namespace
}  // namespace redlock::test
