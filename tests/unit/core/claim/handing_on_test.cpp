// A lease that is handed on while its former owner's requests are under way.

#include <gtest/gtest.h>

#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

struct Waiting : Harness {
  Waiting() : Harness(3) {
    ready(*this);
    releases_lost = false;
  }
  std::string detach() { return step(Detach{lease}); }
};

TEST(HandingOn, KeepsALostLeaseAsItIsUntilItIsKnownWhoWasFirst) {
  Waiting h;
  h.hold(10s);
  EXPECT_EQ(h.pass(9898ms), "lost");
  EXPECT_EQ(h.pass(60s), "");
  EXPECT_EQ(h.extend(2, 10s), "failed #2 not_holder");
  EXPECT_EQ(h.engine().held(), 0U);
  EXPECT_EQ(h.detach(), "") << "its holder was in time: the new owner releases it";
  EXPECT_EQ(h.settled(), "yes");
}

TEST(HandingOn, ReleasesALostLeaseForTheCallerThatWasFirst) {
  Waiting h;
  h.hold(10s);
  EXPECT_EQ(h.pass(9898ms), "lost");
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
  EXPECT_EQ(h.answers({0, 1}, Reply::released), "released #2");
  EXPECT_EQ(h.detach(), "") << "too late";
  h.answer(2, Reply::released);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(HandingOn, NeitherRepairsNorExtendsWhatWasHandedOn) {
  Waiting h;
  h.hold(10s);
  h.extend(2, 10s);
  h.answer(0, Reply::extended);
  EXPECT_EQ(h.detach(), "failed #2 cancelled");
  EXPECT_EQ(h.answer(1, Reply::gone), "");
  EXPECT_EQ(h.answer(2, Reply::script_missing), "") << "an extend is not sent again either";
  EXPECT_EQ(h.settled(), "yes");
}

TEST(HandingOn, GivesALateNodeItsKeyOnlyUntilTheDeadline) {
  for (const bool late : {false, true}) {
    Harness h(3);
    h.tick();
    h.up(0);
    h.up(1);
    EXPECT_EQ(h.acquire(1, 10s), "set t1 -> 0 1");
    h.answers({0, 1}, Reply::granted);
    EXPECT_EQ(h.step(Detach{h.lease}), "");
    if (late) h.oversleep(9898ms);
    EXPECT_EQ(h.up(2), late ? "" : "set t1 -> 2");
  }
}

struct Adopting : Waiting {
  std::string adopt(std::uint64_t fencing_number) {
    Adopt event;
    event.request = CallId{1};
    event.resource = "r";
    event.token = *Token::parse("abc");
    event.ttl = 10s;
    event.fencing_number = fencing_number;
    std::string out = step(event);
    EXPECT_EQ(out, "extend abc -> 0 1 2");
    answer(0, Reply::extended);
    return answer(1, Reply::extended);
  }
  [[nodiscard]] std::uint64_t number() { return engine().claim(lease)->fencing()->number; }
};

TEST(HandingOn, KeepsTheFencingNumberIfNoNodeOfAQuorumHasALargerOne) {
  Adopting h;
  EXPECT_EQ(h.adopt(700), "raise abc 700 -> 0 1");
  EXPECT_EQ(h.fenced(0, Reply::behind, 700), "");
  EXPECT_EQ(h.answer(2, Reply::gone), "extend-or-set abc -> 2");
  EXPECT_EQ(h.fenced(1, Reply::granted, 700), "acquired #1 until 9898ms") << "it had forgotten it";
  EXPECT_EQ(h.number(), 700U);
}

TEST(HandingOn, RaisesTheFencingNumberAboveThoseThatOthersAskedFor) {
  Adopting h;
  EXPECT_EQ(h.adopt(700), "raise abc 700 -> 0 1");
  h.fenced(0, Reply::behind, 700);
  EXPECT_EQ(h.fenced(1, Reply::behind, 800), "raise abc 801 -> 0 1");
  h.fenced(0, Reply::granted, 801);
  EXPECT_EQ(h.fenced(1, Reply::granted, 801), "acquired #1 until 9898ms");
  EXPECT_EQ(h.number(), 801U);
}

TEST(HandingOn, FailsIfTheFencingNumberCannotBeCheckedInTime) {
  Adopting h;
  h.adopt(700);
  h.fenced(0, Reply::behind, 700);
  EXPECT_EQ(h.down(1), "failed #1 unavailable");
  Adopting late;
  late.adopt(700);
  late.oversleep(9898ms);
  EXPECT_EQ(late.fenced(0, Reply::behind, 700), "failed #1 expired");
}

TEST(HandingOn, AdoptsAWritersLockAsAReadersInItsFirstRound) {
  Waiting h;
  Adopt event;
  event.request = CallId{1};
  event.resource = "r";
  event.token = *Token::parse("abc");
  event.ttl = 10s;
  event.group = readers_group;
  EXPECT_EQ(h.step(event), "extend abc -> 0 1 2");
  const Request* const request = request_in(h.commands().front());
  ASSERT_NE(request, nullptr);
  EXPECT_TRUE(request->terms.downgraded) << "a writer's key becomes a reader's hold";
  EXPECT_TRUE(request->terms.by_token);
  h.answer(0, Reply::extended, {}, {}, Holds{1, false});
  EXPECT_EQ(h.answer(1, Reply::extended, {}, {}, Holds{1, false}), "acquired #1 until 9898ms");
}

}  // namespace
}  // namespace redlock::core::test
