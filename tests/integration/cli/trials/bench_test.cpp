// bench: its rows, and what it leaves on nodes.

#include <gtest/gtest.h>

#include <charconv>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "integration/cli/tool.hpp"
#include "support/eventually.hpp"
#include "support/programs.hpp"
#include "support/resp_client.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

constexpr const char* figure_names[] = {"cycles_per_s",   "acquire_p50_us",
                                        "acquire_p99_us", "cycle_p50_us",
                                        "cycle_p99_us",   "client_cpu_us_per_cycle"};

/// The files with this ending of private nodes in this TMPDIR; empty if there are none.
std::vector<std::filesystem::path> files_under(const std::filesystem::path& directory,
                                               const std::string& ending) {
  std::vector<std::filesystem::path> files;
  std::error_code gone;
  for (std::filesystem::recursive_directory_iterator entries(directory, gone), end;
       !gone && entries != end; entries.increment(gone)) {
    if (entries->path().extension() == ending) files.push_back(entries->path());
  }
  return files;
}

/// The word after `name` in a server's configuration; empty if it is not there.
std::string configured(const std::filesystem::path& file, const std::string& name) {
  std::istringstream lines(read_file(file));
  for (std::string word, value; lines >> word && std::getline(lines >> std::ws, value);) {
    if (word == name) return value;
  }
  return {};
}

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
    EXPECT_EQ(row.value("nodes_count", 0), combinations[i].first);
    EXPECT_EQ(row.value("in_flight", 0), combinations[i].second);
    for (const char* name : figure_names) EXPECT_GT(row.value(name, 0.0), 0.0) << name;
    EXPECT_EQ(row.value("failures", -1), 0);
    EXPECT_FALSE(row.contains("peers"));
  }
}

TEST(CliBench, ItsNodesWantAPasswordThatIsNowhereToBeSeen) {
  const TempDir directory;
  ChildProcess child = start_tool({"bench", "--local", "1", "--duration", "1h", "--verbose"},
                                  {.environment = {"TMPDIR=" + directory.path().string()}});
  // The server writes its log once it has read the configuration.
  ASSERT_TRUE(eventually([&] { return !files_under(directory.path(), ".log").empty(); }));
  const std::filesystem::path file = files_under(directory.path(), ".conf").at(0);
  EXPECT_EQ(std::filesystem::status(file).permissions() & std::filesystem::perms::all,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const std::string password = configured(file, "requirepass");
  EXPECT_EQ(password.size(), 32U);
  std::uint16_t port = 0;
  const std::string text = configured(file, "port");
  std::from_chars(text.data(), text.data() + text.size(), port);
  const auto ask = [port](const Command& command) {
    try {
      return RespClient::tcp(port).call(command).string;
    } catch (const std::runtime_error&) {
      return std::string();
    }
  };
  EXPECT_TRUE(eventually([&] { return ask({"GET", "r"}).starts_with("NOAUTH"); }));
  // The program ends all connections to its nodes before its first lock.
  EXPECT_TRUE(eventually([&] { return ask({"AUTH", password}) == "OK"; }));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGINT, 0})) << child.errors();
  EXPECT_EQ(child.errors().find(password), std::string::npos) << child.errors();
  EXPECT_EQ(child.output().find(password), std::string::npos) << child.output();
}

TEST(CliBench, KeysThatARowLeftBehindAreNotInTheWayOfTheNext) {
  const TempDir directory;
  ChildProcess child = start_tool({"bench", "--local", "1", "--in-flight", "1,2", "--duration",
                                   "1s", "--repetitions", "1", "--json"},
                                  {.environment = {"TMPDIR=" + directory.path().string()}});
  ASSERT_TRUE(eventually([&] { return !files_under(directory.path(), ".log").empty(); }));
  const std::filesystem::path file = files_under(directory.path(), ".conf").at(0);
  std::uint16_t port = 0;
  const std::string text = configured(file, "port");
  std::from_chars(text.data(), text.data() + text.size(), port);
  // The key of a node that was slow when the row ended.
  const std::string token(40, 'a');
  EXPECT_TRUE(eventually([&] {
    try {
      RespClient client = RespClient::tcp(port);
      static_cast<void>(client.call({"AUTH", configured(file, "requirepass")}));
      return client.call({"EXISTS", "redlock:node:marker"}).integer == 1 &&
             client.call({"SET", "quorum-lock-bench/left", token, "PX", "20000"}).is_ok();
    } catch (const std::runtime_error&) {
      return false;
    }
  }));
  EXPECT_EQ(child.wait(), (ExitStatus{0, 0})) << child.errors();
  const Json json = Json::parse(child.output(), nullptr, false);
  ASSERT_TRUE(json.is_object()) << child.output();
  EXPECT_EQ(json.at("rows").size(), 2U);
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
       quorum_lock_program()});
  ASSERT_TRUE(child.wait_for_output("\n")) << child.errors();
  RespClient client = RespClient::unix_socket(paths_of(child.output()).at(0));
  // Not counted: names of clients, which outlive them, and the node's own keys.
  const std::string others =
      "local n = 0; for _, key in ipairs(redis.call('keys', '*')) do "
      "if not string.find(key, '^redlock:node:client:') and key ~= 'redlock:node:marker' and "
      "key ~= 'redlock:node:numbers' then n = n + 1 end end; return n";
  EXPECT_TRUE(eventually([&] { return client.call({"EVAL", others, "0"}).integer == 0; }));
  child.write_input("\n");
  // The command released its own lock, so only the bench could have left keys.
  EXPECT_EQ(child.wait(), (ExitStatus{74, 0})) << child.errors();
}

TEST(CliBench, WithoutAnyCycleIs69) {
  const ProcessResult result = run_tool({"bench", "--nodes", "127.0.0.1:1", "--in-flight", "1",
                                         "--duration", "50ms", "--repetitions", "1"});
  EXPECT_EQ(result.exit_code, 69) << result.output;
}

}  // namespace
}  // namespace redlock::test
