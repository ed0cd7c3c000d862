#include "core/duties/enroller.hpp"

#include <gtest/gtest.h>

#include <variant>

#include "borrowed.hpp"

namespace redlock::core::test {
namespace {

struct EnrollerDuty : testing::Test {
  using State = Marker::State;

  static Settings guarded() {
    Settings settings = settings_of(3);
    settings.restart_guard = true;
    settings.max_ttl = 30s;
    settings.quarantine = 31s;
    return settings;
  }
  /// A client that wants a lock. The first `members` nodes are members, the others have forgotten
  /// that.
  void begin_with(NodeIndex members) {
    EXPECT_TRUE(enroller.want_votes());
    mark(members);
  }
  void mark(NodeIndex members) {
    for (NodeIndex node = 0; node < 3; ++node) {
      borrowed.mark(node, borrowed.marker_of(node, node < members ? State::active : State::blank));
      enroller.came_up();
      if (node >= members) enroller.note_denied(node);
    }
  }
  void begin_step(Duration passed = 0s) { borrowed.begin_step(passed); }
  /// Looks at the nodes again, in a new step.
  void look_again() {
    begin_step();
    enroller.came_up();
    enroller.end_step();
  }
  [[nodiscard]] NodeSet written() const { return borrowed.asked(Verb::write_marker); }
  [[nodiscard]] NodeSet read() const { return borrowed.asked(Verb::read_marker); }
  [[nodiscard]] NodeSet reported() const {
    NodeSet nodes;
    for (const Command& command : borrowed.commands) {
      if (const auto* const report = std::get_if<NodeExcluded>(&command)) nodes.add(report->node);
    }
    return nodes;
  }
  /// The marker that the step writes to a node.
  [[nodiscard]] std::string text_to_write() const {
    for (const Command& command : borrowed.commands) {
      const Request* const request = request_in(command);
      if (request == nullptr || request->terms.marker == nullptr) continue;
      EXPECT_EQ(request->form, ScriptForm::text) << "no node has seen the script before";
      return request->terms.marker->text;
    }
    ADD_FAILURE() << "nothing is written";
    return {};
  }
  /// The node answers the write: it has this marker now, and `left` of its quarantine.
  Enroller::Written answer_written(NodeIndex node, const std::string& text, Duration left = 0s) {
    text_ = text + " 2";
    Answer answer = borrowed.answer_to_oldest(node, Reply::marker);
    answer.text = text_;
    answer.time = left;
    begin_step();
    const Enroller::Written what = enroller.written(answer);
    if (!what.changed) enroller.take_marker(answer, what);
    return what;
  }
  /// The marker was re-read, and has not changed.
  void answer_read(NodeIndex node) {
    enroller.read(node, borrowed.answer(node, Reply::marker).stamp);
  }
  /// A node that forgot was re-read: its admission is written to the first member.
  void begin_taking_back() {
    begin_with(2);
    enroller.end_step();
    answer_read(2);
    begin_step();
    enroller.end_step();
    EXPECT_EQ(written(), NodeSet::of(0));
  }

