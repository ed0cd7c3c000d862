// A node that forgot has no vote for an interval that may still last, even after its quarantine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/membership/marker.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

using testing::HasSubstr;

constexpr Duration node_time = 1'000'000s;  // when the client begins

/// Three members; some remember only since an instant of their clocks.
struct Members : Harness {
  explicit Members(bool clock_guard = true) : Harness(settings(clock_guard)) { tick(); }

  static Settings settings(bool clock_guard) {
    Settings settings = Harness::settings_for(3);
    settings.clock_guard = clock_guard;
    return settings;
  }
  void come_up(NodeIndex node, std::optional<Duration> since = {}) {
    Marker marker;
    marker.state = Marker::State::active;
    marker.incarnation = "i";
    marker.deployment = "D";
    marker.run_id = "server" + std::to_string(node);
    marker.replid = "r";
    marker.max_ttl = std::chrono::milliseconds(30s);
    marker.members = {"node0", "node1", "node2"};
    marker.self = "node" + std::to_string(node);
    if (since) marker.remembers_since = std::chrono::floor<std::chrono::microseconds>(*since);
    const std::string text = format_marker(marker) + " 1";
    NodeUp event;
    event.marker = text;
    const bool asked = up_as(node, event).find("read-clock") != std::string::npos;
    if (asked) clock(node, node_time + now().time_since_epoch());
  }
  std::string acquire_interval(std::uint64_t request, Duration interval, Duration wait = 0ms) {
    Acquire event;
    event.request = CallId{request};
    event.resource = "resource";
    event.ttl = 10s;
    event.wait = wait;
    event.interval = interval;
    return step(event);
  }
};

TEST(IntervalMemory, ANodeVotesForNoIntervalThatIsLongerThanItRemembers) {
  Members h;
  h.come_up(0);
  h.come_up(1);
  h.come_up(2, node_time - 40s);
  EXPECT_EQ(h.acquire_interval(1, 39s), "set t1 -> 0 1 2");
  EXPECT_EQ(h.acquire_interval(2, 40s), "set t2 -> 0 1") << "clocks drift";
  EXPECT_EQ(h.acquire(3, 10s), "set t3 -> 0 1 2") << "its quarantine covers leases";
}

TEST(IntervalMemory, AnAnswerDoesNotCountOfANodeThatTurnsOutToRememberForLess) {
  Members h;
  h.come_up(0);
  h.come_up(1);
  h.come_up(2, node_time - 40s);
  h.oversleep(1s);
  EXPECT_THAT(h.acquire_interval(1, 39s), HasSubstr("set t1 -> 0 1 2"));
  // The name now leads to another server, whose clock shows less.
  for (NodeIndex node = 0; node < 3; ++node) {
    h.clock(node, node_time + (node == 2 ? -5s : 1s));
  }
  h.answer(2, Reply::granted);
  EXPECT_EQ(h.answer(0, Reply::granted), "") << "one of three";
  EXPECT_THAT(h.answer(1, Reply::granted), HasSubstr("acquired #1"));
}

TEST(IntervalMemory, TooFewThatRememberSaySoAndWhenThatEnds) {
  Members h;
  h.come_up(0);
  h.come_up(1, node_time - 10s);
  h.come_up(2, node_time - 35s);
  EXPECT_EQ(h.acquire_interval(1, 100s), "failed #1 excluded");
  const NodeVote vote = h.decided_by()->vote(2);
  EXPECT_EQ(vote.vote, Vote::excluded);
  EXPECT_EQ(vote.remaining, 66s + 2ms);
  EXPECT_EQ(vote.text,
            "it came back 35 s ago, and may have forgotten that an interval goes on: for intervals "
            "of 100 s it votes in 66 s");
  EXPECT_EQ(h.decided_by()->vote(0).vote, Vote::pending);
}

TEST(IntervalMemory, WhoWaitsIsServedWhenEnoughRemember) {
  Members h(false);
  h.come_up(0);
  h.come_up(1, 1s);
  h.come_up(2, 1s);
  EXPECT_EQ(h.acquire_interval(1, 10s, 60s), "") << "without clocks, since the client met them";
  EXPECT_EQ(h.pass(10s), "");
  EXPECT_THAT(h.pass(1s), HasSubstr("set t1 -> 0 1 2"));
}

TEST(IntervalMemory, AConnectionThatIsMadeAnewChangesNothing) {
  Members h(false);
  for (NodeIndex node = 0; node < 3; ++node) h.come_up(node, 1s);
  h.pass(20s);
  h.down(2);
  h.come_up(2, 1s);
  EXPECT_EQ(h.acquire_interval(1, 10s), "set t1 -> 0 1 2");
  h.down(1);
  h.come_up(1, 2s);
  EXPECT_EQ(h.acquire_interval(2, 10s), "set t2 -> 0 2") << "it has forgotten meanwhile";
}

}  // namespace
}  // namespace redlock::core::test
