#include "core/duties/voters.hpp"

#include <gtest/gtest.h>

#include "borrowed.hpp"

namespace redlock::core::test {
namespace {

struct VotersDuty : testing::Test {
  Claim& make() { return claims.make(Claim::Purpose::acquire, "resource", *Token::parse("token")); }
  Claim& begun() {
    Claim& claim = make();
    voters.begin_round(claim, 1, 10s);
    return claim;
  }
  void mark(NodeIndex node, std::string_view deployment) {
    Marker marker = borrowed.marker_of(node);
    marker.deployment = deployment;
    borrowed.mark(node, marker);
  }
  void quarantine(NodeIndex node) {
    borrowed.nodes[node].mandate.by(me).quarantine(later(borrowed.now, 30s), "it restarted");
  }

  Borrowed borrowed{3};
  Claims claims;
  LostVotes lost_votes;
  IdleLeases idle_leases{borrowed.settings, claims};
  Meter meter{borrowed.settings, borrowed.nodes};
  Voters voters{borrowed.now, borrowed.nodes, lost_votes, idle_leases, meter};
};

TEST_F(VotersDuty, AreOfTheDeploymentThatCountedWhenTheRoundBegan) {
  for (NodeIndex node = 0; node < 3; ++node) mark(node, node < 2 ? "first" : "second");
  Claim& claim = begun();
  EXPECT_EQ(voters.of(claim), NodeSet::first(2));
  EXPECT_FALSE(voters.has_vote(claim, 2));
  mark(1, "second");
  EXPECT_EQ(voters.of(claim), NodeSet::of(0)) << "which has no quorum now";
  EXPECT_TRUE(voters.has_vote(claim, 0));
  EXPECT_FALSE(voters.has_vote(claim, 1));
  EXPECT_FALSE(voters.extends(claim, 1));
  voters.begin_round(claim, 2, 10s);
  EXPECT_EQ(voters.of(claim), NodeSet::first(3) - NodeSet::of(0)) << "another deployment counts";
  EXPECT_TRUE(voters.has_vote(claim, 1));
}

TEST_F(VotersDuty, RememberTheWholeIntervalForWhichALeaseIsToKeepOthersOut) {
  for (NodeIndex node = 0; node < 3; ++node) {
    Marker marker = borrowed.marker_of(node);
    if (node == 2) marker.remembers_since = std::chrono::microseconds(1);
    borrowed.mark(node, marker);
  }
  SpecialTerms terms;
  terms.interval = 60s;
  Claim& claim = make();
  claim.set_terms(me, terms);
  voters.begin_round(claim, 1, 10s);
  EXPECT_EQ(voters.of(claim), NodeSet::first(2)) << "one has just come back";
  EXPECT_FALSE(voters.has_vote(claim, 2));
  EXPECT_EQ(voters.of(begun()), NodeSet::first(3)) << "a lease without an interval";
  borrowed.begin_step(120s);
  EXPECT_EQ(voters.of(claim), NodeSet::first(3));
  EXPECT_TRUE(voters.has_vote(claim, 2));
}

TEST_F(VotersDuty, ExtendInQuarantineOnlyWhatTheyHaveNotForgotten) {
  Claim& claim = begun();
  claim.keys.by(me).voted(0);
  claim.keys.by(me).voted(1);
  quarantine(0);
  quarantine(1);
  lost_votes.lose(1);
  EXPECT_EQ(voters.of(claim), NodeSet::of(2)) << "new leases are another matter";
  EXPECT_FALSE(voters.has_vote(claim, 0));
  EXPECT_TRUE(voters.extends(claim, 0));
  EXPECT_FALSE(voters.extends(claim, 1));
  EXPECT_TRUE(voters.extends(claim, 2));
}

TEST_F(VotersDuty, ThatAreNotAskedAreCountedOnceForEachRoundThatVotes) {
  borrowed.go_down(1);
  Claim& claim = begun();
  const auto counted = [this] { return meter.report(borrowed.now).nodes[1].votes.unreachable; };
  voters.record_absent(claim, 1);
  EXPECT_EQ(claim.round->vote(1).text, "it is gone");
  EXPECT_EQ(counted(), 1U);
  voters.record_absent(claim, 1);
  EXPECT_EQ(counted(), 1U) << "it has voted";
  voters.begin_round(claim, 2, 10s);
  claim.verb.by(me) = Verb::release;
  voters.record_absent(claim, 1);
  EXPECT_EQ(claim.round->vote(1).vote, Vote::unreachable);
  EXPECT_EQ(counted(), 1U) << "a release is no vote";
}

TEST_F(VotersDuty, AreNotOtherNamesOfNodesThatAreInTheRound) {
  const NodeIndex learned = borrowed.nodes.learn("another name of node0");
  borrowed.come_up(learned, "server0");
  EXPECT_TRUE(borrowed.nodes.find_duplicate(learned));
  EXPECT_EQ(begun().round->left_out(), NodeSet::of(learned));
}

TEST_F(VotersDuty, SayWhyACallThatAskedNobodyCouldNotAskThem) {
  borrowed.settings.clock_guard = true;
  borrowed.go_down(0);
  quarantine(1);
  Acquisition acquisition;
  voters.record_all_absent(acquisition);
  EXPECT_TRUE(acquisition.has_last);
  EXPECT_EQ(acquisition.last->vote(0).vote, Vote::unreachable);
  EXPECT_EQ(acquisition.last->vote(1).vote, Vote::excluded);
  EXPECT_EQ(acquisition.last->vote(2).vote, Vote::pending)
      << "only its clock has not been compared yet";
  mark(1, "first");
  mark(2, "second");
  voters.record_all_absent(acquisition);
  EXPECT_EQ(acquisition.last->vote(2).vote, Vote::excluded);
  mark(2, "first");
  voters.record_all_absent(acquisition);
  EXPECT_EQ(acquisition.last->vote(2).vote, Vote::pending);
  borrowed.nodes[2].set_clock_far(me, true);
  voters.record_all_absent(acquisition);
  EXPECT_EQ(acquisition.last->vote(2).vote, Vote::excluded);
}

}  // namespace
}  // namespace redlock::core::test