  Borrowed borrowed{guarded()};
  Claims claims;
  Closing closing{borrowed.now, claims, borrowed.nodes, borrowed.outbox};
  LostVotes lost_votes;
  Enroller enroller{borrowed.settings, borrowed.now,    closing,        borrowed.nodes,
                    lost_votes,        borrowed.outbox, borrowed.random};
  std::string text_;
};

TEST_F(EnrollerDuty, LeavesNodesAsTheyAreUntilALockIsWanted) {
  mark(0);
  enroller.end_step();
  EXPECT_EQ(borrowed.count<Request>(), 0U);
  EXPECT_EQ(reported(), NodeSet::first(3)) << "nothing is done about it";
  begin_step();
  EXPECT_TRUE(enroller.want_votes());
  EXPECT_FALSE(enroller.want_votes()) << "once";
  enroller.end_step();
  EXPECT_EQ(written(), NodeSet::of(0));
}

TEST_F(EnrollerDuty, WritesOneNodeAfterTheOtherOnceTheReadingsConfirmIt) {
  begin_with(2);
  enroller.end_step();
  EXPECT_EQ(read(), NodeSet::of(2));
  EXPECT_EQ(written(), NodeSet());
  look_again();
  EXPECT_EQ(borrowed.count<Request>(), 0U) << "it is being read";
  enroller.read(2, Stamp(Verb::read_marker));
  enroller.end_step();
  EXPECT_EQ(borrowed.count<Request>(), 0U) << "a reading behind votes confirms nothing";
  answer_read(2);
  enroller.end_step();
  EXPECT_EQ(written(), NodeSet::of(0));
  const std::string text = text_to_write();
  look_again();
  EXPECT_EQ(written(), NodeSet()) << "one is being written";
  EXPECT_FALSE(answer_written(0, text).changed);
  EXPECT_EQ(borrowed.nodes[0].mandate->marker_text(), text_);
  enroller.end_step();
  EXPECT_EQ(written(), NodeSet::of(1));
}

TEST_F(EnrollerDuty, ReportsANodeWithoutAVoteOnceNothingIsDoneAboutIt) {
  begin_with(2);
  enroller.end_step();
  EXPECT_EQ(reported(), NodeSet()) << "it is about to be taken back";
  borrowed.go_down(1);
  enroller.dropped(1);
  look_again();
  EXPECT_EQ(reported(), NodeSet::of(2)) << "one member alone cannot";
  look_again();
  EXPECT_EQ(reported(), NodeSet()) << "once";
}

TEST_F(EnrollerDuty, ReportsNoNodeThatIsOnItsWayToHaveAVote) {
  begin_with(0);
  enroller.end_step();
  answer_written(0, text_to_write());
  EXPECT_EQ(borrowed.nodes[0].mandate->vote_denied(), "its deployment is being opened");
  enroller.report(0);
  enroller.end_step();
  EXPECT_EQ(reported(), NodeSet());
  EXPECT_EQ(written(), NodeSet::of(1));
}

TEST_F(EnrollerDuty, WritesANodeThatRefusedAgainAfterASecond) {
  begin_taking_back();
  begin_step();
  enroller.refused(1);
  EXPECT_EQ(enroller.deadline(), never) << "it was not asked to write";
  static_cast<void>(borrowed.answer(0, Reply::error));
  enroller.refused(0);
  EXPECT_EQ(reported(), NodeSet::of(2)) << "until then nothing is done about it";
  EXPECT_EQ(enroller.deadline(), later(borrowed.now, 1s));
  begin_step(1s - 1ns);
  look_again();
  EXPECT_EQ(written(), NodeSet());
  begin_step(1ns);
  enroller.end_step();
  EXPECT_EQ(written(), NodeSet::of(0));
  static_cast<void>(borrowed.answer(0, Reply::error));
  enroller.refused(0);
  begin_step(1s);
  enroller.end_step();
  EXPECT_EQ(written(), NodeSet::of(0)) << "though nothing else has changed";
  enroller.refused(0);
  closing.begin(10s);
  EXPECT_EQ(enroller.deadline(), never) << "who closes waits for nothing";
}

TEST_F(EnrollerDuty, AsksANodeThatWentAnewWhenItIsBack) {
  const auto comes_back = [this](NodeIndex node) {
    borrowed.go_down(node);
    enroller.dropped(node);
    borrowed.come_up(node);
    borrowed.mark(node, borrowed.marker_of(node, State::blank));
    look_again();
  };
  begin_with(2);
  enroller.end_step();
  EXPECT_EQ(read(), NodeSet::of(2));
  comes_back(2);
  EXPECT_EQ(read(), NodeSet::of(2));
  mark(0);
  look_again();
  EXPECT_EQ(written(), NodeSet::of(0));
  comes_back(0);
  EXPECT_EQ(written(), NodeSet::of(0));
}

TEST_F(EnrollerDuty, WaitsBeforeItReplacesWhatAnotherClientHasBegun) {
  begin_with(0);
  Marker theirs = borrowed.marker_of(0, State::opening);
  theirs.members = {"proxy0", "proxy1", "proxy2"};
  theirs.self = "proxy0";
  borrowed.mark(0, theirs);
  enroller.end_step();
  EXPECT_EQ(borrowed.count<Request>(), 0U);
  const Instant until = later(borrowed.now, 2s);
  EXPECT_EQ(enroller.deadline(), until);
  begin_step(1s);
  look_again();
  EXPECT_EQ(borrowed.count<Request>(), 0U);
  EXPECT_EQ(enroller.deadline(), until) << "it goes on waiting";
  begin_step(1s);
  enroller.end_step();
  EXPECT_EQ(read(), NodeSet::first(3)) << "they may have gone on meanwhile";
  for (NodeIndex node = 0; node < 3; ++node) answer_read(node);
  enroller.end_step();
  EXPECT_EQ(written(), NodeSet::of(0));
}

TEST_F(EnrollerDuty, KeepsTheVotesOfAMemberOnlyIfNobodyElseHasWrittenIt) {
  begin_taking_back();
  const Enroller::Written by_us = answer_written(0, text_to_write());
  EXPECT_FALSE(by_us.changed);
  EXPECT_TRUE(by_us.was_member);
  EXPECT_EQ(lost_votes.count(), 0U);
  enroller.end_step();
  EXPECT_EQ(written(), NodeSet::of(1));
  EXPECT_TRUE(answer_written(1, format_marker(borrowed.marker_of(1))).changed)
      << "it may have forgotten, and be a member again";
}

TEST_F(EnrollerDuty, BelievesAnotherClientThatWasFirstUnlessItIsAnotherServer) {
  begin_with(0);
  enroller.end_step();
  Marker other = borrowed.marker_of(0);
  other.incarnation = "another";
  const Enroller::Written what = answer_written(0, format_marker(other), 31s);
  EXPECT_FALSE(what.changed);
  EXPECT_FALSE(what.was_member);
  EXPECT_EQ(borrowed.nodes[0].mandate->deployment(), deployment_text(other));
  EXPECT_EQ(borrowed.nodes[0].mandate->quarantined_until(), later(borrowed.now, 31s));
  EXPECT_EQ(lost_votes.since(0), NodeSet::of(0)) << "what it was asked before is worth nothing";
  enroller.report(0);
  EXPECT_EQ(reported(), NodeSet::of(0)) << "it is a member, and has no vote yet";
  borrowed.mark(0, borrowed.marker_of(0, State::blank));
  enroller.end_step();
  EXPECT_EQ(written(), NodeSet::of(0));
  other.run_id = "another_server";
  EXPECT_TRUE(answer_written(0, format_marker(other)).changed);
}

TEST_F(EnrollerDuty, HasNodesMarkedThatNobodyHasMetForAClientThatWantsLocks) {
  begin_with(3);
  borrowed.nodes[2].mandate.by(me).take_marker("", borrowed.now, true);
  EXPECT_TRUE(enroller.may_mark(2));
  EXPECT_TRUE(enroller.is_to_be_marked(2));
  EXPECT_FALSE(enroller.is_to_be_marked(1)) << "it has its mark";
  borrowed.settings.restart_guard = false;
  EXPECT_FALSE(enroller.may_mark(2));
  borrowed.settings.restart_guard = true;
  Enroller onlooker{borrowed.settings, borrowed.now,    closing,        borrowed.nodes,
                    lost_votes,        borrowed.outbox, borrowed.random};
  EXPECT_FALSE(onlooker.may_mark(2));
  for (NodeIndex node = 0; node < 2; ++node) borrowed.go_down(node);
  EXPECT_FALSE(enroller.may_mark(2)) << "the others may know better";
  for (NodeIndex node = 0; node < 2; ++node) borrowed.come_up(node);
  EXPECT_TRUE(enroller.may_mark(2));
  closing.begin(10s);
  EXPECT_FALSE(enroller.may_mark(2));
  EXPECT_FALSE(enroller.is_to_be_marked(2));
}

TEST_F(EnrollerDuty, LearnsMembersThatTheSettingsDoNotName) {
  begin_with(3);
  for (NodeIndex node = 0; node < 3; ++node) {
    Marker marker = borrowed.marker_of(node);
    marker.members.emplace_back("node3");
    borrowed.mark(node, marker);
  }
  enroller.end_step();
  EXPECT_EQ(borrowed.count<NodeLearned>(), 1U);
  EXPECT_EQ(borrowed.settings.nodes.back(), "node3");
  look_again();
  EXPECT_EQ(borrowed.count<NodeLearned>(), 0U);
}

TEST_F(EnrollerDuty, HasMarkersReadNowAndThenThatNoVoteWouldShow) {
  begin_with(2);
  enroller.end_step();
  begin_step(10s);
  EXPECT_FALSE(borrowed.nodes[0].take_marker_look(me, borrowed.now)) << "its votes show it";
  EXPECT_TRUE(borrowed.nodes[2].take_marker_look(me, borrowed.now)) << "it is asked for none";
}

TEST_F(EnrollerDuty, GoesOnForAClientThatClosesIfOneMoreNodeCouldOpenIt) {
  begin_with(0);
  EXPECT_FALSE(enroller.may_still_enrol()) << "nobody is being connected to";
  borrowed.outbox.send(NodeSet::of(2), Stamp(Verb::read_clock));
  static_cast<void>(borrowed.answer(2, Reply::clock));
  borrowed.go_down(2);
  enroller.dropped(2);
  EXPECT_TRUE(borrowed.nodes[2].contact->returning());
  EXPECT_TRUE(enroller.may_still_enrol());
  Enroller onlooker{borrowed.settings, borrowed.now,    closing,        borrowed.nodes,
                    lost_votes,        borrowed.outbox, borrowed.random};
  EXPECT_FALSE(onlooker.may_still_enrol());
  for (NodeIndex node = 0; node < 2; ++node) borrowed.mark(node, borrowed.marker_of(node));
  EXPECT_FALSE(enroller.may_still_enrol()) << "those that are there are members";
}

}  // namespace
}  // namespace redlock::core::test
