#include "core/duties/agenda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "borrowed.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/idle_leases.hpp"
#include "core/waiting/acquisitions.hpp"

namespace redlock::core::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct AgendaDuty : testing::Test {
  AgendaDuty() {
    idle_leases.wake(claim);
    claim.round.by(me).begin(1, 3, 2, borrowed.now, 9s);
    claim.task.by(me) = Claim::Task::acquire;
    claim.valid_until.by(me) = in(9s);
    claim.unanswered.by(me) = 1;
  }
  [[nodiscard]] Instant in(Duration after) const { return later(borrowed.now, after); }
  /// When the first timer is due; none: no timer is set.
  [[nodiscard]] std::optional<Instant> due() const {
    const TimerHeap::Entry* const top = agenda.timers().top();
    return top != nullptr ? std::optional(top->at) : std::nullopt;
  }
  std::optional<Instant> due_after_retiming() {
    agenda.retime(claim);
    return due();
  }
  void hold() {
    claim.phase.by(me) = Claim::Phase::held;
    claim.task.by(me) = Claim::Task::none;
    claim.lease(me).renewal.begin(RenewalLimits{100, 1h}, borrowed.now, 9s);
  }
  std::vector<std::uint32_t> touched_if_decided() {
    agenda.touched().clear();
    claim.touched.by(me) = false;
    agenda.touch_if_decided(claim);
    return agenda.touched();
  }

  Borrowed borrowed{3};
  Claims claims;
  Acquisitions acquisitions;
  IdleLeases idle_leases{borrowed.settings, claims};
  Claim& claim = claims.make(Claim::Purpose::acquire, "resource", *Token::parse("token"));
  Agenda agenda{borrowed.now, borrowed.nodes};
};

TEST_F(AgendaDuty, ListsAClaimOnceUntilItIsHandled) {
  agenda.touch(claim);
  agenda.touch(claim);
  EXPECT_THAT(agenda.touched(), ElementsAre(claim.index));
  agenda.touched().clear();
  claim.touched.by(me) = false;
  agenda.touch(claim);
  EXPECT_THAT(agenda.touched(), ElementsAre(claim.index));
}

TEST_F(AgendaDuty, LeavesOutAClaimOfWhichTheAnswerDecidesNothing) {
  claim.round.by(me).record_grant(0, 1ms);
  EXPECT_THAT(touched_if_decided(), IsEmpty()) << "one of three";
  claim.unanswered.by(me) = 0;
  EXPECT_THAT(touched_if_decided(), ElementsAre(claim.index)) << "it waits for nothing more";
  claim.unanswered.by(me) = 1;
  claim.round.by(me).record_grant(1, 1ms);
  EXPECT_THAT(touched_if_decided(), ElementsAre(claim.index)) << "the round is won";
}

TEST_F(AgendaDuty, KnowsForEachTaskWhatMayDecideIt) {
  EXPECT_FALSE(Agenda::may_be_decided(claim));
  claim.task.by(me) = Claim::Task::fence;
  EXPECT_TRUE(Agenda::may_be_decided(claim)) << "an answer that is no vote may decide it";
  claim.task.by(me) = Claim::Task::release;
  claim.round.by(me).record_grant(0, 1ms);
  EXPECT_FALSE(Agenda::may_be_decided(claim));
  claim.round.by(me).record(1, Vote::refused, {});
  EXPECT_TRUE(Agenda::may_be_decided(claim)) << "too few others are left to say that it was ours";
  claim.task.by(me) = Claim::Task::none;
  claim.phase.by(me) = Claim::Phase::cleaning_up;
  EXPECT_FALSE(Agenda::may_be_decided(claim)) << "a request of it is unanswered";
  claim.unanswered.by(me) = 0;
  EXPECT_TRUE(Agenda::may_be_decided(claim));
}

TEST_F(AgendaDuty, HasAnAttemptDueAtItsDeadlineAndACallByTokenNever) {
  EXPECT_EQ(due_after_retiming(), in(9s));
  claim.valid_until.by(me) = in(5s);
  EXPECT_EQ(due_after_retiming(), in(5s)) << "one instant for each claim";
  claim.phase.by(me) = Claim::Phase::by_token;
  EXPECT_EQ(due_after_retiming(), std::nullopt);
}

TEST_F(AgendaDuty, HasALeaseDueForTheRenewalTheWarningAndTheDeadline) {
  hold();
  EXPECT_EQ(due_after_retiming(), in(3s)) << "to renew it";
  claim.task.by(me) = Claim::Task::extend;
  EXPECT_EQ(due_after_retiming(), in(6s)) << "a renewal is under way: to warn the holder";
  claim.lease(me).renewal.warned();
  EXPECT_EQ(due_after_retiming(), in(9s)) << "to tell that it is lost";
  claim.work->queued.by(me).push_back({CallId{1}, 9s});
  EXPECT_EQ(due_after_retiming(), in(9s)) << "the extend that is under way comes first";
  claim.task.by(me) = Claim::Task::none;
  EXPECT_EQ(due_after_retiming(), in(0s));
}

TEST_F(AgendaDuty, HasAFinishedClaimDueOnlyWhileAReleaseIsOwed) {
  claim.phase.by(me) = Claim::Phase::cleaning_up;
  claim.keys.by(me).expires_by(in(9s));
  EXPECT_EQ(due_after_retiming(), std::nullopt);
  claim.keys.by(me).owe_release(NodeSet::of(1));
  claim.keys.by(me).resend_at(in(1s));
  EXPECT_EQ(due_after_retiming(), in(1s));
  borrowed.go_down(1);
  EXPECT_EQ(due_after_retiming(), in(9s)) << "it cannot be asked: until the key has expired";
  agenda.forget(claim);
  EXPECT_EQ(due(), std::nullopt);
}

TEST_F(AgendaDuty, TellsAcquisitionsFromClaimsOfTheSameIndex) {
  Acquisition& acquisition = acquisitions.make(CallId{1});
  ASSERT_EQ(acquisition.index, claim.index);
  agenda.retime(claim);
  agenda.set(acquisition, in(4s));
  EXPECT_EQ(due(), in(4s));
  EXPECT_EQ(TimerHeap::kind_of(agenda.timers().top()->key), TimerHeap::Kind::acquisition);
  agenda.set(acquisition, std::nullopt);
  EXPECT_EQ(due(), in(9s)) << "the claim's instant stands";
}

}  // namespace
}  // namespace redlock::core::test
