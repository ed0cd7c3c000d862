#include "core/duties/meter.hpp"

#include <gtest/gtest.h>

#include "borrowed.hpp"
#include "core/claim/claims.hpp"

namespace redlock::core::test {
namespace {

struct MeterDuty : testing::Test {
  [[nodiscard]] Metrics report() const { return meter.report(borrowed.now); }
  [[nodiscard]] NodeMetrics of(NodeIndex node) const { return report().nodes[node]; }
  /// Counts a node's answer to a request for a vote, after a millisecond.
  void count(NodeIndex node, Reply reply) {
    Answer answer;
    answer.node = node;
    answer.reply = reply;
    meter.count_vote(claim, answer, Vote::unreachable, 1ms);
  }

  Borrowed borrowed{3};
  Claims claims;
  Claim& claim = claims.make(Claim::Purpose::acquire, "resource", *Token::parse("token"));
  Acquisition acquisition;
  Meter meter{borrowed.settings, borrowed.nodes};
};

TEST_F(MeterDuty, CountsCallsByHowTheyEndAndThoseThatWaitUntilThen) {
  acquisition.began.by(me) = borrowed.now;
  acquisition.is_waiting.by(me) = true;
  meter.wait_began();
  meter.wait_began();
  EXPECT_EQ(report().acquires_waiting, 2U);
  borrowed.begin_step(3ms);
  meter.granted(acquisition, claim, borrowed.now);
  EXPECT_EQ(report().acquires_waiting, 1U);
  EXPECT_EQ(report().waits.sum, 3ms);
  meter.failed(acquisition, Errc::held);
  EXPECT_EQ(report().acquires_waiting, 0U);
  acquisition.is_waiting.by(me) = false;
  meter.granted(acquisition, claim, borrowed.now);
  meter.failed(acquisition, Errc::split);
  meter.refused(Errc::limit_reached);
  EXPECT_EQ(report().acquires_waiting, 0U) << "those never waited";
  const Metrics::Acquires acquires = report().acquires;
  EXPECT_EQ(acquires.granted, 2U);
  EXPECT_EQ(acquires.held, 1U);
  EXPECT_EQ(acquires.split, 1U);
  EXPECT_EQ(acquires.limit_reached, 1U);
}

TEST_F(MeterDuty, CountsAVoteByWhatTheAnswerWasWorth) {
  claim.keys.by(me).voted(0);
  count(0, Reply::granted);
  count(0, Reply::behind);
  EXPECT_EQ(of(0).votes.granted, 2U);
  count(1, Reply::granted);
  EXPECT_EQ(of(1).votes.excluded, 1U) << "a guard has taken its vote";
  EXPECT_EQ(of(1).votes.granted, 0U);
  count(2, Reply::taken);
  count(2, Reply::error);
  EXPECT_EQ(of(2).votes.refused, 1U);
  EXPECT_EQ(of(2).votes.error, 1U);
  EXPECT_EQ(of(2).votes.granted, 0U);
  EXPECT_EQ(of(2).round_trips.count(), 2U);
  EXPECT_EQ(of(2).round_trips.sum, 2ms);
}

TEST_F(MeterDuty, CountsVotesOfNodesThatDidNotAnswerWithoutARoundTrip) {
  Answer none;
  none.node = 1;
  none.reply = Reply::failed;
  meter.count_vote(claim, none, Vote::timeout, {});
  meter.did_not_answer(1, Vote::unreachable);
  EXPECT_EQ(of(1).votes.timeout, 1U);
  EXPECT_EQ(of(1).votes.unreachable, 1U);
  EXPECT_EQ(of(1).votes.granted, 0U);
  EXPECT_EQ(of(1).round_trips.count(), 0U);
}

TEST_F(MeterDuty, TellsLeasesApartByHowTheirAcquireCameToThem) {
  acquisition.by_notification.by(me) = true;
  meter.granted(acquisition, claim, borrowed.now);
  acquisition.by_notification.by(me) = false;
  claim.begin_fencing(me).rounds = 1;
  meter.granted(acquisition, claim, borrowed.now);
  claim.fencing(me)->rounds = 2;
  meter.granted(acquisition, claim, borrowed.now);
  meter.granted(acquisition, claim, borrowed.now);
  EXPECT_EQ(report().handovers, 1U);
  EXPECT_EQ(report().fenced_in_one_round, 1U);
  EXPECT_EQ(report().fenced_in_more_rounds, 2U);
}

TEST_F(MeterDuty, ShowsTheNodesAsTheyAreAtThatInstant) {
  meter.connected(0);
  EXPECT_EQ(of(0).reconnects, 0U) << "the first connection is none";
  meter.connected(0);
  EXPECT_EQ(of(0).reconnects, 1U);
  EXPECT_EQ(of(1).reconnects, 0U);
  borrowed.nodes[1].mandate.by(me).quarantine(later(borrowed.now, 30s), "its clock stepped");
  borrowed.go_down(2);
  borrowed.begin_step(10s);
  EXPECT_TRUE(of(0).may_vote);
  EXPECT_TRUE(of(1).up);
  EXPECT_FALSE(of(1).may_vote);
  EXPECT_EQ(of(1).quarantine, 20s);
  EXPECT_FALSE(of(2).up);
  borrowed.begin_step(30s);
  EXPECT_EQ(of(1).quarantine, 0s) << "it is over";
}

}  // namespace
}  // namespace redlock::core::test
