// Connections that break at the worst moment: a command executed without an answer is undone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <future>
#include <sstream>
#include <string>

#include "integration/library.hpp"
#include "support/tcp_proxy.hpp"

namespace redlock::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class NodeConnections : public testing::Test {
 protected:
  static constexpr auto ages = minutes(10);

  /// Opens a deployment of `count` nodes, which clients reach through proxies.
  Client client(std::size_t count = 3) {
    nodes_.emplace(count);
    for (const RedisServer& node : *nodes_) {
      proxies_.push_back(std::make_unique<TcpProxy>(node.port()));
      urls_.push_back(proxies_.back()->url());
    }
    auto options = patient(urls_);
    options.max_ttl = ages;
    open_deployment(options);
    options.on_node_event = log_.listener();
    return make_client(options);
  }
  [[nodiscard]] std::size_t held(const std::string& resource) const {
    return nodes_->count_held(resource);
  }
  [[nodiscard]] bool soon_held(const std::string& resource, std::size_t count) const {
    return eventually([&] { return held(resource) == count; }, seconds(30));
  }

  std::optional<NewNodes> nodes_;
  std::vector<std::unique_ptr<TcpProxy>> proxies_;
  std::vector<std::string> urls_;
  EventLog log_;
  std::string resource_ = fresh_resource();
};

TEST_F(NodeConnections, AReleaseThatCouldNotBeDeliveredIsDeliveredWhenTheNodeIsBack) {
  Client client = NodeConnections::client();
  auto lease = client.try_acquire(resource_, {.ttl = ages});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(soon_held(resource_, 3));
  proxies_[0]->refuse();
  proxies_[0]->cut();
  ASSERT_TRUE(log_.wait_for(NodeEvent::Kind::down, 0));
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(soon_held(resource_, 1));
  proxies_[0]->accept();
  EXPECT_TRUE(soon_held(resource_, 0));
}

TEST_F(NodeConnections, AReleaseThatNoMajorityGotIsReportedAndDeliveredLater) {
  Client client = NodeConnections::client();
  auto lease = client.try_acquire(resource_, {.ttl = ages});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(soon_held(resource_, 3));
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    proxies_[i]->refuse();
    proxies_[i]->cut();
    ASSERT_TRUE(log_.wait_for(NodeEvent::Kind::down, i));
  }
  EXPECT_TRUE(failed_with(lease->release(), Errc::unavailable));
  EXPECT_FALSE(lease->valid()) << "the lease is over whatever the answer";
  EXPECT_EQ(held(resource_), 2U);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) proxies_[i]->accept();
  EXPECT_TRUE(soon_held(resource_, 0));
}

TEST_F(NodeConnections, ASetThatWasExecutedWithoutAnAnswerIsTakenBack) {
  Client client = NodeConnections::client(1);
  ASSERT_TRUE(succeeded(client.try_acquire(fresh_resource())));
  proxies_[0]->drop_replies();
  auto acquiring =
      std::async(std::launch::async, [&] { return client.try_acquire(resource_, {.ttl = ages}); });
  ASSERT_TRUE(soon_held(resource_, 1));
  proxies_[0]->refuse();
  proxies_[0]->cut();
  auto refused = acquiring.get();
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_EQ(refused.error().round.nodes.at(0).vote, Vote::unreachable);
  EXPECT_EQ(held(resource_), 1U);
  proxies_[0]->pass();
  proxies_[0]->accept();
  EXPECT_TRUE(soon_held(resource_, 0));
}

TEST_F(NodeConnections, AGrantedLeaseTakesBackWhatItDoesNotKnowOf) {
  Client client = NodeConnections::client();
  ASSERT_TRUE(all_nodes_vote(client, *nodes_, 3));
  proxies_[2]->drop_replies();
  auto lease = client.try_acquire(resource_, {.ttl = ages});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(soon_held(resource_, 3));
  proxies_[2]->refuse();
  proxies_[2]->cut();
  ASSERT_TRUE(log_.wait_for(NodeEvent::Kind::down, 2));
  ASSERT_TRUE(succeeded(lease->release()));
  proxies_[2]->pass();
  proxies_[2]->accept();
  EXPECT_TRUE(soon_held(resource_, 0));
}

TEST_F(NodeConnections, ACommandThatArrivesLateIsKilledBeforeItsRelease) {
  // The command is held back in the network until after the client has given the connection up.
  Client client = NodeConnections::client(1);
  ASSERT_TRUE(succeeded(client.try_acquire(fresh_resource())));
  const auto before = proxies_[0]->request_bytes_received();
  proxies_[0]->set(Direction::requests, Flow::hold);
  std::stop_source stop;
  auto acquiring = std::async(std::launch::async, [&] {
    return client.acquire(resource_, {.ttl = ages}, stop.get_token());
  });
  ASSERT_TRUE(eventually([&] { return proxies_[0]->request_bytes_received() > before; }));
  stop.request_stop();
  EXPECT_TRUE(failed_with(acquiring.get(), Errc::cancelled));
  EXPECT_EQ(held(resource_), 0U);
  // The release was sent on the same connection, after the SET.
  proxies_[0]->pass();
  ASSERT_TRUE(succeeded(acquire_patiently(client, fresh_resource())));
  EXPECT_TRUE(soon_held(resource_, 0));
}

TEST_F(NodeConnections, CutConnectionsAreMadeAgainUnderAHeldLease) {
  Client client = NodeConnections::client();
  AcquireOptions options{.ttl = seconds(4)};
  auto lease = client.try_acquire(resource_, std::move(options));
  ASSERT_TRUE(succeeded(lease));
  const auto deadline = lease->valid_until();
  for (const auto& proxy : proxies_) proxy->cut();
  EXPECT_TRUE(eventually([&] { return lease->valid_until() > deadline; }, seconds(20)));
  EXPECT_TRUE(lease->valid());
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(soon_held(resource_, 0));
}

/// The number of established connections to the port on which the kernel sends keep-alives.
std::size_t kept_alive(std::uint16_t port) {
  std::ifstream table("/proc/net/tcp");
  std::array<char, 5> hex{};
  std::snprintf(hex.data(), hex.size(), "%04X", static_cast<unsigned>(port));
  std::size_t count = 0;
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, queues, timer;
    words >> number >> local >> remote >> state >> queues >> timer;
    const bool ours = remote.ends_with(std::string(":") + hex.data()) && state == "01";
    if (ours && timer.starts_with("02:")) ++count;
  }
  return count;
}

TEST_F(NodeConnections, OnWhichNothingIsSaidAreKeptAlive) {
  if (!std::ifstream("/proc/net/tcp")) GTEST_SKIP() << "a table of Linux";
  Client client = NodeConnections::client(1);
  ASSERT_TRUE(succeeded(client.try_acquire(resource_)));
  EXPECT_TRUE(eventually([this] { return kept_alive(proxies_[0]->port()) == 1; }));
}

TEST_F(NodeConnections, SlowRepliesCostAVoteNothing) {
  Client client = NodeConnections::client();
  for (const auto& proxy : proxies_) {
    proxy->set_delay(Direction::replies, std::chrono::milliseconds(30));
  }
  for (int i = 0; i < 3; ++i) {
    auto lease = client.try_acquire(fresh_resource());
    ASSERT_TRUE(succeeded(lease));
    EXPECT_GE(lease->round().elapsed, std::chrono::milliseconds(30));
    EXPECT_TRUE(succeeded(lease->release()));
  }
}

}  // namespace
}  // namespace redlock::test
