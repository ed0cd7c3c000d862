#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "chaos/fault_proxy.hpp"
#include "support/eventually.hpp"
#include "support/fake_server.hpp"
#include "support/resp_client.hpp"

namespace redlock::chaos {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::RespClient;

/// A server that counts the commands it executes, reached through a link.
class ChaosProxy : public ::testing::Test {
 protected:
  [[nodiscard]] RespClient connect() const { return RespClient::tcp(port_); }

  std::atomic<int> executed_{0};
  test::FakeServer server_{[this](const test::Command&) {
    ++executed_;
    return test::FakeAnswer("$26\r\nabcdefghijklmnopqrstuvwxyz\r\n");
  }};
  FaultProxy proxy_;
  std::uint16_t port_ = proxy_.add(server_.port());
};

constexpr const char* command = "*1\r\n$4\r\nECHO\r\n";
constexpr const char* answer = "abcdefghijklmnopqrstuvwxyz";

TEST_F(ChaosProxy, ForwardsBothWays) {
  RespClient client = connect();
  for (int i = 1; i <= 100; ++i) {
    EXPECT_EQ(client.call({"ECHO"}).string, answer);
    EXPECT_EQ(executed_, i);
  }
}

TEST_F(ChaosProxy, ReplacesThePortsThatASentinelNames) {
  const test::FakeServer sentinel([](const test::Command& words) {
    return test::FakeAnswer("*2\r\n$9\r\n127.0.0.1\r\n$4\r\n" + words.at(0) + "\r\n");
  });
  RespClient client = RespClient::tcp(proxy_.add(sentinel.port(), 0, {{7001, 17001}}));
  EXPECT_EQ(client.call({"7001"}).elements.at(1).string, "17001");
  EXPECT_EQ(client.call({"7002"}).elements.at(1).string, "7002");
}

TEST_F(ChaosProxy, ReplacesThePortsThatAServerOfAClusterNamesAndNoSlots) {
  const test::FakeServer server([](const test::Command&) {
    const std::string named = "*2\r\n$9\r\n127.0.0.1\r\n:7001\r\n";
    return test::FakeAnswer("*4\r\n:0\r\n:7001\r\n" + named + named);
  });
  RespClient client = RespClient::tcp(proxy_.add(server.port(), 0, {{7001, 17001}}));
  const auto slots = client.call({"CLUSTER", "SLOTS"});
  EXPECT_EQ(slots.elements.at(1).integer, 7001);
  for (const std::size_t server_of_range : {2U, 3U}) {
    EXPECT_EQ(slots.elements.at(server_of_range).elements.at(1).integer, 17001);
  }
}

TEST_F(ChaosProxy, DeliversLateWhatItHeldBack) {
  RespClient client = connect();
  static_cast<void>(client.call({"ECHO"}));
  proxy_.set(0, {LinkMode::hold});
  client.send_raw(command);
  client.set_limit(100ms);
  EXPECT_THROW(static_cast<void>(client.read()), std::runtime_error);
  EXPECT_EQ(executed_, 1);
  // The held command of a client that has given up is delivered too.
  client.reset();
  proxy_.set(0, {});
  EXPECT_TRUE(eventually([this] { return executed_ == 2; }));
}

TEST_F(ChaosProxy, HoldsBackRepliesOnly) {
  RespClient client = connect();
  proxy_.set(0, {LinkMode::hold_replies});
  client.send_raw(command);
  EXPECT_TRUE(eventually([this] { return executed_ == 1; }));
  proxy_.set(0, {});
  EXPECT_EQ(client.read().string, answer);
}

TEST_F(ChaosProxy, ResetsAConnectionWhoseRepliesItLost) {
  RespClient client = connect();
  proxy_.set(0, {LinkMode::lose_replies});
  client.send_raw(command);
  EXPECT_TRUE(eventually([this] { return executed_ == 1; }));
  // When the server executes the next command, its first reply has left it.
  RespClient other = connect();
  other.send_raw(command);
  EXPECT_TRUE(eventually([this] { return executed_ == 2; }));
  EXPECT_FALSE(client.stale());
  EXPECT_TRUE(eventually([&] {
    proxy_.set(0, {LinkMode::lose_replies});
    proxy_.set(0, {});
    return client.stale();
  }));
  EXPECT_EQ(connect().call({"ECHO"}).string, answer);
}

TEST_F(ChaosProxy, RefusesOldAndNewConnections) {
  RespClient client = connect();
  static_cast<void>(client.call({"ECHO"}));
  proxy_.set(0, {LinkMode::refuse});
  EXPECT_TRUE(eventually([&] { return client.stale(); }));
  EXPECT_THROW(static_cast<void>(connect().call({"ECHO"})), std::runtime_error);
  EXPECT_EQ(executed_, 1);
  proxy_.set(0, {});
  EXPECT_EQ(connect().call({"ECHO"}).string, answer);
}

TEST_F(ChaosProxy, DeliversAllOfWhatItSlowsDown) {
  for (const LinkRule rule : {LinkRule{LinkMode::delay, 20ms}, LinkRule{LinkMode::trickle_replies},
                              LinkRule{LinkMode::split_replies}}) {
    proxy_.set(0, rule);
    RespClient client = connect();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client.call({"ECHO"}).string, answer);
  }
}

TEST_F(ChaosProxy, CutsAReplyInTheMiddle) {
  RespClient client = connect();
  proxy_.set(0, {LinkMode::cut_replies});
  client.send_raw(command);
  EXPECT_THROW(static_cast<void>(client.read()), std::runtime_error);
  EXPECT_EQ(executed_, 1);
}

TEST_F(ChaosProxy, TearsRepliesSoonerOrLater) {
  proxy_.set(0, {LinkMode::tear_replies});
  EXPECT_TRUE(eventually([this] {
    RespClient client = connect();
    try {
      EXPECT_EQ(client.call({"ECHO"}).string, answer);
    } catch (const std::runtime_error&) {
      return true;
    }
    return false;
  }));
}

TEST_F(ChaosProxy, LeadsToAnotherServerAndBack) {
  test::FakeServer other([](const test::Command&) { return test::FakeAnswer("+other\r\n"); });
  RespClient before = connect();
  EXPECT_EQ(before.call({"ECHO"}).string, answer);
  proxy_.set(0, {LinkMode::pass, 0ms, other.port()});
  EXPECT_TRUE(eventually([&] { return before.stale(); }));
  RespClient meanwhile = connect();
  EXPECT_EQ(meanwhile.call({"ECHO"}).string, "other");
  proxy_.set(0, {});
  EXPECT_TRUE(eventually([&] { return meanwhile.stale(); }));
  EXPECT_EQ(connect().call({"ECHO"}).string, answer);
}

TEST_F(ChaosProxy, TellsOneLinkFromAnother) {
  const std::uint16_t second = proxy_.add(server_.port());
  proxy_.set(0, {LinkMode::refuse});
  EXPECT_EQ(RespClient::tcp(second).call({"ECHO"}).string, answer);
}

TEST_F(ChaosProxy, EndsAClientsConnectionWithItsServer) {
  server_.on("QUIT", [](const test::Command&) { return test::FakeAnswer::close(); });
  RespClient client = connect();
  client.send_raw("*1\r\n$4\r\nQUIT\r\n");
  EXPECT_TRUE(eventually([&] { return client.stale(); }));
}

}  // namespace
}  // namespace redlock::chaos
