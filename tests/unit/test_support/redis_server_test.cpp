#include "support/redis_server.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <stdexcept>
#include <thread>

#include "support/certificates.hpp"
#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/resp_client.hpp"
#include "support/spawn.hpp"

namespace redlock::test {
namespace {

TEST(RedisServerTest, AnswersOnItsPortAndOnItsUnixSocket) {
  RedisServer server;
  EXPECT_EQ(server.url(), "redis://127.0.0.1:" + std::to_string(server.port()));
  EXPECT_TRUE(server.command({"SET", "k", "v", "PX", "100000"}).is_ok());
  EXPECT_EQ(RespClient::tcp(server.port()).call({"GET", "k"}).string, "v");
  EXPECT_EQ(RespClient::unix_socket(server.unix_path()).call({"GET", "k"}).string, "v");
  EXPECT_EQ(server.get("k"), "v");
  EXPECT_EQ(server.get("absent"), std::nullopt);
  EXPECT_GT(server.pttl("k"), 0);
  EXPECT_EQ(server.pttl("absent"), -2);
}

TEST(RedisServerTest, IsGoneWithItsDirectoryWhenTheObjectIs) {
  pid_t pid = -1;
  std::filesystem::path directory;
  {
    RedisServer server;
    pid = server.pid();
    directory = server.data_directory().parent_path();
    server.stop();
    EXPECT_TRUE(std::filesystem::exists(directory));
  }
  EXPECT_EQ(process_state(pid), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(RedisServerTest, AStoppedServerStandsStillUntilItIsResumed) {
  RedisServer server;
  server.stop();
  EXPECT_TRUE(server.stopped());
  EXPECT_EQ(process_state(server.pid()), 'T');
  EXPECT_THROW(server.command({"PING"}, std::chrono::milliseconds(50)), std::runtime_error);
  server.resume();
  EXPECT_FALSE(server.stopped());
  EXPECT_EQ(server.command({"PING"}).string, "PONG");
}

TEST(RedisServerTest, AKilledServerRefusesAndComesBackEmptyOnTheSamePort) {
  RedisServer server;
  const auto port = server.port();
  const auto pid = server.pid();
  server.command({"SET", "k", "v"});
  server.kill();
  EXPECT_FALSE(server.running());
  EXPECT_EQ(server.pid(), -1);
  EXPECT_THROW(static_cast<void>(RespClient::tcp(port)), std::runtime_error);
  EXPECT_THROW(server.command({"PING"}), std::runtime_error);
  server.start();
  EXPECT_EQ(server.port(), port);
  EXPECT_NE(server.pid(), pid);
  EXPECT_EQ(server.get("k"), std::nullopt);
}

TEST(RedisServerTest, ARestartKeepsOrWipesTheDataDirectory) {
  RedisServer server({.arguments = {"--appendonly", "yes", "--appendfsync", "always"}});
  server.command({"SET", "k", "v"});
  server.restart(Data::keep);
  EXPECT_EQ(server.get("k"), "v");
  server.restart(Data::wipe);
  EXPECT_EQ(server.get("k"), std::nullopt);
}

TEST(RedisServerTest, CountsAsStartedWhileItStillLoads) {
  RedisServer server({.arguments = {"--appendonly", "yes", "--appendfsync", "always",
                                    "--aof-use-rdb-preamble", "no"},
                      .loading_grace = std::chrono::milliseconds(0)});
  server.command({"EVAL", "for i = 1, 50000 do redis.call('SET', i, i) end", "0"});
  // Half a millisecond per key, and a check of the connections every 1024 keys: 25 s of loading.
  auto& arguments = server.options().arguments;
  arguments.insert(arguments.end(), {"--key-load-delay", "500"});
  server.restart();
  EXPECT_TRUE(server.command({"GET", "1"}).string.starts_with("LOADING"));
}

TEST(RedisServerTest, TerminationEndsAStoppedServerToo) {
  RedisServer server;
  server.stop();
  server.terminate();
  EXPECT_FALSE(server.running());
  EXPECT_NE(server.log().find("Received SIGTERM"), std::string::npos);
}

TEST(RedisServerTest, NoticesThatTheServerEndedByItself) {
  RedisServer server;
  EXPECT_THROW(server.command({"SHUTDOWN", "NOSAVE"}), std::runtime_error);
  EXPECT_TRUE(eventually([&] { return !server.running(); }));
}

TEST(RedisServerTest, PassesPasswordAndFurtherArgumentsAndEnvironmentOn) {
  RedisServer server({.arguments = {"--maxmemory", "3mb", "--enable-debug-command", "yes"},
                      .environment = {"LD_PRELOAD=/redlock-absent.so"},
                      .bind = "127.0.0.3",
                      .password = "secret"});
  EXPECT_EQ(server.url(), "redis://:secret@127.0.0.3:" + std::to_string(server.port()));
  auto stranger = RespClient::tcp(server.port(), "127.0.0.3");
  EXPECT_EQ(stranger.call({"PING"}).string.substr(0, 6), "NOAUTH");
  EXPECT_EQ(server.command({"CONFIG", "GET", "maxmemory"}).elements.at(1).string, "3145728");
  EXPECT_TRUE(server.command({"DEBUG", "SLEEP", "0"}).is_ok());
  // The server overwrites its environment in /proc; the loader's error message remains.
  EXPECT_NE(server.log().find("redlock-absent.so"), std::string::npos) << server.log();
}

TEST(RedisServerTest, ReportsTheLogOfAServerThatCannotStart) {
  try {
    const RedisServer server({.arguments = {"--no-such-option", "1"}});
    FAIL() << "started";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-option"), std::string::npos) << error.what();
  }
}

TEST(RedisServerTest, MovesIntoAnotherObject) {
  RedisServer first;
  const auto pid = first.pid();
  RedisServer second = std::move(first);
  EXPECT_EQ(second.pid(), pid);
  RedisServer third;
  const auto replaced = third.pid();
  third = std::move(second);
  EXPECT_EQ(third.pid(), pid);
  EXPECT_EQ(process_state(replaced), std::nullopt);
  EXPECT_EQ(third.command({"PING"}).string, "PONG");
}

TEST(RedisServerTest, UnderAMovableClockLeapsAndKeepsItsClockOverARestart) {
  using std::chrono::hours;
  RedisServer server({.clock = ServerClock::movable});
  const auto seconds_ahead = [&] {
    return std::stoll(server.command({"TIME"}).elements.at(0).string) - ::time(nullptr);
  };
  EXPECT_NEAR(static_cast<double>(seconds_ahead()), 0, 30);
  server.command({"SET", "k", "v", "PX", "600000"});
  server.command({"SET", "long", "v", "PX", "36000000"});
  server.move_clock(hours(1));
  EXPECT_NEAR(static_cast<double>(seconds_ahead()), 3600, 30);
  EXPECT_EQ(server.get("k"), std::nullopt);
  EXPECT_EQ(server.get("long"), "v");
  server.restart();
  EXPECT_NEAR(static_cast<double>(seconds_ahead()), 3600, 30);
  server.move_clock(-hours(1));
  EXPECT_NEAR(static_cast<double>(seconds_ahead()), -3600, 30);
  EXPECT_THROW(RedisServer().move_clock(hours(1)), std::runtime_error);
}

TEST(RedisServerTest, OutlivesTheThreadThatStartedIt) {
  std::optional<RedisServer> server;
  std::thread([&] { server.emplace(); }).join();
  EXPECT_EQ(server->command({"PING"}).string, "PONG");
  EXPECT_TRUE(server->running());
}

TEST(RedisServerTest, DiesWithATestProcessThatIsKilled) {
  // The child is a copy of this process that starts a program and is then killed outright.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const pid_t grandchild = spawn({.arguments = {"sleep", "600"}});
    static_cast<void>(!::write(ends[1], &grandchild, sizeof grandchild));
    ::pause();
    ::_exit(0);
  }
  pid_t grandchild = -1;
  ASSERT_EQ(::read(ends[0], &grandchild, sizeof grandchild),
            static_cast<ssize_t>(sizeof grandchild));
  EXPECT_TRUE(process_state(grandchild).has_value());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  // Possibly nobody reaps it, so a zombie counts as dead.
  EXPECT_TRUE(eventually([&] { return process_state(grandchild).value_or('Z') == 'Z'; }));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(RedisServerTest, SpeaksTlsAndChecksClientCertificates) {
  const auto& files = certificates();
  const RedisServer server({.tls = TlsOptions{.certificate = files.server.certificate,
                                              .key = files.server.key,
                                              .ca = files.ca,
                                              .clients = ClientCertificates::required}});
  ASSERT_NE(server.tls_port(), 0);
  const auto ping = [&](const std::filesystem::path& ca, const KeyPair& client) {
    return run_process({"redis-cli", "-h", "127.0.0.1", "-p", std::to_string(server.tls_port()),
                        "--tls", "--cacert", ca, "--cert", client.certificate, "--key", client.key,
                        "PING"})
        .output;
  };
  EXPECT_EQ(ping(files.ca, files.client), "PONG\n");
  EXPECT_NE(ping(files.ca, files.other_ca_client), "PONG\n");
  EXPECT_NE(ping(files.other_ca, files.client), "PONG\n");
}

TEST(NodesTest, AreSeveralServersWithTheirOwnKeys) {
  NewNodes nodes(3);
  const auto urls = nodes.urls();
  EXPECT_EQ(std::set<std::string>(urls.begin(), urls.end()).size(), 3U);
  EXPECT_EQ(nodes.joined_urls(), urls[0] + "," + urls[1] + "," + urls[2]);
  nodes[0].command({"SET", "r", "a"});
  nodes[1].command({"SET", "r", "b"});
  nodes[2].command({"SET", "r", "a"});
  EXPECT_EQ(nodes.holders("r"), (std::vector<std::optional<std::string>>{"a", "b", "a"}));
  EXPECT_EQ(nodes.count_held("r"), 3U);
  EXPECT_EQ(nodes.count_held_by("r", "a"), 2U);
  nodes[0].kill();
  nodes[2].stop();
  EXPECT_EQ(nodes.holders("r"),
            (std::vector<std::optional<std::string>>{std::nullopt, "b", std::nullopt}));
  nodes.flush();
  EXPECT_EQ(nodes.count_held("r"), 0U);
}

TEST(NodesTest, AreOpenedAndClearedOfAllButTheirDeployment) {
  Nodes nodes(3);
  const auto markers = nodes.holders("redlock:node:marker");
  EXPECT_EQ(nodes.count_held("redlock:node:marker"), 3U);
  for (RedisServer& node : nodes) {
    node.command({"SET", "r", "token"});
    node.command({"SET", "redlock:node:quarantine", "why", "PX", "60000"});
    node.command({"ZADD", "redlock:node:numbers", "7", "r"});
  }
  nodes.clear();
  EXPECT_EQ(nodes.holders("redlock:node:marker"), markers);
  for (RedisServer& node : nodes) {
    EXPECT_EQ(node.command({"DBSIZE"}).integer, 2);
    EXPECT_EQ(node.command({"ZCARD", "redlock:node:numbers"}).integer, 2) << "the floor";
  }
  nodes[1].restart(Data::wipe);
  nodes.clear();
  EXPECT_EQ(nodes.count_held("redlock:node:marker"), 3U);
  EXPECT_NE(nodes.holders("redlock:node:marker"), markers) << "opened anew";
}

}  // namespace
}  // namespace redlock::test
