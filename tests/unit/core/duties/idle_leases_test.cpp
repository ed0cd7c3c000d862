#include "core/duties/idle_leases.hpp"

#include <gtest/gtest.h>

#include "borrowed.hpp"

namespace redlock::core::test {
namespace {

struct RestDuty : testing::Test {
  RestDuty() {
    settings.most_idle = 1;
    settings.max_unanswered = 1;
  }
  Claim& awake() {
    Claim& claim = claims.make(Claim::Purpose::acquire, "resource", *Token::parse("token"));
    idle_leases.wake(claim);
    return claim;
  }
  /// A lease that every node has granted.
  Claim& lease() {
    Claim& claim = awake();
    claim.phase.by(me) = Claim::Phase::held;
    claim.round.by(me).begin(1, 3, 2, Instant{}, 10s);
    for (NodeIndex node = 0; node < 3; ++node) claim.round.by(me).record_grant(node, 1ms);
    return claim;
  }
  /// Marks a claim's work, so that another claim that gets it can be recognised: its lists keep
  /// their memory.
  static void make_long(Claim& claim) { claim.work->requests.by(me).reserve(longest); }
  static bool is_long(const Claim& claim) { return claim.work->requests->capacity() >= longest; }
  static constexpr std::size_t longest = 1000;

  Settings settings = settings_of(3);
  Claims claims;
  IdleLeases idle_leases{settings, claims};
};

TEST_F(RestDuty, GivesWorkToAClaimThatHasNone) {
  Claim& claim = awake();
  ASSERT_TRUE(claim.work);
  claim.work->requests.by(me).push_back(CallId{1});
  idle_leases.wake(claim);
  EXPECT_EQ(claim.work->requests->size(), 1U) << "it has some already";
}

TEST_F(RestDuty, PutsTheWorkOfIdleLeasesAwayWhenThereAreMoreThanMayKeepIt) {
  Claim& first = lease();
  idle_leases.note_idle(first);
  idle_leases.note_idle(first);
  idle_leases.begin_step();
  EXPECT_TRUE(first.work) << "one may keep it, and it is one";
  Claim& second = lease();
  idle_leases.note_idle(second);
  idle_leases.begin_step();
  EXPECT_FALSE(first.work);
  EXPECT_FALSE(second.work);
  EXPECT_TRUE(first.round->is_archived()) << "so are the votes of its round";
  EXPECT_EQ(first.round->granted(), NodeSet::first(3)) << "who has granted is known";
  idle_leases.wake(first);
  ASSERT_FALSE(first.round->is_archived());
  EXPECT_EQ(first.round->vote(1).vote, Vote::granted);
}

TEST_F(RestDuty, LeavesItsWorkToAClaimOfWhichSomethingIsUnderWay) {
  Claim& busy = lease();
  Claim& second = lease();
  busy.unanswered.by(me) = 1;
  idle_leases.note_idle(busy);
  idle_leases.note_idle(second);
  idle_leases.begin_step();
  EXPECT_TRUE(second.work) << "it is the only one that is idle";
  busy.unanswered.by(me) = 0;
  idle_leases.note_idle(busy);
  busy.unanswered.by(me) = 1;
  idle_leases.begin_step();
  EXPECT_TRUE(busy.work) << "it was idle, and is not any more";
  EXPECT_FALSE(second.work);
  busy.unanswered.by(me) = 0;
  idle_leases.note_idle(busy);
  idle_leases.note_idle(lease());
  idle_leases.begin_step();
  EXPECT_FALSE(busy.work) << "it is idle again";
}

TEST_F(RestDuty, HandsWorkFromClaimToClaimAsGoodAsNew) {
  Claim& first = lease();
  make_long(first);
  first.work->requests.by(me).push_back(CallId{1});
  first.work->position.by(me).as_client = true;
  idle_leases.archive(first);
  Claim& next = awake();
  EXPECT_TRUE(is_long(next)) << "it has the memory";
  EXPECT_TRUE(next.work->requests->empty()) << "and nothing of the first claim";
  EXPECT_FALSE(next.work->position->as_client);
  next.round.by(me).begin(1, 3, 2, Instant{}, 10s);
  next.round.by(me).record_grant(1, 1ms);
  EXPECT_EQ(next.round->round_trip(1), 1ms) << "its round has votes again";
}

TEST_F(RestDuty, KeepsNoMoreSpareWorkThanCanBeUnderWayAtOnce) {
  Claim& first = lease();
  Claim& second = lease();
  for (Claim* const claim : {&first, &second}) {
    make_long(*claim);
    idle_leases.archive(*claim);
  }
  EXPECT_TRUE(is_long(awake()));
  EXPECT_FALSE(is_long(awake()));
}

}  // namespace
}  // namespace redlock::core::test
