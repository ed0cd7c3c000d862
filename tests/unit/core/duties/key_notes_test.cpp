#include "core/duties/key_notes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "borrowed_for_claims.hpp"

namespace redlock::core::test {
namespace {

struct KeyNotesDuty : testing::Test, BorrowedForClaims {
  Claim& asked_attempt(const SpecialTerms& terms = {}, Verb verb = Verb::set) {
    Claim& claim = attempt(terms);
    sender.send(claim, verb, nodes.all());
    begin_step();
    return claim;
  }
  /// A lease whose extend was sent to all nodes.
  Claim& extended(Verb verb = Verb::extend) {
    Claim& claim = lease();
    begin_extend(claim);
    sender.send(claim, verb, nodes.all());
    begin_step();
    return claim;
  }
  void set(Claim& claim, NodeIndex node, Reply reply, std::string_view text = {}) {
    Answer said = answer(node, reply);
    said.text = text;
    key_notes.set_answered(claim, said);
  }
  void extend(Claim& claim, NodeIndex node, Reply reply) {
    key_notes.extend_answered(claim, answer(node, reply));
  }
};

TEST_F(KeyNotesDuty, NoteWhereTheKeyIsAndWhetherItIsAVote) {
  quarantine(1);
  TrackedKeys::Entry& tracked = tracking.resources().use("resource");
  Claim& claim = asked_attempt();
  begin_step(4s);
  set(claim, 0, Reply::granted);
  set(claim, 1, Reply::granted);
  EXPECT_EQ(claim.keys->votes(), NodeSet::of(0));
  EXPECT_EQ(claim.keys->present(), NodeSet::first(3)) << "it is to be released there, too";
  EXPECT_EQ(claim.keys->set_in_flight(), NodeSet::of(2));
  EXPECT_EQ(claim.keys->left(now), claim.keys->left_once_written()) << "it may be there only now";
  EXPECT_FALSE(tracked.second.asked.has(0)) << "nodes do not notify us of what we write";
  lost_votes.lose(0);
  set(claim, 2, Reply::granted);
  EXPECT_EQ(claim.keys->votes(), NodeSet::of(2));
  Claim& other = asked_attempt();
  set(other, 0, Reply::taken, "another");
  set(other, 1, Reply::error, "OOM");
  set(other, 2, Reply::failed);
  EXPECT_EQ(other.keys->present(), NodeSet::of(2));
  EXPECT_EQ(other.keys->indeterminate(), NodeSet::of(2)) << "it may be written yet";
  Claim& third = asked_attempt();
  hold(third);
  begin_extend(third);
  set(third, 0, Reply::taken, "another");
  EXPECT_TRUE(third.keys->present().has(0)) << "the extend that is under way may set it there";
  Claim& fourth = extended();
  begin_extend(fourth);
  extend(fourth, 0, Reply::taken);
  EXPECT_TRUE(fourth.keys->present().has(0)) << "the extend that is under way may set it there";
}

TEST_F(KeyNotesDuty, AddToTheBasisOfALeaseTheNodesThatGrantedLate) {
  Claim& claim = asked_attempt();
  hold(claim);
  set(claim, 0, Reply::granted);
  EXPECT_EQ(claim.lease().basis.nodes, NodeSet::of(0));
  claim.lease(me).basis.round = 2;
  set(claim, 1, Reply::granted);
  EXPECT_EQ(claim.lease().basis.nodes, NodeSet::of(0)) << "the deadline rests on another round";
  set(claim, 2, Reply::taken);
  EXPECT_EQ(claim.lease().basis.nodes, NodeSet::of(0));
}

TEST_F(KeyNotesDuty, ForgetTheVoteOfANodeThatDoesNotSayThatItKeptTheKey) {
  Claim& claim = extended();
  extend(claim, 0, Reply::extended);
  extend(claim, 1, Reply::error);
  extend(claim, 2, Reply::gone);
  EXPECT_EQ(claim.keys->votes(), NodeSet::first(2)) << "an error leaves whatever was there";
  EXPECT_EQ(claim.keys->present(), NodeSet::first(2));
  Claim& other = extended(Verb::extend_or_set);
  extend(other, 0, Reply::repaired);
  extend(other, 1, Reply::failed);
  EXPECT_EQ(other.keys->votes(), NodeSet::of(2)) << "a key that was given back is a new one";
  EXPECT_EQ(other.keys->present(), NodeSet::first(3));
  EXPECT_EQ(other.keys->indeterminate(), NodeSet::of(1));
  ignore_answers();
  Claim& third = extended();
  quarantine(0);
  lost_votes.lose(0);
  Answer of_several = answer(0, Reply::extended);
  of_several.holds = Holds{2, false};
  key_notes.extend_answered(third, of_several);
  EXPECT_TRUE(third.is_hold);
  EXPECT_FALSE(third.keys->votes().has(0)) << "the node may have set it in its quarantine";
}

TEST_F(KeyNotesDuty, KeepTheOtherResourcesInMindWhenANodeHasLostOneOfSeveral) {
  const std::vector<std::string> others{"another resource"};
  Claim& claim = extended();
  claim.set_terms(me, {{others.begin(), others.end()}, {}, 0, {}, {}});
  extend(claim, 0, Reply::taken);
  extend(claim, 1, Reply::gone);
  EXPECT_EQ(claim.keys->votes(), NodeSet::of(2));
  EXPECT_EQ(claim.keys->present(), NodeSet::first(3)) << "to be released";
}

TEST_F(KeyNotesDuty, GiveTheKeyBackToANodeThatLostItWhileTheLeaseLasts) {
  const auto asked_after_a_straggler = [this](auto&& change) {
    Claim& claim = extended();
    for (NodeIndex node = 0; node < 2; ++node) claim.round.by(me).record_grant(node, 1ms);
    claim.task.by(me) = Claim::Task::none;
    change(claim);
    extend(claim, 2, Reply::gone);
    ignore_answers();
    return asked(Verb::extend_or_set);
  };
  EXPECT_EQ(asked_after_a_straggler([](Claim&) {}), NodeSet::of(2));
  const auto still_to_be_decided = [](Claim& claim) { claim.task.by(me) = Claim::Task::extend; };
  EXPECT_EQ(asked_after_a_straggler(still_to_be_decided), NodeSet());
  const auto most_lack_it = [this](Claim& claim) {
    voters.begin_round(claim, claim.round->number(), 10s);
    claim.round.by(me).record(0, Vote::refused, {});
  };
  EXPECT_EQ(asked_after_a_straggler(most_lack_it), NodeSet()) << "with this one";
  const auto downgraded = [](Claim& claim) { claim.verb.by(me) = Verb::downgrade; };
  EXPECT_EQ(asked_after_a_straggler(downgraded), NodeSet()) << "the lease may be released after it";
  const auto over = [this](Claim& claim) { claim.valid_until.by(me) = now; };
  EXPECT_EQ(asked_after_a_straggler(over), NodeSet());
  const auto lost = [](Claim& claim) { claim.phase.by(me) = Claim::Phase::lost; };
  EXPECT_EQ(asked_after_a_straggler(lost), NodeSet());
  const auto one_of_several = [](Claim& claim) {
    claim.purpose.by(me) = Claim::Purpose::extend;
    claim.phase.by(me) = Claim::Phase::cleaning_up;
    claim.is_hold.by(me) = true;
  };
  EXPECT_EQ(asked_after_a_straggler(one_of_several), NodeSet());
}

TEST_F(KeyNotesDuty, AskNextOnThatNodeForWhatItsAnswerCallsFor) {
  SpecialTerms terms;
  terms.orphan_ttl = 30s;
  Claim& claim = asked_attempt(terms);
  Answer refusal = answer(0, Reply::taken);
  refusal.remaining = 5s;
  key_notes.set_answered(claim, refusal);
  EXPECT_EQ(asked(Verb::expire_orphan), NodeSet()) << "the key expires";
  set(claim, 1, Reply::taken);
  EXPECT_EQ(asked(Verb::expire_orphan), NodeSet::of(1));
  Claim& late = asked_attempt();
  end(late);
  late.keys.by(me).owe_release_but_for(nodes.all());
  set(late, 2, Reply::granted);
  EXPECT_EQ(asked(Verb::release), NodeSet::of(2)) << "nobody wants it any more";
  ignore_answers();
  Claim& queued = asked_attempt({}, Verb::take);
  hold(queued);
  queued.work->position.by(me).ticket = 7;
  queued.work->position.by(me).unanswered = nodes.all();
  set(queued, 0, Reply::granted);
  set(queued, 1, Reply::taken);
  EXPECT_EQ(asked(Verb::leave_queue), NodeSet::of(1)) << "it was queued for nothing";
  EXPECT_EQ(queued.work->position->unanswered, NodeSet::of(2));
  ignore_answers();
  Claim& fenced = attempt();
  fencing.propose(fenced, 1000s);
  sender.send(fenced, Verb::take, nodes.all());
  set(fenced, 0, Reply::granted);
  EXPECT_EQ(asked(Verb::raise_fence), NodeSet());
  fencing.raise(fenced);
  set(fenced, 1, Reply::granted);
  EXPECT_EQ(asked(Verb::raise_fence), NodeSet::of(1)) << "the others were asked for more";
  EXPECT_EQ(fenced.fencing()->asked, NodeSet::of(1)) << "its answer is waited for";
}

TEST_F(KeyNotesDuty, PassOnThatAReleaseWasExecuted) {
  Claim& broken = begun(Claim::Purpose::release);
  broken.by_operator.by(me) = true;
  broken.keys.by(me).assume_present(nodes.all());
  sender.send(broken, Verb::release, nodes.all());
  for (NodeIndex node = 0; node < 3; ++node) {
    Answer said = answer(node, node < 2 ? Reply::released : Reply::gone);
    said.queued = node == 0;
    key_notes.release_answered(broken, said);
  }
  EXPECT_EQ(asked(Verb::write_audit), NodeSet::first(2)) << "which remember who broke it";
  EXPECT_EQ(asked(Verb::notify), NodeSet::of(0)) << "somebody is queued there";
  EXPECT_EQ(broken.keys->present(), NodeSet());
  ignore_answers();
  Claim& other = begun(Claim::Purpose::release);
  sender.send(other, Verb::release, NodeSet::of(2));
  key_notes.release_answered(other, answer(2, Reply::released));
  EXPECT_EQ(asked(Verb::write_audit), NodeSet::first(2)) << "no operator did it";
}

TEST_F(KeyNotesDuty, TellTheAcquisitionWhatWasInItsWay) {
  Claim& claim = asked_attempt();
  set(claim, 0, Reply::taken, "another");
  EXPECT_FALSE(acquisition_of(claim).by_script);
  set(claim, 1, Reply::taken, readers_group);
  EXPECT_TRUE(acquisition_of(claim).by_script) << "only a script keeps new readers out";
  Claim& other = asked_attempt();
  end(other);
  set(other, 0, Reply::taken, readers_group);
  EXPECT_FALSE(acquisition_of(other).by_script) << "the attempt is over";
  SpecialTerms permit;
  permit.permits = 2;
  Claim& third = asked_attempt(permit, Verb::take_permit);
  set(third, 0, Reply::taken, "01");
  EXPECT_EQ(acquisition_of(third).free_permits.read()[1], 1U);
}

}  // namespace
}  // namespace redlock::core::test
