// The node events that a log gets: idle connections that end are not warnings, and a node that
// flaps costs a few lines.

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "integration/library.hpp"
#include "support/tcp_proxy.hpp"

namespace redlock::test {
namespace {

class Log : public testing::Test {
 protected:
  using Kind = NodeEvent::Kind;
  using Level = NodeEvent::Level;

  /// A client whose events and log lines are recorded.
  [[nodiscard]] Client client(std::vector<std::string> urls) const {
    ClientOptions options;
    options.nodes = std::move(urls);
    options.on_node_event = events_.listener();
    options.on_log = lines_.listener();
    return make_client(std::move(options));
  }
  [[nodiscard]] std::size_t count(Kind kind, Level level, std::size_t node) const {
    std::size_t count = 0;
    for (const NodeEvent& line : lines_.all()) {
      if (line.kind == kind && line.level == level && line.node == node) count += line.times;
    }
    return count;
  }
  [[nodiscard]] bool reported(Kind kind, Level level, std::size_t node) const {
    return eventually([&] { return count(kind, level, node) > 0; }, longest_wait);
  }

  EventLog events_;
  EventLog lines_;
};

TEST_F(Log, HasNoWarningOfServersThatCloseIdleConnections) {
  Nodes nodes(3);
  Client client = Log::client(nodes.urls());
  ASSERT_TRUE(succeeded(client.try_acquire("r")));
  for (const RedisServer& node : nodes) node.command({"CONFIG", "SET", "timeout", "1"});
  for (std::size_t node = 0; node < 3; ++node) {
    ASSERT_TRUE(events_.wait_for(Kind::down, node, 3));
    ASSERT_TRUE(events_.wait_for(Kind::up, node, 4)) << "it is connected to again";
  }
  EXPECT_TRUE(succeeded(acquire_patiently(client, "r")));
  ASSERT_TRUE(succeeded(client.close()));
  std::set<std::tuple<Kind, Level, std::size_t>> seen;
  for (const NodeEvent& line : lines_.all()) {
    EXPECT_NE(line.level, Level::warning) << line.url << ": " << line.message;
    seen.insert({line.kind, line.level, line.node});
  }
  EXPECT_TRUE(seen.contains({Kind::down, Level::debug, 0}));
  EXPECT_TRUE(seen.contains({Kind::up, Level::debug, 0}));
  EXPECT_LE(lines_.all().size(), 2 * seen.size()) << "the first of each, and a summary";
}

TEST_F(Log, WarnsOfANodeThatCannotBeReachedAgain) {
  Nodes nodes(3);
  Client client = Log::client(nodes.urls());
  ASSERT_TRUE(all_nodes_vote(client, nodes, 3));
  nodes[0].kill();
  EXPECT_TRUE(reported(Kind::down, Level::warning, 0));
  EXPECT_EQ(events_.count(Kind::down, 0), 1U) << "one outage is one event";
  nodes[0].start();
  ASSERT_TRUE(events_.wait_for(Kind::up, 0, 2));
  ASSERT_TRUE(succeeded(client.close()));
  EXPECT_EQ(count(Kind::up, Level::info, 0), 2U) << "its return is news";
  EXPECT_EQ(count(Kind::down, Level::warning, 0), 1U) << "retries are none";
}

TEST_F(Log, WarnsOfAConnectionThatEndsWhileSomethingIsUnderWay) {
  NewNodes nodes(3);
  std::vector<std::unique_ptr<TcpProxy>> proxies;
  std::vector<std::string> urls;
  for (const RedisServer& node : nodes) {
    proxies.push_back(std::make_unique<TcpProxy>(node.port()));
    urls.push_back(proxies.back()->url());
  }
  open_deployment(patient(urls));
  Client client = Log::client(urls);
  ASSERT_TRUE(all_nodes_vote(client, nodes, 3));
  proxies[0]->drop_replies();
  const auto lease = client.try_acquire("r");
  ASSERT_TRUE(eventually([&] { return nodes[0].get("r").has_value(); }));
  // Replies that pass again before the end would fit no request.
  proxies[0]->cut();
  proxies[0]->pass();
  EXPECT_TRUE(reported(Kind::down, Level::warning, 0));
}

TEST_F(Log, OfANodeThatFlapsIsBoundedAndComplete) {
  NewNodes nodes(3);
  TcpProxy proxy(nodes[0].port());
  const std::vector<std::string> urls{proxy.url(), nodes[1].url(), nodes[2].url()};
  open_deployment(patient(urls));
  Client client = Log::client(urls);
  ASSERT_TRUE(all_nodes_vote(client, nodes, 3));
  constexpr std::size_t flaps = 6;
  for (std::size_t flap = 1; flap <= flaps; ++flap) {
    proxy.refuse();
    proxy.cut();
    ASSERT_TRUE(events_.wait_for(Kind::down, 0, flap));
    proxy.accept();
    ASSERT_TRUE(events_.wait_for(Kind::up, 0, flap + 1));
  }
  ASSERT_TRUE(succeeded(client.close()));
  std::set<std::tuple<Kind, Level>> seen;
  std::size_t ups = 0;
  std::size_t lines = 0;
  for (const NodeEvent& line : lines_.all()) {
    if (line.node != 0) continue;
    ++lines;
    seen.insert({line.kind, line.level});
    if (line.kind == Kind::up) ups += line.times;
  }
  EXPECT_EQ(ups, events_.count(Kind::up, 0)) << "the summaries of the end are there";
  EXPECT_LE(lines, 2 * seen.size()) << "the first of each, and a summary";
}

}  // namespace
}  // namespace redlock::test
