// Nodes that notify clients that they forgot, and nodes that cannot.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "integration/guarded.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

const std::string marker(redis::keys::marker);

class Tracking : public testing::Test {
 protected:
  /// Connects a client that sends no requests by itself afterwards.
  void connect() {
    // The deployment is open, so the client writes nothing: its own writes would not be tracked.
    ClientOptions options = guarded(nodes_.urls());
    if (!opened_) open_deployment(options);
    opened_ = true;
    options.on_node_event = log_.listener();
    client_.emplace(make_client(options));
    ASSERT_TRUE(log_.wait_for(NodeEvent::Kind::up, 0));
  }
  void expect_news(const std::string& why) {
    ASSERT_TRUE(log_.wait_for(NodeEvent::Kind::down, 0));
    EXPECT_THAT(log_.last_message(NodeEvent::Kind::down, 0), HasSubstr(why));
    EXPECT_TRUE(log_.wait_for(NodeEvent::Kind::up, 0, 2));
  }

  /// Whether nodes are asked to track keys. Redis 6.0 is not: it would also notify a client of the
  /// writes of its own scripts.
  [[nodiscard]] bool tracks_keys() const { return nodes_[0].is_since(7); }
  static constexpr auto needs_tracked_keys = "keys are tracked: row redis-7.0 of the matrix";

  NewNodes nodes_{1};
  EventLog log_;
  bool opened_ = false;
  std::optional<Client> client_;
};

TEST_F(Tracking, AFlushIsNoticed) {
  connect();
  ASSERT_TRUE(succeeded(acquire_patiently(*client_, fresh_resource(), {.ttl = short_max_ttl})));
  nodes_[0].command({"FLUSHALL"});
  expect_news("flushed");
  EXPECT_TRUE(quarantined(nodes_[0]));
}

TEST_F(Tracking, AMarkerThatWasWrittenIsFoundBehindTheNextVote) {
  connect();
  nodes_[0].command({"DEL", marker});
  EXPECT_FALSE(client_->try_acquire(fresh_resource(), {.ttl = short_max_ttl}));
  expect_news("membership record changed");
  EXPECT_TRUE(quarantined(nodes_[0]));
}

TEST_F(Tracking, WhatAServerRemembersIsBoundedByTheClientsThatAreConnected) {
  if (!tracks_keys()) GTEST_SKIP() << needs_tracked_keys;
  const auto remembered = [this] {
    const std::string stats = nodes_[0].command({"INFO", "stats"}).string;
    const std::string field = "tracking_total_items:";
    return std::stol(stats.substr(stats.find(field) + field.size()));
  };
  for (int i = 0; i < 20; ++i) {
    ASSERT_NO_FATAL_FAILURE(connect());
    EXPECT_TRUE(succeeded(acquire_patiently(*client_, fresh_resource(), {.ttl = short_max_ttl})));
    EXPECT_EQ(log_.count(NodeEvent::Kind::down, 0), 0U);
    client_.reset();
    log_ = EventLog();
  }
  EXPECT_EQ(remembered(), 0) << "the first of them holds nothing any more";
  // A node remembers a watcher for the watched key until that changes.
  const std::string resource = fresh_resource();
  connect();
  std::atomic<bool> saw{false};
  std::jthread watcher([&](const std::stop_token& stop) {
    static_cast<void>(client_->watch(
        resource, [&](const Inspection&) { saw = true; }, stop));
  });
  ASSERT_TRUE(eventually([&] { return saw.load(); }));
  EXPECT_EQ(remembered(), 1);
  watcher = {};
  nodes_[0].command({"SET", resource, "another's", "PX", "1000"});
  EXPECT_EQ(remembered(), 0);
}

TEST_F(Tracking, WhoMayNotTrackGoesOnWithout) {
  if (!nodes_[0].is_since(7)) GTEST_SKIP() << "subcommands can be forbidden: row redis-7.0";
  for (const std::string word : {"-hello", "-client|tracking", "-client|caching"}) {
    const auto right = [&](const std::string& change) {
      ASSERT_TRUE(nodes_[0].command({"ACL", "SETUSER", "default", change}).is_ok());
    };
    ASSERT_NO_FATAL_FAILURE(right(word));
    log_ = EventLog();
    connect();
    EXPECT_TRUE(succeeded(acquire_patiently(*client_, fresh_resource(), {.ttl = short_max_ttl})));
    EXPECT_EQ(log_.count(NodeEvent::Kind::down, 0), 0U) << word;
    ASSERT_NO_FATAL_FAILURE(right(std::string("+").append(word, 1)));
  }
}

}  // namespace
}  // namespace redlock::test
