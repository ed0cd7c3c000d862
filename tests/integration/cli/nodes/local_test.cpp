// --local: private nodes for a command.

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
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

TEST(CliLocal, AServerThatTakesItsTimeAfterTheStartIsWaitedFor) {
  const TempDir directory;
  // It is found when it takes no writes for two seconds: longer than an attempt waits.
  const auto program = directory.write("redis-server", R"sh(#!/bin/sh
PATH=${PATH#*:}
socket=$(sed -n 's/^unixsocket "\(.*\)"/\1/p' "$1")
sed -i "s|^unixsocket .*|unixsocket $socket.new|" "$1"
(
  until redis-cli -s $socket.new client pause 2000 write; do kill -0 $$ || exit; done
  mv $socket.new $socket
) >/dev/null 2>&1 &
exec redis-server "$@"
)sh");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::string path = "PATH=" + directory.path().string() + ":" + std::getenv("PATH");
  const ProcessResult result = run_tool({"acquire", "r", "--local", "1"}, {.environment = {path}});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
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

bool nobody_listens(std::uint16_t port) {
  try {
    static_cast<void>(RespClient::tcp(port));
    return false;
  } catch (const std::runtime_error&) {
    return true;
  }
}

/// The ports of an address that names sentinels.
std::vector<std::uint16_t> ports_of(const std::string& url) {
  std::vector<std::uint16_t> ports;
  const std::string hosts = url.substr(url.find('@') + 1);
  for (std::size_t at = 0; (at = hosts.find("127.0.0.1:", at)) != std::string::npos;) {
    at += 10;
    ports.push_back(static_cast<std::uint16_t>(std::stoi(hosts.substr(at))));
  }
  return ports;
}

/// The text between `before` and the next comma.
std::string word_after(const std::string& before, const std::string& text) {
  const std::size_t begin = text.find(before) + before.size();
  return text.substr(begin, text.find(',', begin) - begin);
}

TEST(CliLocalSentinel, IsOneNodeThatLivesAsLongAsTheCommandAndNoLonger) {
  for (const int signal : {0, SIGTERM, SIGKILL}) {
    const TempDir directory;
    ChildProcess child = start_tool({"run", "--local-sentinel", "--max-ttl", "1s", "r", "--", "sh",
                                     "-c", "echo $QUORUM_LOCK_NODES; read line"},
                                    {.environment = {"TMPDIR=" + directory.path().string()}});
    ASSERT_TRUE(child.wait_for_output("\n")) << child.errors();
    EXPECT_TRUE(child.output().starts_with("redis+sentinel://:")) << child.output();
    // The title of a server's process has its address.
    const std::string title =
        read_file("/proc/" + word_after("kill -9 ", child.errors()) + "/cmdline");
    const std::string primary = word_after("started one node: primary ", child.errors());
    EXPECT_NE(title.find(primary), std::string::npos) << child.errors();
    const std::vector<std::uint16_t> ports = ports_of(child.output());
    ASSERT_EQ(ports.size(), 3U);
    EXPECT_EQ(child.errors().find(child.output().substr(18, 32)), std::string::npos)
        << "no password is shown";
    if (signal == 0) {
      child.write_input("\n");
      EXPECT_EQ(child.wait(), (ExitStatus{0, 0})) << child.errors();
    } else {
      child.signal(signal);
      ASSERT_TRUE(child.wait().has_value());
    }
    for (const std::uint16_t port : ports) {
      EXPECT_TRUE(eventually([port] { return nobody_listens(port); }));
    }
    if (signal != SIGKILL) {
      EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
    }
  }
}

TEST(CliLocalSentinel, ASignalDuringTheStartRemovesTheDirectory) {
  const TempDir directory;
  ChildProcess child = start_tool({"run", "--local-sentinel", "r", "sleep", "1000"},
                                  {.environment = {"TMPDIR=" + directory.path().string()}});
  ASSERT_TRUE(eventually([&] { return !std::filesystem::is_empty(directory.path()); }));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), (ExitStatus{128 + SIGINT, 0})) << child.errors();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(CliLocalSentinel, ASecondQuorumLockInsideSeesTheLock) {
  const ProcessResult result = run_tool({"run", "--local-sentinel", "--max-ttl", "2s", "r", "--",
                                         quorum_lock_program(), "inspect", "r", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(json_of(result).value("state", ""), "held");
}

TEST(CliLocalSentinel, AFailoverEndsTheCommandBeforeAnotherClientCanHoldTheLock) {
  const ProcessResult result =
      run_tool({"run", "--local-sentinel", "--max-ttl", "2s", "r", "--", "sh", "-c",
                "port=${QUORUM_LOCK_NODES##*@}; port=${port#*:}; "
                "redis-cli -p ${port%%;*} sentinel failover mymaster && exec sleep 1000"});
  EXPECT_EQ(result.output, "OK\n");
  EXPECT_EQ(result.exit_code, 74) << result.errors;
  EXPECT_NE(result.errors.find("lost 'r'"), std::string::npos) << result.errors;
}

TEST(CliLocalSentinel, IsRefusedTogetherWithOtherNodes) {
  const std::vector<Words> refused = {{"acquire", "r", "--local-sentinel", "--local", "3"},
                                      {"acquire", "r", "--local-sentinel", "--nodes", "h"},
                                      {"bench", "--local-sentinel"}};
  for (const Words& words : refused) {
    EXPECT_TRUE(refused_in_one_line(run_tool(words), "--local-sentinel"));
  }
  const ProcessResult missing =
      run_tool({"acquire", "r", "--local-sentinel"}, {.environment = {"PATH=/nowhere"}});
  EXPECT_EQ(missing.exit_code, 69);
  EXPECT_EQ(count_lines(missing.errors), 1U) << missing.errors;
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
