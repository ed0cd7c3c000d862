#include "core/duties/owed_releases.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "borrowed_for_claims.hpp"

namespace redlock::core::test {
namespace {

struct OwedReleasesDuty : testing::Test, BorrowedForClaims {
  /// An attempt that has asked all nodes, has ended and was not released anywhere.
  Claim& ended(const SpecialTerms& terms = {}) {
    Claim& claim = attempt(terms);
    sender.send(claim, Verb::set, nodes.all());
    end(claim);
    begin_step();
    return claim;
  }
  /// Sends the release of the claim to all nodes.
  Claim& released(Claim& claim) {
    end(claim);
    owed_releases.send(claim);
    begin_step();
    return claim;
  }
  /// The node answers its oldest request, which is a release.
  void answer_release(Claim& claim, NodeIndex node, Reply reply) {
    owed_releases.answered(claim, answer(node, reply));
  }
  static constexpr KeyLedger::Release not_executed = KeyLedger::Release::refused;
  [[nodiscard]] static SpecialTerms interval() {
    SpecialTerms terms;
    terms.interval = 60s;
    return terms;
  }
  /// When the first claim is due.
  [[nodiscard]] Instant due() const { return agenda.timers().top()->at; }
};

TEST_F(OwedReleasesDuty, AsksEachNodeThatMayHaveTheKeyAsSoonAsItCan) {
  go_down(2);
  Claim& claim = attempt();
  claim.keys.by(me).assume_present(nodes.all());
  claim.work->position.by(me).as_client = claim.work->position.by(me).again = true;
  claim.work->position.by(me).ticket = 7;
  end(claim);
  owed_releases.send(claim);
  EXPECT_EQ(asked(Verb::release), NodeSet::first(2));
  EXPECT_EQ(last_request().terms.ticket, 7);
  EXPECT_EQ(claim.keys->to_release(), NodeSet::of(2));
  EXPECT_EQ(claim.keys->release_in_flight(), NodeSet::first(2));
  EXPECT_FALSE(claim.keys->resend_due(later(now, settings.longest_limit - 1ms)));
  EXPECT_TRUE(claim.keys->resend_due(later(now, settings.longest_limit)));
  closing.begin(10s);
  owed_releases.send(claim);
  EXPECT_TRUE(claim.keys->resend_due(later(now, settings.longest_limit / 16)))
      << "a client that closes does not wait so long";
  begin_step();
  come_up(2);
  owed_releases.came_up(claim);
  EXPECT_EQ(asked(Verb::release), NodeSet::of(2));
  EXPECT_EQ(last_request().terms.ticket, std::nullopt) << "its client may have left";
  EXPECT_TRUE(claim.touched) << "nothing may be owed any more";
}

TEST_F(OwedReleasesDuty, LeaveTheRestOfAnIntervalOnEveryNode) {
  Claim& claim = lease(interval());
  claim.keys.by(me).absent(1);
  claim.keys.by(me).absent(2);
  end(claim);
  claim.keys.by(me).owe_release(nodes.all());
  owed_releases.send(claim);
  EXPECT_EQ(asked(Verb::release), nodes.all()) << "also where the key is not";
  answer_release(claim, 0, Reply::released);
  answer_release(claim, 1, Reply::gone);
  answer_release(claim, 2, Reply::taken);
  EXPECT_EQ(claim.keys->to_release(), NodeSet::of(2)) << "another key is in the way for a moment";
  begin_step(60s);
  owed_releases.send(claim);
  EXPECT_EQ(asked(Verb::release), NodeSet()) << "the interval is over";
  EXPECT_TRUE(claim.keys->clean());
}

TEST_F(OwedReleasesDuty, TakesTheKeyFromANodeThatGrantsWhenNobodyWantsItAnyMore) {
  Claim& claim = attempt();
  sender.send(claim, Verb::set, nodes.all());
  owed_releases.written(claim, 0);
  EXPECT_EQ(asked(Verb::release), NodeSet()) << "it is still wanted";
  end(claim);
  claim.keys.by(me).owe_release_but_for(NodeSet::of(2));
  owed_releases.send(claim);
  begin_step();
  owed_releases.written(claim, 0);
  EXPECT_EQ(asked(Verb::release), NodeSet()) << "a release is on its way";
  owed_releases.written(claim, 2);
  EXPECT_EQ(asked(Verb::release), NodeSet::of(2));
  Claim& earlier = ended();
  earlier.keys.by(me).release_sent(nodes.all());
  for (NodeIndex node = 0; node < 3; ++node)
    earlier.keys.by(me).release_answered(node, not_executed);
  earlier.work->position.by(me).as_client = earlier.work->position.by(me).again = true;
  earlier.work->position.by(me).ticket = 7;
  owed_releases.written(earlier, 0);
  EXPECT_EQ(last_request().terms.ticket, 7) << "it waits on";
  acquisition_of(earlier).claim.by(me) = {};
  owed_releases.written(earlier, 1);
  EXPECT_EQ(last_request().terms.ticket, std::nullopt) << "a later attempt queues it by itself";
}

TEST_F(OwedReleasesDuty, AsksAgainAfterAnAnswerThatLeavesTheKeyThere) {
  Claim& claim = released(ended());
  for (NodeIndex node = 0; node < 3; ++node) static_cast<void>(answer(node, Reply::taken));
  answer_release(claim, 0, Reply::taken);
  answer_release(claim, 1, Reply::error);
  answer_release(claim, 2, Reply::failed);
  EXPECT_EQ(claim.keys->to_release(), NodeSet::of(1) | NodeSet::of(2));
  EXPECT_EQ(claim.keys->indeterminate(), NodeSet::of(2)) << "it may be executed yet";
  EXPECT_TRUE(claim.keys->resend_due(later(now, nodes[1].in_flight->limit())));
  Claim& held = lease();
  sender.send(held, Verb::release, NodeSet::of(0));
  answer_release(held, 0, Reply::error);
  EXPECT_TRUE(held.keys->clean()) << "the lease goes on";
}

TEST_F(OwedReleasesDuty, NotesHowManyOthersHoldWhatWasShared) {
  const auto holds_left_of = [this](const SpecialTerms& terms) {
    Claim& claim = released(lease(terms));
    for (const std::uint32_t count : {1U, 2U, 0U}) {
      // The last node had no hold of ours.
      Answer said =
          answer(static_cast<NodeIndex>(count), count == 2 ? Reply::taken : Reply::released);
      said.holds = Holds{count, false};
      owed_releases.answered(claim, said);
    }
    return claim.work->holds_left.read();
  };
  SpecialTerms shared;
  shared.group = readers_group;
  EXPECT_EQ(holds_left_of(shared), 2U) << "the most that a node counted";
  EXPECT_EQ(holds_left_of({}), std::nullopt) << "those hold what was ours before";
}

TEST_F(OwedReleasesDuty, WaitsForTheExpiryWhereAReplicaCannotWriteAnyMore) {
  Claim& claim = released(ended());
  static_cast<void>(answer(0, Reply::failed));
  claim.keys.by(me).write_unanswered(0);
  answer_release(claim, 0, Reply::failed);
  owed_releases.acknowledged(0);
  EXPECT_TRUE(claim.keys->indeterminate().has(0)) << "a master is asked";
  Claim& other = attempt();
  sender.send(other, Verb::set, NodeSet::of(0));
  make_replica(0);
  owed_releases.acknowledged(0);
  EXPECT_TRUE(claim.keys->indeterminate().has(0))
      << "the node may still execute what was sent before";
  nodes[0].contact.by(me).killed();
  owed_releases.acknowledged(0);
  EXPECT_TRUE(other.keys->clean()) << "it is not over";
  EXPECT_FALSE(claim.keys->indeterminate().has(0));
  EXPECT_TRUE(claim.keys->to_release().has(0)) << "its role may change before";
  EXPECT_TRUE(claim.touched);
  EXPECT_EQ(due(), gone_by(now, settings.max_ttl));
}

TEST_F(OwedReleasesDuty, SendsAReleaseAfterASetThatNobodyWillCount) {
  Claim& attempted = attempt();
  Claim& held = attempt();
  Claim& answered = attempt();
  for (Claim* const claim : {&attempted, &held, &answered}) {
    sender.send(*claim, Verb::set, NodeSet::of(0));
  }
  held.unasked.by(me).add(2);
  hold(held);
  answered.keys.by(me).set_answered(0);
  begin_step();
  owed_releases.undo_sets(0);
  EXPECT_EQ(count<Request>(), 1U);
  EXPECT_EQ(last_request().stamp.claim(), attempted.id());
  owed_releases.undo_sets(0);
  EXPECT_EQ(count<Request>(), 1U) << "once";
}

}  // namespace
}  // namespace redlock::core::test
