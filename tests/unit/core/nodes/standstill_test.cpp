#include "core/nodes/standstill.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "unit/core/watched_clocks.hpp"

namespace redlock::core::test {
namespace {

using Cause = Standstill::Cause;

constexpr Instant noticed = Instant() + 100s;

Standstill::Verdict judge(const Standstill& standstill, std::size_t up, std::size_t nodes) {
  return standstill.judge(NodeSet::first(up), nodes / 2 + 1, nodes);
}

/// One clock stepped by `by`, give or take a few milliseconds.
void step(Standstill& standstill, NodeIndex node, Duration by, Instant at = noticed) {
  standstill.stepped(node, {by + 1ms, {by - 5ms, by + 5ms}}, at);
}
void stay(Standstill& standstill, NodeIndex node, Instant asked = noticed) {
  standstill.read(node, {0ms, {-5ms, 5ms}}, asked);
}

TEST(Standstill, IsOursWhenAllStepAlike) {
  Standstill standstill(1s);
  step(standstill, 0, 10s);
  EXPECT_EQ(judge(standstill, 3, 3).cause, Cause::unknown);
  step(standstill, 1, 10s + 4ms);
  EXPECT_EQ(judge(standstill, 3, 3).cause, Cause::unknown) << "one more may say otherwise";
  step(standstill, 2, 10s - 3ms);
  const Standstill::Verdict verdict = judge(standstill, 3, 3);
  EXPECT_EQ(verdict.cause, Cause::ours);
  EXPECT_LE(verdict.ours.least, 10s - 1ms);
  EXPECT_GE(verdict.ours.most, 10s + 2ms);
}

TEST(Standstill, LeavesClocksTheDriftOfTheTimeThatOursStoodStill) {
  for (const Duration apart : {90ms, 500ms}) {
    Standstill standstill(1s);
    step(standstill, 0, 10s);
    step(standstill, 1, 10s + apart);
    step(standstill, 2, 10s);
    for (NodeIndex node = 0; node < 3; ++node) stay(standstill, node);
    const Standstill::Verdict verdict = judge(standstill, 3, 3);
    EXPECT_EQ(verdict.cause, Cause::ours);
    EXPECT_EQ(standstill.leapt_too(1, verdict.ours), apart > 200ms);
  }
}

TEST(Standstill, LeavesThemNoMoreThanTheClockBound) {
  Standstill standstill(1s);
  step(standstill, 0, 3600s);
  step(standstill, 1, 3603s);
  step(standstill, 2, 3600s);
  for (NodeIndex node = 0; node < 3; ++node) stay(standstill, node);
  EXPECT_TRUE(standstill.leapt_too(1, judge(standstill, 3, 3).ours));
}

TEST(Standstill, IsNotOursWhenOneNodeThatWasAskedSinceDidNotStep) {
  Standstill standstill(1s);
  step(standstill, 0, 10s);
  step(standstill, 1, 10s);
  stay(standstill, 2, noticed - 1ms);
  EXPECT_EQ(judge(standstill, 3, 3).cause, Cause::unknown)
      << "it may have answered before our clock stood still";
  stay(standstill, 2);
  EXPECT_EQ(judge(standstill, 3, 3).cause, Cause::theirs);
}

TEST(Standstill, NeedsAQuorumOfThoseThatAreUp) {
  Standstill standstill(1s);
  step(standstill, 0, 10s);
  step(standstill, 1, 10s);
  EXPECT_EQ(judge(standstill, 2, 3).cause, Cause::ours);
  EXPECT_EQ(judge(standstill, 2, 4).cause, Cause::unknown) << "more may come";
  EXPECT_EQ(judge(standstill, 1, 3).cause, Cause::unknown);
}

TEST(Standstill, OfASingleNodeIsNeverOurs) {
  Standstill standstill(1s);
  step(standstill, 0, 10s);
  EXPECT_EQ(standstill.judge(NodeSet::first(1), 2, 1).cause, Cause::theirs);
}

TEST(Standstill, LeavesAMinorityWhatItLeaptBesideIt) {
  Standstill standstill(1s);
  step(standstill, 0, 15s);
  for (NodeIndex node = 1; node <= 3; ++node) step(standstill, node, 10s);
  step(standstill, 4, 3s);
  const Standstill::Verdict verdict = judge(standstill, 5, 5);
  EXPECT_EQ(verdict.cause, Cause::unknown) << "that of node 4 may have been a part of it";
  stay(standstill, 4);
  const Standstill::Verdict then = judge(standstill, 5, 5);
  EXPECT_EQ(then.cause, Cause::unknown) << "and so may that of node 0";
  for (NodeIndex node = 0; node < 4; ++node) stay(standstill, node);
  const Standstill::Verdict last = judge(standstill, 5, 5);
  EXPECT_EQ(last.cause, Cause::ours);
  EXPECT_TRUE(standstill.leapt_too(0, last.ours));
  EXPECT_FALSE(standstill.leapt_too(1, last.ours));
  EXPECT_FALSE(standstill.leapt_too(4, last.ours)) << "who went back lets nothing expire early";
}

TEST(Standstill, AddsUpWhatARequestUnderWayHasShownAPartOf) {
  Standstill standstill(1s);
  step(standstill, 0, 50ms);
  step(standstill, 1, 10s);
  EXPECT_EQ(judge(standstill, 2, 3).cause, Cause::unknown);
  step(standstill, 0, 10s - 50ms);
  EXPECT_EQ(judge(standstill, 2, 3).cause, Cause::ours);
  EXPECT_EQ(standstill.step_of(0), 10s + 2ms);
}

// Our machine stood still for 10 s; nodes 0 and 1 were read; it stood still for 2 s more.
TEST(Standstill, BlamesNobodyBesideReadingsThatAreOlderThanTheStep) {
  Standstill standstill(1s);
  for (NodeIndex node = 0; node < 2; ++node) {
    step(standstill, node, 10s);
    stay(standstill, node);
  }
  const Instant again = noticed + 2s;
  for (NodeIndex node = 2; node < 4; ++node) {
    step(standstill, node, 12s, again);
    stay(standstill, node);
  }
  const Standstill::Verdict then = judge(standstill, 4, 5);
  EXPECT_EQ(then.cause, Cause::unknown);
  EXPECT_TRUE(then.stale);
  step(standstill, 0, 2s, again);
  const Standstill::Verdict last = judge(standstill, 4, 5);
  EXPECT_EQ(last.cause, Cause::ours) << "three agree, and node 1 has answered, if before";
  EXPECT_FALSE(standstill.leapt_too(2, last.ours));
  const std::optional<Gain> rest = standstill.not_shown(1, last.ours);
  ASSERT_TRUE(rest) << "of the second time";
  EXPECT_TRUE(rest->has(2s));
  EXPECT_FALSE(standstill.not_shown(0, last.ours));
  EXPECT_TRUE(standstill.not_shown(4, last.ours)) << "it was never read";
}

TEST(Standstill, BlamesANodeThatLeaptAfterTheOthersWereReadWhenTheyAreReadAgain) {
  Standstill standstill(1s);
  for (NodeIndex node = 0; node < 2; ++node) step(standstill, node, 10s);
  const Instant later = noticed + 1ms;
  step(standstill, 2, 15s, later);
  stay(standstill, 2, later);
  EXPECT_TRUE(judge(standstill, 3, 3).stale);
  for (NodeIndex node = 0; node < 2; ++node) stay(standstill, node, later);
  const Standstill::Verdict verdict = judge(standstill, 3, 3);
  EXPECT_EQ(verdict.cause, Cause::ours);
  EXPECT_TRUE(standstill.leapt_too(2, verdict.ours));
}

TEST(Standstill, IsContradictedOnlyByWhoWasAskedAfterTheLastStep) {
  Standstill standstill(1s);
  step(standstill, 0, 10s);
  stay(standstill, 2);
  step(standstill, 1, 10s, noticed + 1ms);
  EXPECT_TRUE(judge(standstill, 3, 3).stale) << "ours may have stood still after node 2 was read";
  stay(standstill, 2, noticed + 1ms);
  EXPECT_EQ(judge(standstill, 3, 3).cause, Cause::theirs);
}

TEST(Standstill, IsNobodysWordThatOfAClockTooUncertainToTell) {
  Standstill standstill(1s);
  step(standstill, 0, 10s);
  step(standstill, 1, 10s);
  for (NodeIndex node = 0; node < 2; ++node) stay(standstill, node);
  standstill.read(2, {0ms, {-20s, 20s}}, noticed);
  EXPECT_EQ(judge(standstill, 3, 3).cause, Cause::ours) << "two of three are a quorum";
  EXPECT_EQ(standstill.judge(NodeSet::first(3), 3, 3).cause, Cause::theirs);
}

// --- the engine ----------------------------------------------------------------------------------

/// The client's machine stands still for `pause`: the clocks of the nodes go on.
struct Paused : Watched {
  using Watched::Watched;
  [[nodiscard]] Duration after(Duration pause) const { return right() + pause; }
  /// Answers all open readings of the node's clock.
  std::string read(NodeIndex node, Duration time) {
    std::string out;
    while (is_next(node, Verb::read_clock)) append(out, clock(node, time));
    return out;
  }
  static void append(std::string& all, const std::string& more) {
    if (!all.empty() && !more.empty()) all += "; ";
    all += more;
  }
};

TEST(StandingStill, TakesNoVotesAndShortensLeases) {
  Paused h(3);
  h.hold(10s);
  h.pass(1s);
  EXPECT_EQ(h.read(0, h.after(3s)), "read-clock -> 0 1 2");
  EXPECT_EQ(h.read(1, h.after(3s)), "extended until 6898ms");
  EXPECT_EQ(h.read(2, h.after(3s)), "stood-still 0 1 2") << "and nobody is excluded";
  EXPECT_EQ(h.valid_until(), Instant() + 6898ms);
  h.release(2);
  h.answers({0, 1, 2}, Reply::released);
  EXPECT_EQ(h.acquire(3, 10s), "set t2 -> 0 1 2");
}

TEST(StandingStill, LosesAtOnceWhatRanOutMeanwhile) {
  Paused h(3);
  h.hold(10s);
  h.pass(1s);
  h.read(0, h.after(60s));
  EXPECT_EQ(h.read(1, h.after(60s)), "extended until -20102ms; lost; release t1 -> 0 1 2");
}

TEST(StandingStill, LetsAMinorityThatLeaptBesideItHaveNoVote) {
  Paused h(3);
  h.hold(30s);
  h.pass(1s);
  h.read(0, h.after(8s));
  h.read(1, h.after(3s));
  EXPECT_EQ(h.read(2, h.after(3s)), "stood-still 1 2; excluded 0");
  EXPECT_NE(h.engine().exclusion(0).find("stepped forward by up to"), std::string::npos);
  EXPECT_EQ(h.engine().exclusion(0).find("stood still"), std::string::npos);
}

TEST(StandingStill, DoesNotFailTheCallThatNoticesIt) {
  Paused h(3);
  h.pass(100ms);
  EXPECT_EQ(h.acquire(1, 10s), "read-clock -> 0 1 2; set t1 -> 0 1 2");
  EXPECT_EQ(h.clock(0, h.after(1h)), "read-clock -> 0 1 2");
  EXPECT_EQ(h.answer(0, Reply::granted), "");
  EXPECT_EQ(h.clock(1, h.after(1h)), "");
  h.answer(1, Reply::granted);
  const std::string last = h.clock(2, h.after(1h));
  EXPECT_NE(last.find("stood-still 0 1 2"), std::string::npos) << last;
  EXPECT_NE(last.find("set t2 -> 0 1 2"), std::string::npos) << last;
}

TEST(StandingStill, WaitsForNodesWhoseConnectionsDidNotOutliveIt) {
  Paused h(3);
  h.hold(30s);
  h.down(1);
  h.down(2);
  h.pass(1s);
  h.read(0, h.after(9s));
  EXPECT_EQ(h.acquire(2, 10s), "") << "no vote yet, and no verdict";
  h.up(1);
  const std::string out = h.read(1, h.after(9s));
  EXPECT_NE(out.find("stood-still 0 1"), std::string::npos) << out;
  h.up(2);
  const std::string late = h.read(2, h.after(9s));
  EXPECT_EQ(late.find("excluded"), std::string::npos) << late;
}

TEST(StandingStill, TwiceWithinOneDoubtIsNoLeapOfWhoWasReadInBetween) {
  Paused h(5);
  h.hold(30s);
  h.pass(1s);
  h.down(4);
  EXPECT_EQ(h.read(0, h.after(3s)), "read-clock -> 0 1 2 3");
  h.read(1, h.after(3s));
  h.pass(20ms);
  std::string out = h.clock(2, h.after(4s));
  EXPECT_EQ(h.clock(3, h.after(4s)), "read-clock -> 0 1 2 3");
  for (NodeIndex node = 0; node < 4; ++node) Paused::append(out, h.read(node, h.after(4s)));
  EXPECT_NE(out.find("stood-still"), std::string::npos) << out;
  h.up(4);
  Paused::append(out, h.read(4, h.after(4s)));
  EXPECT_EQ(out.find("excluded"), std::string::npos) << out;
}

TEST(StandingStill, OfANodeThatWasAwayIsNotItsLeap) {
  Paused h(3);
  h.hold(30s);
  h.down(2);
  h.pass(1s);
  h.read(0, h.after(9s));
  EXPECT_NE(h.read(1, h.after(9s)).find("stood-still 0 1"), std::string::npos);
  h.up(2);
  EXPECT_EQ(h.read(2, h.after(11s)), "read-clock -> 0 1 2") << "it has leapt, by the other 2 s";
  EXPECT_EQ(h.read(0, h.after(9s)), "excluded 2");
}

}  // namespace
}  // namespace redlock::core::test
