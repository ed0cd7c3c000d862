// --status-listen: whether this process leads, or holds the lock, for load balancers and probes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "integration/cli/on_nodes.hpp"
#include "support/eventually.hpp"
#include "support/http.hpp"
#include "support/redis_server.hpp"
#include "support/sockets.hpp"

namespace redlock::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const Words any_port{"--status-listen", "127.0.0.1:0"};
constexpr const char* ok = "HTTP/1.1 200 OK\r\n";
constexpr const char* unavailable = "HTTP/1.1 503 Service Unavailable\r\n";

/// Of "status: http://127.0.0.1:PORT/" on standard error; 0: it is not there.
std::uint16_t status_port(const ChildProcess& tool) {
  const std::string before = "status: http://127.0.0.1:";
  if (!tool.wait_for_errors(before) || !tool.wait_for_errors("/\n")) return 0;
  const std::string errors = tool.errors();
  const char* const digits = errors.data() + errors.find(before) + before.size();
  std::uint16_t port = 0;
  std::from_chars(digits, errors.data() + errors.size(), port);
  return port;
}

Json body_of(const std::string& answer) {
  return Json::parse(answer.substr(answer.find("\r\n\r\n") + 4), nullptr, false);
}

bool is_held(std::uint16_t port) { return http_get(port, "/").starts_with(ok); }

class CliStatus : public CliOnNodes {
 protected:
  /// Starts a verb, the first of `words`, on any port, which it prints on standard error.
  static ChildProcess start_with_status(Words words, const Words& command = {}) {
    words.insert(words.end(), any_port.begin(), any_port.end());
    if (!command.empty()) words.push_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return start(std::move(words));
  }
};

TEST_F(CliStatus, TheLeaderAnswers200AndACandidate503) {
  ChildProcess leader = start_with_status({"elect", "scheduler", "--name", "web-1"});
  ASSERT_TRUE(leader.wait_for_output("elected")) << leader.errors();
  ChildProcess candidate = start_with_status({"elect", "scheduler", "--name", "web-2"});
  const std::uint16_t leads = status_port(leader);
  const std::uint16_t waits = status_port(candidate);

  const std::string answer = http_get(leads, "/");
  EXPECT_THAT(answer, StartsWith(ok));
  const Json body = body_of(answer);
  EXPECT_EQ(body["resource"], "scheduler");
  EXPECT_EQ(body["role"], "leader");
  EXPECT_EQ(body["holder_name"], "web-1");
  EXPECT_GT(body["fencing_token"], 0);
  EXPECT_GT(body["remaining_ms"], 0);
  EXPECT_TRUE(eventually([&] {
    const std::string refused = http_get(waits, "/");
    return refused.starts_with(unavailable) && body_of(refused)["holder_name"] == "web-1";
  })) << http_get(waits, "/");
  EXPECT_EQ(body_of(http_get(waits, "/"))["role"], "candidate");

  leader.signal(SIGTERM);
  EXPECT_EQ(leader.wait(), (ExitStatus{128 + SIGTERM, 0}));
  EXPECT_TRUE(eventually([&] { return is_held(waits); }));
  EXPECT_GT(body_of(http_get(waits, "/"))["fencing_token"], body["fencing_token"]);
}

TEST_F(CliStatus, ACommandIsServedOnlyWhileItHasTheLock) {
  ChildProcess holder = start({"run", "r", "--", "sh", "-c", "echo in; cat"});
  ASSERT_TRUE(holder.wait_for_output("in\n"));
  ChildProcess waiter = start_with_status({"run", "r", "--fencing", "--name", "second"},
                                          {"sh", "-c", "echo in; cat"});
  const std::uint16_t port = status_port(waiter);
  const std::string refused = http_get(port, "/");
  EXPECT_THAT(refused, StartsWith(unavailable));
  EXPECT_EQ(body_of(refused)["role"], "waiter");
  holder.close_input();
  ASSERT_TRUE(waiter.wait_for_output("in\n"));
  const Json body = body_of(http_get(port, "/"));
  EXPECT_EQ(body["role"], "holder");
  EXPECT_EQ(body["holder_name"], "second");
  waiter.close_input();
  EXPECT_EQ(waiter.wait(), (ExitStatus{0, 0}));
}

TEST_F(CliStatus, TheNameOfAProcessThatHasNoneIsTheOneThatNodesKnow) {
  ChildProcess holder = start_with_status({"run", "r"}, {"sh", "-c", "echo in; cat"});
  const std::uint16_t port = status_port(holder);
  EXPECT_TRUE(eventually([port] {
    const Json name = body_of(http_get(port, "/"))["holder_name"];
    return name.is_string() && name.get<std::string>().find("quorum-lock") != std::string::npos;
  })) << http_get(port, "/");
}

