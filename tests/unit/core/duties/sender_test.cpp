#include "core/duties/sender.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

#include "borrowed_for_claims.hpp"

namespace redlock::core::test {
namespace {

struct SenderDuty : testing::Test, BorrowedForClaims {
  static constexpr Capabilities comparing{Capability::run_scripts, Capability::compare};
  static constexpr Capabilities without_scripts{Capability::compare};

  NodeSet send(Claim& claim, Verb verb) {
    begin_step();
    return sender.send(claim, verb, nodes.all());
  }
  /// The nodes that are sent the form `form` when `verb` goes to all nodes.
  NodeSet asked_by(Verb form, Claim& claim, Verb verb) {
    send(claim, verb);
    return asked(form);
  }
  /// The node says that it did not execute its oldest request. Returns whether it was sent again.
  bool sent_again(Claim& claim, NodeIndex node, Reply reply, std::string_view text = {}) {
    Answer refusal = answer(node, reply);
    refusal.text = text;
    begin_step();
    return sender.sent_again(claim, refusal);
  }
};

TEST_F(SenderDuty, AsksTheNodesThatMayBeAskedNowAndNotesWhich) {
  go_down(0);
  make_replica(1);
  settings.restart_guard = true;
  Claim& claim = attempt();
  EXPECT_EQ(send(claim, Verb::set), NodeSet::of(2));
  EXPECT_EQ(cover.unproven(), NodeSet::of(2)) << "its record is to be read after the vote";
  EXPECT_EQ(asked(Verb::write_name), NodeSet::of(2));
  EXPECT_EQ(asked(Verb::set), NodeSet::of(2));
  EXPECT_EQ(claim.keys->set_in_flight(), NodeSet::of(2));
  EXPECT_EQ(claim.keys->present(), NodeSet::of(2));
  EXPECT_EQ(claim.keys->longest_asked(), 10s);
  EXPECT_EQ(send(claim, Verb::inspect), NodeSet::of(1) | NodeSet::of(2)) << "which writes nothing";
  EXPECT_EQ(claim.unanswered, 3U);
  Claim& other = begun(Claim::Purpose::extend);
  const TrackedKeys::Entry& tracked = tracking.resources().use("resource");
  send(other, Verb::extend);
  EXPECT_FALSE(tracked.second.asked.has(2)) << "the node does not notify us of this change";
  EXPECT_TRUE(other.keys->may_be_written(2));
  EXPECT_EQ(other.keys->present(), NodeSet()) << "it is not ours to release";
  Claim& queued = attempt();
  queued.work->position.by(me).ticket = 7;
  send(queued, Verb::take);
  EXPECT_EQ(queued.work->position->nodes, NodeSet::of(2));
  idle_leases.archive(claim);
  send(claim, Verb::release);
  EXPECT_NE(claim.work.read(), nullptr) << "something of it is under way";
  congest(2);
  EXPECT_EQ(send(claim, Verb::set), NodeSet());
  EXPECT_EQ(count<Request>(), 0U);
  EXPECT_EQ(claim.unanswered, 4U);
}

TEST_F(SenderDuty, AsksForAFencingTokenByAScriptWhereAPlainCommandWouldNotDo) {
  reconnect(0, {Capability::run_scripts, Capability::set_fenced});
  reconnect(1, {Capability::run_scripts, Capability::set_fenced});
  static_cast<void>(nodes[0].observe_clock(me, now, now, 1000s));
  Claim& claim = attempt();
  fencing.propose(claim, 1000s);
  EXPECT_EQ(send(claim, Verb::set_fenced), nodes.all());
  EXPECT_EQ(asked(Verb::set_fenced), NodeSet::of(0));
  EXPECT_EQ(last_request().terms.fencing_number, claim.fencing()->number);
  EXPECT_EQ(asked(Verb::take), NodeSet::of(1) | NodeSet::of(2))
      << "its clock is not known, and the other knows no numbers";
}

TEST_F(SenderDuty, ReleasesWithoutAScriptIfThatDoesTheSame) {
  reconnect(0, comparing);
  EXPECT_EQ(asked_by(Verb::release_plain, lease(), Verb::release), NodeSet::of(0));
  EXPECT_EQ(asked(Verb::release), NodeSet::first(3) - NodeSet::of(0)) << "the others cannot";
  SpecialTerms shared;
  shared.group = readers_group;
  EXPECT_EQ(asked_by(Verb::release_plain, lease(shared), Verb::release), NodeSet());
  SpecialTerms interval;
  interval.interval = 60s;
  EXPECT_EQ(asked_by(Verb::release_plain, lease(interval), Verb::release), NodeSet());
  Claim& contended = lease();
  contended.contended.by(me) = true;
  EXPECT_EQ(asked_by(Verb::release_plain, contended, Verb::release), NodeSet())
      << "a script notifies at once";
  begin_step();
  sender.notify_queued(contended, 2);
  EXPECT_EQ(asked(Verb::notify), NodeSet::of(2));
  EXPECT_EQ(asked_by(Verb::release_plain, lease(), Verb::release), NodeSet())
      << "others were queued just now";
  reconnect(1, without_scripts);
  begin_step();
  sender.notify_queued(contended, 1);
  EXPECT_EQ(count<Request>(), 0U) << "who is queued there tries again in time";
}

TEST_F(SenderDuty, ExtendsByAScriptWhereverScriptsMayRun) {
  reconnect(0, comparing);
  reconnect(1, without_scripts);
  Claim& claim = lease();
  EXPECT_EQ(asked_by(Verb::extend_plain, claim, Verb::extend), NodeSet::of(1));
  EXPECT_EQ(asked_by(Verb::repair_plain, claim, Verb::extend_or_set), NodeSet::of(1));
  EXPECT_EQ(asked(Verb::extend_or_set), NodeSet::first(3) - NodeSet::of(1));
  Claim& by_token = begun(Claim::Purpose::extend);
  EXPECT_EQ(asked_by(Verb::extend_plain, by_token, Verb::extend), NodeSet())
      << "it may be one of several holds";
}

TEST_F(SenderDuty, SendsAScriptInFullToANodeThatDoesNotKnowItIfItIsStillWanted) {
  using Phase = Claim::Phase;
  using Purpose = Claim::Purpose;
  struct Row {
    Purpose purpose;
    Verb verb;
    Phase phase;  ///< when the node has answered
    bool again;
    bool another_round = false;  ///< a later one has begun
  };
  const Row rows[] = {
      {Purpose::acquire, Verb::take, Phase::acquiring, true},
      {Purpose::acquire, Verb::enter, Phase::held, true},  // a late node gets its key yet
      {Purpose::acquire, Verb::enter, Phase::held, false, true},
      {Purpose::acquire, Verb::enter, Phase::cleaning_up,
       false},  // it would set it behind the release
      {Purpose::acquire, Verb::raise_fence, Phase::acquiring, true},
      {Purpose::acquire, Verb::raise_fence, Phase::cleaning_up, true},  // it takes nothing
      {Purpose::acquire, Verb::extend, Phase::held, true},
      {Purpose::acquire, Verb::extend, Phase::held, false, true},  // it would count in that round
      {Purpose::acquire, Verb::extend, Phase::lost, false},        // it would revive the key
      {Purpose::acquire, Verb::extend_or_set, Phase::cleaning_up, false},
      {Purpose::extend, Verb::extend, Phase::cleaning_up, true, true},  // by token: never released
      {Purpose::acquire, Verb::release, Phase::acquiring, true},
      {Purpose::acquire, Verb::release, Phase::cleaning_up, true, true},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(testing::Message() << "row " << (&row - rows));
    Claim& claim = row.purpose == Purpose::acquire ? attempt() : begun(row.purpose);
    send(claim, row.verb);
    claim.phase.by(me) = row.phase;
    if (row.another_round) voters.begin_round(claim, claim.round->next_number(), 10s);
    EXPECT_EQ(sent_again(claim, 0, Reply::script_missing), row.again);
    EXPECT_EQ(asked(row.verb), row.again ? NodeSet::of(0) : NodeSet());
    if (row.again) {
      EXPECT_EQ(last_request().form, ScriptForm::text);
      EXPECT_FALSE(sent_again(claim, 0, Reply::script_missing)) << "once";
    }
    ignore_answers();
  }
}

TEST_F(SenderDuty, SendsEachScriptInFullThatANodeDoesNotKnow) {
  Claim& claim = attempt();
  send(claim, Verb::take);
  send(claim, Verb::release);
  EXPECT_TRUE(sent_again(claim, 0, Reply::script_missing));
  EXPECT_EQ(asked(Verb::take), NodeSet::of(0));
  EXPECT_TRUE(sent_again(claim, 0, Reply::script_missing)) << "the release is another script";
  EXPECT_EQ(asked(Verb::release), NodeSet::of(0));
}

TEST_F(SenderDuty, AsksByAScriptWhereAPlainCommandSaysTooLittle) {
  reconnect(0, comparing);
  reconnect(1, without_scripts);
  Claim& claim = lease();
  send(claim, Verb::release);
  EXPECT_TRUE(sent_again(claim, 0, Reply::script_needed, "WRONGTYPE Operation against a key"));
  EXPECT_EQ(asked(Verb::release), NodeSet::of(0));
  EXPECT_TRUE(nodes[0].mandate->can(Capability::compare)) << "the key was at fault";
  EXPECT_FALSE(sent_again(claim, 1, Reply::script_needed)) << "no script may run there";
  Claim& other = lease();
  send(other, Verb::release);
  static_cast<void>(answer(0, Reply::released));
  EXPECT_TRUE(sent_again(other, 0, Reply::script_needed, "NOPERM this user has no permissions"));
  EXPECT_FALSE(nodes[0].mandate->can(Capability::compare)) << "that does not change so soon";
}

TEST_F(SenderDuty, SaysInTermsOfScriptsWhatAPlainCommandAnswered) {
  Claim& claim = lease();
  const auto reply = [&](Verb verb, Reply said, std::string_view text) -> std::optional<Reply> {
    Answer answer;
    answer.stamp.verb = verb;
    answer.reply = said;
    answer.text = text;
    const auto changed = Sender::in_terms_of_scripts(claim, answer);
    return changed ? std::optional(changed->reply) : std::nullopt;
  };
  EXPECT_EQ(reply(Verb::extend_plain, Reply::taken, claim.token()), Reply::extended);
  EXPECT_EQ(reply(Verb::extend_plain, Reply::taken, "another"), std::nullopt);
  EXPECT_EQ(reply(Verb::extend, Reply::taken, claim.token()), std::nullopt);
  EXPECT_EQ(reply(Verb::release_plain, Reply::script_needed, "WRONGTYPE of a hash"), Reply::taken);
  EXPECT_EQ(reply(Verb::release_plain, Reply::script_needed, "NOPERM"), std::nullopt);
  claim.purpose.by(me) = Claim::Purpose::release;
  EXPECT_EQ(reply(Verb::release_plain, Reply::script_needed, "WRONGTYPE of a hash"), std::nullopt)
      << "it may be the hold of a token";
}

}  // namespace
}  // namespace redlock::core::test
