#include "core/membership/restart_guard.hpp"

#include <gtest/gtest.h>

#include "core/membership/marker.hpp"

namespace redlock::core {
namespace {

using namespace std::chrono_literals;

// guard.lua decides the same: tests/integration/guards/restart_guard_test.cpp compares the two.

constexpr auto node_time = 1'700'000'000'000'000us;

GuardTerms client() {
  return {.run_id = "run2",
          .memory = {.history = "replid"},
          .max_ttl = 30s,
          .quarantine = 30s + 302ms,
          .name = "node0:1",
          .incarnation = "fresh"};
}

std::string member(std::string_view run_id, std::string_view replid, bool durable = false,
                   std::chrono::milliseconds max_ttl = 30s) {
  Marker marker;
  marker.state = Marker::State::active;
  marker.incarnation = "old";
  marker.deployment = "deployment";
  marker.run_id = run_id;
  marker.replid = replid;
  marker.max_ttl = max_ttl;
  marker.durable = durable;
  marker.self = "node0:1";
  marker.members = {"node0:1", "node1:1"};
  return format_marker(marker) + " 5";
}

TEST(RestartGuard, MarksANewNodeBlankBehindAQuarantine) {
  const auto writes = guard_node({.time = node_time}, client());
  ASSERT_TRUE(writes);
  EXPECT_EQ(writes->why, "empty");
  EXPECT_EQ(writes->quarantine, 30s + 302ms);
  EXPECT_EQ(writes->floor, 1'700'000'030'302'000U) << "the node's clock when the quarantine ends";
  EXPECT_EQ(writes->marker,
            "redlock3 blank fresh - run2 replid 30000 volatile node0:1 - - 1700000000000000");
}

TEST(RestartGuard, MarksANodeThatEvictedOrWasAReplica) {
  struct Case {
    const char* marked;
    NodeMemory now;
    const char* why;
  };
  const Case cases[] = {
      {"replid", {"replid+1", true, true}, "evicted"},
      {"replid+5", {"replid+6", true, true}, "evicted"},
      {"replid+5", {"replid+4", true, true}, "evicted"},  // reset, and 4 evictions since
      {"replid+5", {"replid", true, false}, "evicted"},   // reset, and may evict
      {"replid", {"other", false, true}, "role"},
      {"replid+5", {"other", false, true}, "role"},
      {"replid", {"other+1", true, true}, "evicted"},
      {"replid+5", {"replid", false, true}, nullptr},
      {"replid+5", {"other", true, true}, nullptr},
  };
  for (const Case& c : cases) {
    GuardTerms terms = client();
    terms.memory = c.now;
    const auto writes =
        guard_node({.marker = member("run2", c.marked, true), .time = node_time}, terms);
    ASSERT_TRUE(writes) << c.marked << ' ' << c.now.history;
    EXPECT_EQ(writes->quarantine.has_value(), c.why != nullptr);
    EXPECT_EQ(writes->why, c.why == nullptr ? "" : c.why) << c.marked << ' ' << c.now.history;
    EXPECT_EQ(parse_marker(writes->marker)->replid, c.now.history);
  }
}

TEST(RestartGuard, WritesTheNewNumberAfterAResetAndNothingElse) {
  GuardTerms terms = client();
  terms.memory = {.history = "replid", .keeps_keys = true};
  const auto writes =
      guard_node({.marker = member("run2", "replid+7", true), .time = node_time}, terms);
  ASSERT_TRUE(writes);
  EXPECT_FALSE(writes->quarantine);
  EXPECT_FALSE(writes->floor);
  EXPECT_EQ(writes->marker,
            "redlock3 active fresh deployment run2 replid 30000 durable node0:1 node0:1,node1:1 "
            "- 1700000000000000");
}

TEST(RestartGuard, LeavesTheMarkerOfANodeWhoseDataSomebodyCopied) {
  GuardTerms terms = client();
  terms.memory = {.history = "another+7", .own_data = true};
  EXPECT_FALSE(guard_node({.marker = member("run2", "replid+7"), .time = node_time}, terms));
}

TEST(RestartGuard, SaysSinceWhenANodeRemembersThatHasForgotten) {
  const auto forgot = guard_node({.marker = member("run1", "replid"), .time = node_time}, client());
  EXPECT_EQ(parse_marker(forgot->marker)->remembers_since, node_time);
  const auto unmarked = guard_node({.time = node_time}, client());
  EXPECT_EQ(parse_marker(unmarked->marker)->remembers_since, Marker::always) << "it may be new";
  GuardTerms trusted = client();
  trusted.durable = true;
  std::string marker = member("run1", "other", true);
  marker.insert(marker.rfind(' '), " since");
  const auto kept = guard_node({.marker = marker, .time = node_time}, trusted);
  EXPECT_EQ(parse_marker(kept->marker)->remembers_since, 5us) << "as before it restarted";
}

TEST(RestartGuard, MarksANodeThatRestartedOrChangedItsRole) {
  EXPECT_EQ(guard_node({.marker = member("run1", "replid")}, client())->why, "restarted");
  EXPECT_EQ(guard_node({.marker = member("run2", "other")}, client())->why, "role");
}

TEST(RestartGuard, WaitsForTheLongestLeaseThatTheNodeKnewOfWhateverTheClientAllows) {
  for (const std::chrono::milliseconds longest : {1s, 60s}) {
    const auto writes = guard_node({.marker = member("run1", "replid", false, longest)}, client());
    ASSERT_TRUE(writes);
    EXPECT_EQ(writes->quarantine, longest + longest / 100 + 2ms);
    EXPECT_EQ(parse_marker(writes->marker)->max_ttl, longest);
  }
}

TEST(RestartGuard, MakesNoQuarantineShorterAndNoFloorLower) {
  const auto writes =
      guard_node({.quarantine = 40s, .floor = 1'800'000'000'000'000U, .time = node_time}, client());
  ASSERT_TRUE(writes);
  EXPECT_FALSE(writes->quarantine);
  EXPECT_FALSE(writes->floor);
  EXPECT_FALSE(guard_node({.quarantine = -1ms, .time = node_time}, client())->quarantine)
      << "it has no end";
  EXPECT_TRUE(guard_node({.quarantine = 10s, .time = node_time}, client())->quarantine);
}

TEST(RestartGuard, LeavesTheVoteOfANodeThatLostNothing) {
  GuardTerms terms = client();
  terms.durable = true;
  const auto writes =
      guard_node({.marker = member("run1", "other", true), .time = node_time}, terms);
  ASSERT_TRUE(writes);
  EXPECT_FALSE(writes->quarantine);
  EXPECT_FALSE(writes->floor);
  EXPECT_EQ(writes->marker,
            "redlock3 active fresh deployment run2 replid 30000 durable node0:1 node0:1,node1:1 "
            "- 1700000000000000");
}

TEST(RestartGuard, TrustsNoDataOfAnotherNodeOrAnotherRole) {
  GuardTerms terms = client();
  terms.durable = true;
  EXPECT_TRUE(guard_node({.marker = member("run2", "other", true)}, terms)->quarantine)
      << "the data of a master that it was a replica of";
  terms.name = "node1:1";
  EXPECT_TRUE(guard_node({.marker = member("run1", "replid", true)}, terms)->quarantine)
      << "the data of another node";
  terms.name = "";
  EXPECT_TRUE(guard_node({.marker = member("run1", "replid", true)}, terms)->quarantine);
  EXPECT_TRUE(guard_node({.marker = member("run1", "replid", false)}, terms)->quarantine);
}

}  // namespace
}  // namespace redlock::core
