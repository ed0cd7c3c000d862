// --local: private nodes for a command.

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "integration/cli/tool.hpp"
#include "support/eventually.hpp"
#include "support/programs.hpp"
#include "support/resp_client.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

bool nobody_listens(const std::string& path) {
  try {
    static_cast<void>(RespClient::unix_socket(path));
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
  const std::vector<std::string> paths = paths_of(child.output());
  ASSERT_EQ(paths.size(), 3U);
  for (const std::string& path : paths) {
    RespClient client = RespClient::unix_socket(path);
    EXPECT_EQ(client.call({"EXISTS", "r"}).integer, 1);
    EXPECT_EQ(client.call({"CONFIG", "GET", "appendonly"}).elements.at(1).string, "no");
  }
  child.write_input("\n");
  EXPECT_EQ(child.wait(), (ExitStatus{0, 0}));
  for (const std::string& path : paths) EXPECT_TRUE(nobody_listens(path));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(CliLocal, NoOtherUserReachesTheNodes) {
  const TempDir directory;
  ChildProcess child = start_tool(
      {"run", "r", "--local", "1", "--", "sh", "-c", "echo $QUORUM_LOCK_NODES; read line"},
      {.environment = {"TMPDIR=" + directory.path().string()}});
  ASSERT_TRUE(child.wait_for_output("\n")) << child.errors();
  const std::filesystem::path socket = paths_of(child.output()).at(0);
  EXPECT_EQ(std::filesystem::status(socket.parent_path()).permissions(),
            std::filesystem::perms::owner_all);
  RespClient client = RespClient::unix_socket(socket.string());
  EXPECT_EQ(client.call({"CONFIG", "GET", "port"}).elements.at(1).string, "0");
}

TEST(CliLocal, AnUnusualDirectoryForTemporaryFilesIsNoMatter) {
  const TempDir directory;
  const auto unusual = directory.path() / "with space,comma and %";
  std::filesystem::create_directory(unusual);
  const ProcessResult result = run_tool({"acquire", "r", "--local", "1", "--json"},
                                        {.environment = {"TMPDIR=" + unusual.string()}});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(CliLocal, ASecondQuorumLockInsideSeesTheLock) {
  const ProcessResult result =
      run_tool({"run", "r", "--local", "5", "--", quorum_lock_program(), "inspect", "r", "--json"});
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
  // After SIGKILL the servers' directory stays; the owner of this directory removes it.
  const TempDir directory;
  for (const int signal : {SIGTERM, SIGKILL}) {
    ChildProcess child = start_tool(
        {"run", "r", "--local", "2", "--", "sh", "-c", "echo $QUORUM_LOCK_NODES; exec sleep 1000"},
        {.environment = {"TMPDIR=" + directory.path().string()}});
    ASSERT_TRUE(child.wait_for_output("\n")) << child.errors();
    const std::vector<std::string> paths = paths_of(child.output());
    child.signal(signal);
    ASSERT_TRUE(child.wait().has_value());
    for (const std::string& path : paths) {
      EXPECT_TRUE(eventually([&path] { return nobody_listens(path); }));
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

TEST(CliLocal, AMissingServerProgramIsReportedClearly) {
  const ProcessResult result =
      run_tool({"acquire", "r", "--local", "1"}, {.environment = {"PATH=/nowhere"}});
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  EXPECT_NE(result.errors.find("redis-server is not installed"), std::string::npos)
      << result.errors;
}

}  // namespace
}  // namespace redlock::test
