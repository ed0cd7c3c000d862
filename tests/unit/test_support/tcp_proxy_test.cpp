#include "support/tcp_proxy.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include "support/eventually.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {
namespace {

class TcpProxyTest : public testing::Test {
 protected:
  RedisServer server_;
  TcpProxy proxy_{server_.port()};
  RespClient client_ = RespClient::tcp(proxy_.port());

  bool executed(const std::string& key) {
    return eventually([&] { return server_.get(key).has_value(); });
  }
};

TEST_F(TcpProxyTest, ForwardsBothWays) {
  EXPECT_TRUE(client_.call({"SET", "k", std::string(300000, 'x')}).is_ok());
  EXPECT_EQ(client_.call({"GET", "k"}).string.size(), 300000U);
  EXPECT_EQ(proxy_.connections_accepted(), 1U);
  EXPECT_TRUE(eventually([&] { return proxy_.connections_open() == 1; }));
  EXPECT_TRUE(eventually([&] { return proxy_.request_bytes() > 300000; }));
  EXPECT_TRUE(eventually([&] { return proxy_.reply_bytes() == proxy_.reply_bytes_received(); }));
}

TEST_F(TcpProxyTest, HoldsRequestsAndDeliversThemLater) {
  proxy_.set(Direction::requests, Flow::hold);
  client_.set_limit(std::chrono::milliseconds(50));
  EXPECT_THROW(client_.call({"SET", "k", "v"}), std::runtime_error);
  EXPECT_EQ(server_.get("k"), std::nullopt);
  proxy_.pass();
  client_.set_limit(RespClient::default_limit);
  EXPECT_TRUE(client_.read().is_ok());
}

TEST_F(TcpProxyTest, DeliversAHeldRequestEvenAfterItsClientHasGone) {
  proxy_.hold();
  {
    auto leaving = RespClient::tcp(proxy_.port());
    leaving.send_raw(resp::command({"SET", "k", "v"}));
  }
  EXPECT_EQ(server_.get("k"), std::nullopt);
  proxy_.pass();
  EXPECT_TRUE(executed("k"));
}

TEST_F(TcpProxyTest, DeliversAHeldRequestEvenAfterItsClientHasResetTheConnection) {
  proxy_.hold();
  client_.send_raw(resp::command({"SET", "k", "v"}));
  ASSERT_TRUE(eventually([&] { return proxy_.request_bytes_received() > 0; }));
  client_.reset();
  EXPECT_EQ(server_.get("k"), std::nullopt);
  proxy_.pass();
  EXPECT_TRUE(executed("k"));
  EXPECT_TRUE(eventually([&] { return proxy_.connections_open() == 0; }));
}

TEST_F(TcpProxyTest, DropsTheRepliesOfExecutedCommands) {
  proxy_.drop_replies();
  client_.send_raw(resp::command({"SET", "k", "v"}));
  EXPECT_TRUE(executed("k"));
  EXPECT_TRUE(eventually([&] { return proxy_.reply_bytes_received() == 5; }));
  EXPECT_EQ(proxy_.reply_bytes(), 0U);
  proxy_.cut();
  proxy_.pass();
  EXPECT_THROW(static_cast<void>(client_.read()), std::runtime_error);
  EXPECT_EQ(RespClient::tcp(proxy_.port()).call({"GET", "k"}).string, "v");
}

TEST_F(TcpProxyTest, HoldsRepliesWhileTheServerExecutes) {
  proxy_.set(Direction::replies, Flow::hold);
  client_.send_raw(resp::command({"SET", "k", "v"}));
  EXPECT_TRUE(executed("k"));
  client_.set_limit(std::chrono::milliseconds(30));
  EXPECT_THROW(static_cast<void>(client_.read()), std::runtime_error);
  proxy_.pass();
  client_.set_limit(RespClient::default_limit);
  EXPECT_TRUE(client_.read().is_ok());
}

TEST_F(TcpProxyTest, CutsRefusesAndAcceptsAgain) {
  EXPECT_EQ(client_.call({"PING"}).string, "PONG");
  proxy_.refuse();
  proxy_.cut();
  EXPECT_THROW(client_.call({"PING"}), std::runtime_error);
  EXPECT_THROW(static_cast<void>(RespClient::tcp(proxy_.port())), std::runtime_error);
  EXPECT_EQ(proxy_.connections_open(), 0U);
  proxy_.accept();
  EXPECT_EQ(RespClient::tcp(proxy_.port()).call({"PING"}).string, "PONG");
}

TEST_F(TcpProxyTest, DelaysWithoutReordering) {
  proxy_.set_delay(Direction::both, std::chrono::milliseconds(20));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(client_.call({"ECHO", "1"}).string, "1");
  // A lower bound holds on any machine, however slow.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(40));
  client_.send_raw(resp::command({"ECHO", "2"}));
  client_.send_raw(resp::command({"ECHO", "3"}));
  EXPECT_EQ(client_.read().string, "2");
  EXPECT_EQ(client_.read().string, "3");
}

TEST_F(TcpProxyTest, PassesTheEndOfAConnectionOn) {
  EXPECT_EQ(client_.call({"PING"}).string, "PONG");
  server_.kill();
  EXPECT_THROW(static_cast<void>(client_.read()), std::runtime_error);
  // The reset may arrive while the client still connects.
  EXPECT_THROW(RespClient::tcp(proxy_.port()).call({"PING"}), std::runtime_error);
  client_.reset();
  EXPECT_TRUE(eventually([&] { return proxy_.connections_open() == 0; }));
}

}  // namespace
}  // namespace redlock::test