TEST_F(CliStatus, EveryPathIsTheStatusButTheOneOfMetrics) {
  ChildProcess holder = start_with_status({"run", "r"}, {"sh", "-c", "echo in; cat"});
  ASSERT_TRUE(holder.wait_for_output("in\n"));
  const std::uint16_t port = status_port(holder);
  const std::string token = nodes()[0].get("r").value_or("");
  ASSERT_EQ(token.size(), 40U);
  for (const char* path : {"/", "/healthz", "/leader?verbose=1"}) {
    const std::string answer = http_get(port, path);
    EXPECT_THAT(answer, StartsWith(ok)) << path;
    EXPECT_THAT(answer, Not(HasSubstr(token)));
    EXPECT_EQ(count_lines(answer.substr(answer.find("\r\n\r\n") + 4)), 1U) << answer;
  }
  EXPECT_THAT(http_get(port, "/metrics"), HasSubstr("\nredlock_leases_held{resource=\"r\"} 1\n"));
  const std::string head = exchange_bytes(port, "HEAD / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(head, StartsWith(ok));
  EXPECT_THAT(head, testing::EndsWith("\r\n\r\n")) << "no body";
  EXPECT_THAT(exchange_bytes(port, "POST / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(exchange_bytes(port, "nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(CliStatus, ClientsThatSayNothingKeepNobodyOut) {
  ChildProcess leader = start_with_status({"elect", "scheduler", "--ttl", "1s"});
  ASSERT_TRUE(leader.wait_for_output("elected"));
  const std::uint16_t port = status_port(leader);
  std::vector<Fd> silent;
  // More clients than are served at once.
  for (int i = 0; i < 200; ++i) {
    silent.push_back(connect_tcp("127.0.0.1", port, std::chrono::seconds(10)));
    if (i % 50 == 0) {
      EXPECT_TRUE(is_held(port)) << i;
    }
  }
  EXPECT_TRUE(is_held(port));
  // The lease was renewed meanwhile, and is still renewed after these clients have been dropped.
  EXPECT_TRUE(eventually([&] { return body_of(http_get(port, "/"))["remaining_ms"] > 900; }));
  EXPECT_TRUE(leader.running());
}

TEST(CliStatusOfOutages, WithAMinorityKilledItIs200WithAMajority503) {
  for (const char* verb : {"run", "elect"}) {
    Nodes nodes(5);
    // The command continues after the signal that the lock is being lost.
    Words words{verb, "r", "--nodes", nodes.joined_urls(), "--ttl", "2s"};
    words.insert(words.end(), any_port.begin(), any_port.end());
    const Words command{"--", "sh", "-c",
                        "trap 'echo told' TERM; echo in; while :; do sleep 0.02; done"};
    words.insert(words.end(), command.begin(), command.end());
    ChildProcess tool = start_tool(words);
    ASSERT_TRUE(tool.wait_for_output("in\n")) << tool.errors();
    const std::uint16_t port = status_port(tool);
    nodes[0].kill();
    nodes[1].kill();
    // The lease is renewed without the killed nodes.
    EXPECT_TRUE(eventually([port] { return body_of(http_get(port, "/"))["remaining_ms"] > 1700; }));
    EXPECT_TRUE(is_held(port));
    nodes[2].kill();
    ASSERT_TRUE(tool.wait_for_output("told"));
    const std::string answer = http_get(port, "/");
    // The program may already have ended the command and itself.
    if (!answer.empty()) {
      EXPECT_THAT(answer, StartsWith(unavailable));
      EXPECT_EQ(body_of(answer)["role"], "ended");
    }
    EXPECT_EQ(tool.wait(), (ExitStatus{74, 0})) << tool.errors();
  }
}

TEST_F(CliStatus, AStoppedLeaderAnswersNothingAndThen503) {
  ChildProcess leader = start_with_status({"elect", "scheduler", "--ttl", "500ms"});
  ASSERT_TRUE(leader.wait_for_output("elected"));
  const std::uint16_t port = status_port(leader);
  leader.signal(SIGSTOP);
  ASSERT_TRUE(eventually([] { return nodes().count_held("scheduler") == 0; }));
  const Fd waiting = connect_tcp("127.0.0.1", port, std::chrono::seconds(10));
  leader.signal(SIGCONT);
  EXPECT_THAT(http_get(port, "/"), Not(StartsWith(ok)));
  EXPECT_EQ(leader.wait(), (ExitStatus{74, 0})) << leader.errors();
}

TEST_F(CliStatus, WhereItCannotListenNothingIsRunAndOneLineSaysWhy) {
  const PortReservation taken = reserve_port();
  const Fd listener = listen_on("127.0.0.1", taken.port());
  for (const std::string& address :
       {"127.0.0.1:" + std::to_string(taken.port()), std::string("no.such.host.invalid:9464"),
        std::string("9464"), std::string("127.0.0.1:99999")}) {
    for (const Words& words : {Words{"run", "r", "--status-listen", address, "--", "echo", "ran"},
                               Words{"elect", "r", "--status-listen", address}}) {
      const ProcessResult result = tool(words);
      EXPECT_TRUE(refused_in_one_line(result, "--status-listen: "));
      EXPECT_THAT(result.errors, HasSubstr("'" + address + "'"));
    }
  }
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

TEST_F(CliStatus, AnObserverHasNone) {
  const ProcessResult result =
      tool({"elect", "r", "--observe", "--status-listen", "127.0.0.1:0", "--wait", "1s"});
  EXPECT_EQ(result.exit_code, 64);
  EXPECT_THAT(result.errors, HasSubstr("--status-listen: not together with --observe"));
}

}  // namespace
}  // namespace redlock::test
