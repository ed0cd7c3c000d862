#include "core/duties/rounds.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "borrowed_for_claims.hpp"

namespace redlock::core::test {
namespace {

struct RoundsDuty : testing::Test, BorrowedForClaims {
  Claim& asked_for(Verb verb, Claim::Task task) {
    Claim& claim = attempt();
    claim.verb.by(me) = verb;
    claim.task.by(me) = task;
    rounds.ask(claim);
    return claim;
  }
  Claim& asked_attempt() { return asked_for(Verb::set, Claim::Task::acquire); }
  /// The vote that the node's answer counts as.
  Vote vote_after(Claim& claim, NodeIndex node, Reply reply, std::string_view text = {}) {
    Answer said = answer(node, reply);
    said.text = text;
    take(claim, said);
    return claim.round->vote(node).vote;
  }
  [[nodiscard]] NodeMetrics metrics(NodeIndex node) const { return meter.report(now).nodes[node]; }
};

TEST_F(RoundsDuty, RecordWhyANodeIsNotAsked) {
  go_down(0);
  quarantine(1);
  congest(2);
  Claim& claim = attempt();
  EXPECT_EQ(rounds.ask(claim), NodeSet());
  EXPECT_EQ(claim.round->vote(0).vote, Vote::unreachable);
  EXPECT_EQ(claim.round->vote(1).vote, Vote::excluded);
  EXPECT_EQ(claim.round->vote(2).vote, Vote::timeout);
  EXPECT_EQ(metrics(2).votes.timeout, 1U) << "operators see it";
  EXPECT_TRUE(claim.unasked->empty());
}

TEST_F(RoundsDuty, AskANodeAsSoonAsItIsKnownWhetherItVotes) {
  const NodeIndex fresh = nodes.learn("learned");
  settings.clock_guard = true;
  Claim& claim = attempt();
  EXPECT_EQ(rounds.ask(claim), NodeSet());
  EXPECT_EQ(claim.unasked, nodes.all()) << "no clock is known";
  EXPECT_EQ(claim.round->pending(), nodes.all());
  std::size_t found = 0;
  claims.each_of_token(claim.token(), [&](Claim& one) { found += &one == &claim; });
  EXPECT_EQ(found, 1U) << "a release by this token stops it";
  Claim& inspection = begun(Claim::Purpose::inspect);
  inspection.verb.by(me) = Verb::inspect;
  EXPECT_EQ(rounds.ask(inspection), NodeSet::first(3)) << "which is no vote";
  EXPECT_EQ(inspection.unasked, NodeSet::of(fresh));
}

TEST_F(RoundsDuty, AskForAnExtendWhereALeaseMayHaveVotes) {
  quarantine(0);
  make_replica(1);
  NodeUp event;
  event.node = 2;
  event.ineligible = "it evicts keys";
  reconnect(event);
  const NodeIndex alias = nodes.learn("another name of node0");
  come_up(alias, "server0");
  ASSERT_TRUE(nodes.find_duplicate(alias));
  Claim& claim = attempt();
  hold(claim);
  begin_extend(claim);
  EXPECT_EQ(rounds.ask(claim), NodeSet::of(0)) << "its vote may be remembered";
  EXPECT_EQ(claim.round->vote(1).vote, Vote::excluded);
  EXPECT_EQ(claim.round->vote(2).vote, Vote::excluded);
  EXPECT_EQ(vote_after(claim, 0, Reply::extended), Vote::excluded) << "it did not remember";
  Claim& inspection = begun(Claim::Purpose::inspect);
  inspection.verb.by(me) = Verb::inspect;
  inspection.task.by(me) = Claim::Task::inspect;
  EXPECT_EQ(rounds.ask(inspection), NodeSet::first(3)) << "which changes nothing";
}

TEST_F(RoundsDuty, CountAnAnswerAsTheVoteThatItIs) {
  Claim& claim = asked_attempt();
  quarantine(0);
  EXPECT_EQ(vote_after(claim, 0, Reply::granted), Vote::excluded) << "a guard spoke meanwhile";
  EXPECT_EQ(vote_after(claim, 1, Reply::granted), Vote::granted);
  EXPECT_EQ(vote_after(claim, 2, Reply::failed), Vote::unreachable);
  Claim& refused = asked_attempt();
  EXPECT_EQ(vote_after(refused, 1, Reply::taken, "holder"), Vote::refused);
  EXPECT_EQ(refused.round->vote(1).text, "holder");
  EXPECT_EQ(vote_after(refused, 2, Reply::error, "OOM"), Vote::error);
  Claim& released = asked_for(Verb::release, Claim::Task::release);
  EXPECT_EQ(vote_after(released, 1, Reply::gone), Vote::refused);
  Claim& inspected = asked_for(Verb::inspect, Claim::Task::inspect);
  EXPECT_EQ(vote_after(inspected, 2, Reply::gone), Vote::granted) << "free is the good answer";
  Claim& fenced = asked_attempt();
  fencing.propose(fenced, 1000s);
  fenced.fencing(me)->left_out.add(1);
  static_cast<void>(answer(1, Reply::done));
  EXPECT_EQ(vote_after(fenced, 1, Reply::granted), Vote::excluded);
  reconnect(1, {Capability::compare});
  Claim& held = attempt();
  hold(held);
  begin_extend(held);
  rounds.ask(held);
  EXPECT_EQ(vote_after(held, 1, Reply::taken, held.token()), Vote::granted)
      << "it says so in other words";
}

TEST_F(RoundsDuty, LeaveOutAnswersToAnEarlierRoundAndWhatIsNoVote) {
  Claim& claim = attempt();
  sender.notify_queued(claim, 2);
  rounds.ask(claim);
  EXPECT_EQ(vote_after(claim, 2, Reply::done), Vote::pending);
  EXPECT_TRUE(claim.touched) << "it may be the last that the claim waits for";
  hold(claim);
  begin_extend(claim);
  rounds.ask(claim);
  EXPECT_EQ(vote_after(claim, 0, Reply::granted), Vote::pending) << "to the round before";
  EXPECT_TRUE(claim.keys->has_vote_of(0)) << "what it says of the key is true all the same";
  EXPECT_EQ(claim.unanswered, 5U);
  EXPECT_EQ(vote_after(claim, 0, Reply::extended), Vote::granted);
  EXPECT_EQ(claim.unanswered, 4U);
}

TEST_F(RoundsDuty, WaitOnForANodeThatIsAskedAgain) {
  Claim& claim = asked_for(Verb::take, Claim::Task::acquire);
  EXPECT_EQ(vote_after(claim, 1, Reply::script_missing), Vote::pending);
  EXPECT_EQ(claim.unanswered, 3U);
  EXPECT_FALSE(claim.touched);
  EXPECT_EQ(vote_after(claim, 1, Reply::script_missing), Vote::error) << "it does not learn it";
  EXPECT_EQ(claim.unanswered, 2U);
}

TEST_F(RoundsDuty, CountWhatMostNodesAnswerAsIfItWereAnyAnswer) {
  Claim& usual = asked_attempt();
  Claim& quick = asked_attempt();
  quarantine(2);
  for (NodeIndex node = 0; node < 3; ++node) {
    take(usual, answer(node, Reply::granted));
    const Answer grant = answer(node, Reply::granted);
    rounds.take_grant(quick, node, grant.stamp, 1ms);
  }
  for (const Claim* const claim : {&usual, &quick}) {
    EXPECT_EQ(claim->round->granted(), NodeSet::first(2));
    EXPECT_EQ(claim->round->vote(2).vote, Vote::excluded);
    EXPECT_EQ(claim->keys->votes(), NodeSet::first(2));
    EXPECT_EQ(claim->keys->set_in_flight(), NodeSet());
    EXPECT_EQ(claim->unanswered, 0U);
    EXPECT_TRUE(claim->touched);
  }
  EXPECT_EQ(metrics(0).votes.granted, 2U);
  EXPECT_EQ(metrics(2).votes.excluded, 2U);
  Claim& released = asked_for(Verb::release, Claim::Task::release);
  released.keys.by(me).release_sent(nodes.all());
  rounds.take_release(released, 0, answer(0, Reply::released).stamp, 1ms);
  EXPECT_EQ(released.round->granted(), NodeSet::of(0));
  EXPECT_FALSE(released.keys->release_in_flight().has(0));
  EXPECT_EQ(released.unanswered, 2U);
}

}  // namespace
}  // namespace redlock::core::test
