#include <gtest/gtest.h>

#include "core/nodes/node_clock.hpp"
#include "core/votes/validity_basis.hpp"
#include "unit/core/watched_clocks.hpp"

namespace redlock::core::test {
namespace {

NodeUp quarantined(Duration left) {
  NodeUp event;
  event.quarantine = left;
  event.quarantine_why = "it restarted";
  return event;
}

TEST(RestartGuard, DoesNotCountAKeyThatWasGivenBackInTheQuarantine) {
  Harness h(3);
  h.tick();
  h.up(0);
  h.up(1);
  h.up_as(2, quarantined(30s));
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.extend(2, 10s);
  h.answers({0, 1}, Reply::extended);
  EXPECT_EQ(h.answer(2, Reply::gone), "extend-or-set t1 -> 2");
  h.answer(2, Reply::repaired);
  h.down(1);
  // Another client may count what node 2 has forgotten: node 2 has no vote before its quarantine
  // ends.
  h.extend(3, 10s);
  h.answer(0, Reply::extended);
  EXPECT_EQ(h.answer(2, Reply::extended), "failed #3 unavailable");
  EXPECT_EQ(h.decided_by()->vote(2).vote, Vote::excluded);
}

TEST(RestartGuard, CountsAKeyThatWasThereBeforeAQuarantineAndNeverMissed) {
  Watched h(1);
  h.acquire(1, 20s);
  h.answer(0, Reply::granted);
  h.pass(1s);
  h.clock(0, h.right() + 3s);
  h.extend(2, 20s);
  while (h.open(0) > 1) h.clock(0, h.right() + 3s);
  EXPECT_NE(h.answer(0, Reply::extended).find("extended #2"), std::string::npos);
}

TEST(ClockGuard, AStepThatEndsTheLeaseComesAheadOfTheExtendOfTheSameRead) {
  Watched h(1);
  h.acquire(1, 10s);
  h.answer(0, Reply::granted);
  h.pass(1s);
  h.extend(2, 10s);
  std::vector<PlainYes> answers;
  while (h.open(0) > 0) {
    const Stamp stamp = h.take_open(0);
    const bool is_clock = stamp.verb == Verb::read_clock;
    answers.push_back(is_clock ? PlainYes{stamp, Reply::clock, h.right() + 20s}
                               : PlainYes{stamp, Reply::extended});
  }
  ASSERT_GT(answers.size(), 1U);
  const std::string out = h.step(PlainYeses{0, answers});
  EXPECT_NE(out.find("failed #2 not_holder; lost"), std::string::npos) << out;
}

TEST(RestartGuard, WakesWhoWaitsWhenTheQuarantineEnds) {
  Harness h(1);
  h.tick();
  h.up_as(0, quarantined(5s));
  EXPECT_EQ(h.acquire(1, 10s), "failed #1 excluded");
  EXPECT_EQ(h.acquire(2, 10s, 60s), "");
  EXPECT_EQ(h.pass(4999ms), "") << "nothing is sent meanwhile";
  EXPECT_EQ(h.pass(1ms), "set t1 -> 0");
}

TEST(RestartGuard, OfTwoQuarantinesTheLongerOneHolds) {
  Harness h(1);
  h.tick();
  h.up_as(0, quarantined(5s));
  h.down(0);
  h.up_as(0, quarantined(1s));
  EXPECT_EQ(h.engine().link(0).mandate->quarantined_until(), Instant() + 5s);
}

TEST(ClockGuard, ReadsTheClocksOfAQuorumBeforeTheFirstVote) {
  Harness h(with_clock_guard(3));
  h.tick();
  EXPECT_EQ(h.acquire(1, 10s), "");
  EXPECT_EQ(h.up(0), "read-clock -> 0");
  EXPECT_EQ(h.up(1), "read-clock -> 1");
  EXPECT_EQ(h.clock(0, 1000s), "");
  // A time from a year in which the answer is not a plain yes.
  Answer in_words{1, h.take_open(1), Reply::clock};
  in_words.time = 1000s;
  EXPECT_EQ(h.step(in_words), "set t1 -> 0 1");
  EXPECT_EQ(h.up(2), "read-clock -> 2");
  EXPECT_EQ(h.clock(2, 1000s), "set t1 -> 2");
}

TEST(ClockGuard, WaitsForTheLastClockOfAQuorumThatNeedsEveryNode) {
  for (const std::size_t nodes : {2U, 4U}) {
    Harness h(with_clock_guard(nodes));
    h.tick();
    h.acquire(1, 10s);
    for (NodeIndex node = 0; node < nodes; ++node) h.up(node);
    const std::size_t quorum = nodes / 2 + 1;
    for (NodeIndex node = 0; node + 1U < quorum; ++node) EXPECT_EQ(h.clock(node, 1000s), "");
    EXPECT_EQ(h.clock(static_cast<NodeIndex>(quorum - 1), 1000s).substr(0, 6), "set t1");
  }
}

TEST(ClockGuard, ReadsAllClocksEverySecondWhileThereIsALease) {
  Watched h(3);
  h.hold(10s);
  EXPECT_EQ(h.pass(999ms), "");
  EXPECT_EQ(h.pass(1ms), "read-clock -> 0 1 2");
  for (NodeIndex node = 0; node < 3; ++node) h.clock(node, h.right());
  h.release(2);
  h.answers({0, 1, 2}, Reply::released);
  EXPECT_EQ(h.pass(10s), "") << "nobody relies on them";
}

TEST(ClockGuard, ANodeFarFromTheOthersHasNoVote) {
  Harness h(with_clock_guard(3));
  h.tick();
  for (NodeIndex node = 0; node < 3; ++node) h.up(node);
  h.clock(0, 1000s);
  h.clock(1, 1001s + 1ms);
  EXPECT_EQ(h.clock(2, 1000s), "excluded 1");
  EXPECT_EQ(h.acquire(1, 10s), "set t1 -> 0 2");
}

TEST(ClockGuard, AVoteBehindAStepIsNotCounted) {
  Watched h(3);
  h.pass(100ms);
  EXPECT_EQ(h.acquire(1, 10s), "read-clock -> 0 1 2; set t1 -> 0 1 2");
  EXPECT_EQ(h.clock(0, h.right() + 500ms), "read-clock -> 0 1 2") << "ours, or that of node 0?";
  EXPECT_EQ(h.answer(0, Reply::granted), "");
  h.clock(1, h.right());
  EXPECT_EQ(h.answer(1, Reply::granted), "") << "two granted, one of them counts";
  h.clock(2, h.right());
  EXPECT_EQ(h.answer(2, Reply::granted), "acquired #1 until 9998ms");
}

TEST(ClockGuard, AStepTakesFromTheLeasesThatNeedTheNode) {
  Watched h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.answer(2, Reply::taken, "somebody");
  h.pass(1s);
  EXPECT_EQ(h.clock(0, h.right() + 3s), "extended until 6898ms; read-clock -> 0 1 2");
  EXPECT_EQ(h.clock(1, h.right()), "excluded 0");
  EXPECT_EQ(h.clock(2, h.right()), "");
}

TEST(ClockGuard, ADeadlineThatAStepLoweredMakesTheRenewalDueAtOnce) {
  Watched h(1);
  h.hold(9s, Acquire::Renewal{UINT64_MAX, Duration::max()});
  h.pass(1s);
  // The remaining validity ends before a third of the TTL, for which the renewal was planned.
  EXPECT_EQ(h.clock(0, h.right() + 6500ms), "extended until 2408ms; excluded 0");
  EXPECT_EQ(h.pass(0ms), "at-risk; extend t1 -> 0");
  EXPECT_EQ(h.answer(0, Reply::extended), "extended until 9908ms");
}

TEST(ClockGuard, AStepDuringARenewalMakesTheNextOneDueAtOnce) {
  Watched h(3);
  h.hold(9s, Acquire::Renewal{UINT64_MAX, Duration::max()});
  for (int second = 1; second <= 2; ++second) {
    h.pass(1s);
    for (NodeIndex node = 0; node < 3; ++node) h.clock(node, h.right());
  }
  EXPECT_TRUE(h.pass(1s).starts_with("extend t1 -> 0 1 2; read-clock -> 0"));
  h.answer(0, Reply::extended);
  EXPECT_EQ(h.clock(0, h.right() + 5s), "read-clock -> 0 1 2");
  EXPECT_EQ(h.answer(1, Reply::extended), "extended until 8908ms") << "of 11908 ms 5 s are gone";
  EXPECT_EQ(h.pass(0ms), "extend t1 -> 0 1 2");
}

TEST(ClockGuard, AStepDuringAnExtendByTokenTakesFromWhatItWon) {
  Watched h(3);
  h.pass(1s);
  ExtendToken event;
  event.request = CallId{7};
  event.resource = "resource";
  event.token = *Token::parse("theirs");
  event.ttl = 10s;
  EXPECT_EQ(h.step(event), "extend theirs -> 0 1 2");
  EXPECT_EQ(h.tick(), "read-clock -> 0 1 2");
  EXPECT_EQ(h.answer(0, Reply::extended), "");
  EXPECT_EQ(h.clock(0, h.right() + 3s), "read-clock -> 0 1 2");
  EXPECT_EQ(h.answer(1, Reply::extended), "extended until 7898ms; extended #7 until 7898ms");
}

TEST(ClockGuard, ANodeThatDoesNotTellTheTimeHasNoVote) {
  Harness h(with_clock_guard(1));
  h.tick();
  h.up(0);
  EXPECT_EQ(h.answer(0, Reply::error, "NOPERM"), "excluded 0");
  EXPECT_EQ(h.acquire(1, 10s), "failed #1 excluded");
  EXPECT_EQ(h.engine().exclusion(0), "its clock cannot be read: NOPERM");
}

TEST(ClockGuard, AsksAgainWhenANodeCanNotTellTheTimeJustNow) {
  Harness h(with_clock_guard(1));
  h.tick();
  h.acquire(1, 10s, 60s);
  EXPECT_EQ(h.up(0), "read-clock -> 0");
  EXPECT_EQ(h.answer(0, Reply::error, "BUSY Redis is busy running a script"), "");
  EXPECT_EQ(h.pass(1s), "read-clock -> 0");
  EXPECT_EQ(h.clock(0, 1000s), "set t1 -> 0");
}

TEST(ClockGuard, PlansNoReadingThatACongestedNodeCanNotBeSent) {
  Settings settings = with_clock_guard(1);
  settings.max_unanswered = 1;
  settings.shortest_limit = settings.longest_limit = 5s;
  Harness h(settings);
  h.tick();
  h.up(0);
  h.clock(0, 1000s);
  EXPECT_EQ(h.acquire(1, 30s, 60s), "set t1 -> 0");
  h.oversleep(3s);
  EXPECT_EQ(h.tick(), "") << "a reading is due, and has no room";
  EXPECT_EQ(h.until_deadline(), 2s) << "the limit of what is unanswered";
}

TEST(Evictions, ThatAHandshakeFindsEndTheLeasesThatRestOnTheNode) {
  for (const std::uint64_t evicted : {0U, 1U}) {
    Harness h(3);
    h.tick();
    for (NodeIndex node = 0; node < 3; ++node) h.up(node);
    h.acquire(1, 10s);
    h.answers({0, 1, 2}, Reply::granted);
    std::string commands;
    for (const NodeIndex node : {NodeIndex{0}, NodeIndex{1}}) {
      h.down(node);
      NodeUp event;
      event.evicted = evicted;
      commands += h.up_as(node, event);
    }
    commands += h.pass(0ms);
    EXPECT_EQ(commands.find("lost") != std::string::npos, evicted > 0) << commands;
  }
}

TEST(NodeClock, TakesNoStepForWhatTheRoundTripsLeaveUncertain) {
  NodeClock clock;
  const Instant start = Instant() + 100s;
  EXPECT_EQ(clock.observe(start, start + 20ms, 1000s).step, 0ms);
  EXPECT_EQ(clock.observe(start + 20ms, start + 40ms, 1000s + 40ms).step, 0ms);
  EXPECT_EQ(clock.observe(start + 40ms, start + 60ms, 1000s + 40ms + 22ms).step, 0ms);
  EXPECT_EQ(clock.stepped(), 0ms);
}

TEST(NodeClock, TellsAStepFromADifference) {
  NodeClock clock;
  const Instant start = Instant() + 100s;
  clock.observe(start, start, 5000s);
  EXPECT_EQ(clock.observe(start + 500ms, start + 500ms, 5000s + 500ms).step, 0ms);
  EXPECT_EQ(clock.observe(start + 600ms, start + 600ms, 5000s + 1600ms).step, 1s);
  EXPECT_EQ(clock.observe(start + 700ms, start + 700ms, 5000s + 1700ms).step, 0ms)
      << "reported once";
  EXPECT_EQ(clock.stepped(), 1s);
}

TEST(NodeClock, ThatStepsBetweenFarInstantsForEverIsTrustedWithNoKey) {
  constexpr Duration far = 8'000'000'000s;
  NodeClock clock(30s);
  Instant now = Instant() + 100s;
  const auto to_and_fro = [&] {
    clock.observe(now, now, 1s);
    now += 1ms;
    EXPECT_GT(clock.observe(now, now, far).step, 7'000'000'000s);
    now += 1ms;
  };
  to_and_fro();
  EXPECT_EQ(clock.stepped(), 30s) << "more than any key can lose counts as much as that";
  to_and_fro();
  EXPECT_EQ(clock.stepped(), 60s);

  NodeClock wild(limits::longest_max_ttl);
  for (int i = 0; i < 400; ++i) {
    const Duration before = wild.stepped();
    wild.observe(now, now, 1s);
    wild.observe(now, now, far);
    EXPECT_GE(wild.stepped(), before);
  }
  ValidityBasis basis;
  basis.nodes = NodeSet::first(1);
  basis.until = Instant() + 10s;
  StepMarks marks{};
  marks[0] = wild.stepped();
  basis.steps = std::make_shared<const StepMarks>(marks);
  EXPECT_EQ(wild.stepped(), uncountable_steps);
  EXPECT_LT(basis.deadline(basis.steps, 1), Instant());
}

TEST(NodeClock, NoticesAClockThatRunsTooFast) {
  NodeClock clock;
  Duration fast{};
  for (int i = 0; i < 100; ++i) {
    const Duration passed = i * 50ms;
    clock.observe(Instant() + passed, Instant() + passed, 1000s + passed + passed / 20);
    fast = passed / 20;
  }
  EXPECT_GE(clock.stepped(), fast - 60ms);
}

TEST(NodeClock, NoticesWhatHidesInTheUncertaintyOfEachReading) {
  NodeClock clock(30s);
  Duration gained{};
  for (int i = 0; i < 60; ++i) {
    // 2 % per second; each reading is uncertain by 10 ms.
    const Instant sent = Instant() + 100s + i * 1s;
    gained = i * 20ms;
    clock.observe(sent, sent + 20ms, 1000s + i * 1s + 10ms + gained);
  }
  EXPECT_GE(clock.stepped(), gained / 2);
  // Drift that validity allows for is no step, however long it lasts.
  NodeClock slow(30s);
  for (int i = 0; i < 60; ++i) {
    const Instant sent = Instant() + 100s + i * 1s;
    slow.observe(sent, sent + 20ms, 1000s + i * 1s + 10ms + i * 10ms);
  }
  EXPECT_EQ(slow.stepped(), 0ms);
}

TEST(ValidityBasis, IsWhatTheQuorumThatLastsLongestHasInCommon) {
  ValidityBasis basis;
  basis.nodes = NodeSet::first(3);
  basis.until = Instant() + 10s;
  StepMarks now{};
  const auto deadline = [&] { return basis.deadline(std::make_shared<const StepMarks>(now), 2); };
  EXPECT_EQ(basis.deadline(nullptr, 2), Instant() + 10s) << "no clock has stepped";
  EXPECT_EQ(deadline(), Instant() + 10s);
  now[0] = 3s;
  EXPECT_EQ(deadline(), Instant() + 10s);
  now[2] = 4s;
  EXPECT_EQ(deadline(), Instant() + 7s);
  basis.nodes.remove(1);
  EXPECT_EQ(deadline(), Instant() + 6s);
  basis.steps = std::make_shared<const StepMarks>(now);
  EXPECT_EQ(deadline(), Instant() + 10s) << "it began behind the steps";
}

}  // namespace
}  // namespace redlock::core::test
