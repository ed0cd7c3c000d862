#include "runtime/event_log.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace redlock::runtime {
namespace {

using namespace std::chrono_literals;
using EventKind = NodeEvent::Kind;
using EventLevel = NodeEvent::Level;
using LogLines = std::vector<std::string>;

NodeEvent logged_event(EventKind kind, std::size_t node, const std::string& message = "refused",
                       EventLevel level = EventLevel::warning) {
  return {kind, node, "redis://r" + std::to_string(node), message, level};
}

core::Instant at(core::Duration time) { return core::Instant(time + 1h); }

LogLines messages_of(const std::vector<NodeEvent>& events) {
  LogLines all;
  for (const NodeEvent& one : events) all.push_back(one.message);
  return all;
}

TEST(EventLog, TellsTheFirstAtOnceAndCountsThoseOfTheNextMinute) {
  EventLog log;
  const auto first = log.add(logged_event(EventKind::down, 0), at(0s));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->message, "refused");
  EXPECT_EQ(first->times, 1U);
  EXPECT_EQ(log.next(), std::nullopt) << "nothing is held back";
  for (int i = 1; i <= 17; ++i) {
    EXPECT_FALSE(
        log.add(logged_event(EventKind::down, 0, i == 17 ? "reset" : "refused"), at(i * 1s)));
  }
  EXPECT_EQ(log.next(), at(60s));
  EXPECT_TRUE(log.take_due(at(59s)).empty());
  const auto reported = log.take_due(at(60s));
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_EQ(reported[0].message, "reset (17 times in the last minute)");
  EXPECT_EQ(reported[0].times, 17U);
  EXPECT_EQ(reported[0].node, 0U);
  EXPECT_EQ(reported[0].url, "redis://r0");
  EXPECT_EQ(reported[0].level, EventLevel::warning);
  EXPECT_EQ(log.next(), std::nullopt);
}

TEST(EventLog, IsQuietForAnotherMinuteAfterASummary) {
  EventLog log;
  EXPECT_TRUE(log.add(logged_event(EventKind::down, 0), at(0s)));
  EXPECT_FALSE(log.add(logged_event(EventKind::down, 0), at(1s)));
  EXPECT_EQ(log.take_due(at(60s)).size(), 1U);
  EXPECT_FALSE(log.add(logged_event(EventKind::down, 0), at(119s)));
  EXPECT_EQ(messages_of(log.take_due(at(120s))), LogLines{"refused (1 time in the last minute)"});
  EXPECT_TRUE(log.take_due(at(180s)).empty());
  EXPECT_TRUE(log.add(logged_event(EventKind::down, 0), at(180s)))
      << "a minute without one is over";
}

TEST(EventLog, CountsKindsNodesAndLevelsApart) {
  EventLog log;
  EXPECT_TRUE(log.add(logged_event(EventKind::down, 0), at(0s)));
  EXPECT_TRUE(log.add(logged_event(EventKind::down, 1), at(0s)));
  EXPECT_TRUE(log.add(logged_event(EventKind::up, 0), at(0s)));
  EXPECT_TRUE(log.add(logged_event(EventKind::down, 0, "closed", EventLevel::debug), at(0s)));
  EXPECT_FALSE(log.add(logged_event(EventKind::down, 0), at(1s)));
}

TEST(EventLog, EndsTheLinesOfANodeWithWhatHappenedLast) {
  EventLog log;
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(log.add(logged_event(EventKind::down, 0, "gone"), at(i * 10s)));
    static_cast<void>(log.add(logged_event(EventKind::up, 0, "back"), at(i * 10s + 5s)));
  }
  static_cast<void>(log.add(logged_event(EventKind::down, 0, "gone"), at(50s)));
  EXPECT_EQ(messages_of(log.take_due(at(60s))),
            (LogLines{"back (2 times in the last 55 s)", "gone (3 times in the last minute)"}));
}

TEST(EventLog, LosesNoSummaryAtTheEnd) {
  EventLog log;
  static_cast<void>(log.add(logged_event(EventKind::down, 0), at(0s)));
  EXPECT_TRUE(log.finish(at(1s)).empty());
  static_cast<void>(log.add(logged_event(EventKind::down, 0), at(2s)));
  static_cast<void>(log.add(logged_event(EventKind::down, 1), at(2s)));
  static_cast<void>(log.add(logged_event(EventKind::down, 1), at(3s)));
  EXPECT_EQ(messages_of(log.finish(at(12s))),
            (LogLines{"refused (1 time in the last 12 s)", "refused (1 time in the last 10 s)"}));
  EXPECT_TRUE(log.finish(at(13s)).empty());
}

TEST(EventLog, IsBoundedWhateverHappens) {
  constexpr std::size_t most = 100;
  EventLog log(most);
  std::size_t lines = 0;
  std::uint64_t events = 0;
  std::uint64_t reported = 0;
  const auto count = [&](const std::vector<NodeEvent>& summaries) {
    lines += summaries.size();
    for (const NodeEvent& summary : summaries) reported += summary.times;
  };
  for (int second = 0; second < 60; ++second) {
    for (std::size_t node = 0; node < 1000; ++node, ++events) {
      const auto line = log.add(logged_event(EventKind::down, node), at(second * 1s));
      lines += line ? 1U : 0U;
      reported += line ? 1U : 0U;
      ASSERT_LE(log.entries(), most + 1);
    }
  }
  count(log.take_due(at(60s)));
  EXPECT_LE(lines, 2 * (most + 1)) << "the first of each, and a summary of each";
  EXPECT_EQ(reported, events) << "each event is in one line";
  count(log.finish(at(60s)));
  EXPECT_EQ(reported, events);
  EXPECT_TRUE(log.take_due(at(120s)).empty());
  EXPECT_TRUE(log.add(logged_event(EventKind::up, 5000), at(120s)))
      << "what has been quiet makes room";
}

TEST(EventLog, SaysThatASummaryIsOfSeveralNodes) {
  EventLog log(1);
  EXPECT_TRUE(log.add(logged_event(EventKind::down, 0), at(0s)));
  EXPECT_TRUE(log.add(logged_event(EventKind::down, 1), at(0s)));
  EXPECT_FALSE(log.add(logged_event(EventKind::down, 2), at(0s)));
  EXPECT_FALSE(log.add(logged_event(EventKind::up, 3, "back"), at(0s)));
  EXPECT_EQ(messages_of(log.finish(at(60s))),
            LogLines{"back (2 events of this and other nodes in the last minute)"});
}

}  // namespace
}  // namespace redlock::runtime
