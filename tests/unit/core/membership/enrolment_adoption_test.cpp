// Members take back a node that forgot, if a quorum of their markers names it.

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "unit/core/membership/enrolling.hpp"

namespace redlock::core::test::enrolment {
namespace {

TEST_F(Enrolling, ABlankNodeIsAdoptedByAQuorumOfOthersThatNameIt) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", blank_marker("2", random_));
  EXPECT_FALSE(next_write_when_confirmed()) << "one of three proves nothing";
  node("c", member("3", "d", "c", {"a", "b", "c"}, random_));
  Enrolment::Step confirm = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(confirm)) << "it may be back meanwhile";
  EXPECT_EQ(std::get<Enrolment::Confirm>(confirm).nodes, NodeSet::of(1));
  this->confirm(std::get<Enrolment::Confirm>(confirm));
  for (int i = 0; i < 2; ++i) {
    const auto write = next_write();
    ASSERT_TRUE(write);
    markers_[write->node] = write->marker;
  }
  confirm = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(confirm)) << "they may have moved on";
  EXPECT_EQ(std::get<Enrolment::Confirm>(confirm).nodes, NodeSet::of(0) | NodeSet::of(2));
  const auto write = next_write_when_confirmed();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->node, 1);
  EXPECT_EQ(write->marker.state, State::active);
  EXPECT_EQ(write->marker.deployment, "d");
  EXPECT_EQ(write->marker.self, "b");
  EXPECT_EQ(write->marker.run_id, "2");
  EXPECT_NE(write->marker.incarnation, markers_[1].incarnation);
  EXPECT_EQ(write->marker.remembers_since, Marker::from_its_writing);
  EXPECT_EQ(markers_[0].remembers_since, Marker::always) << "the others have forgotten nothing";
  EXPECT_GE(write->quarantine, quarantine);
}

TEST_F(Enrolling, ABlankNodeThatTheMembersDoNotNameIsNotAdopted) {
  node("a", member("1", "d", "a", {"a", "c", "e"}, random_));
  node("b", blank_marker("2", random_));
  node("c", member("3", "d", "c", {"a", "c", "e"}, random_));
  EXPECT_FALSE(next_write_when_confirmed());
  // Its own marker once said that the node at this address is a member: it is adopted.
  known_as_[1] = "e";
  const auto write = next_of_no_member();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->marker.self, "e");
}

TEST_F(Enrolling, ANameThatAnotherNodeClaimsIsNotGivenTwice) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", blank_marker("2", random_));
  node("z", member("3", "d", "b", {"a", "b", "c"}, random_));
  EXPECT_FALSE(next_write_when_confirmed());
}

TEST_F(Enrolling, OfTwoNodesNoneIsAdopted) {
  // a may have been left out of the deployment that b has forgotten.
  node("a", member("1", "d", "a", {"a", "b"}, random_));
  node("b", blank_marker("2", random_));
  EXPECT_FALSE(next_write_when_confirmed());
}

TEST_F(Enrolling, TheQuarantineIsThatOfTheDeploymentWhateverClientMetTheNode) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", blank_marker("2", random_));
  node("c", member("3", "d", "c", {"a", "b", "c"}, random_));
  markers_[1].max_ttl = 3600s;
  const auto write = next_of_no_member();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->quarantine, quarantine);
  EXPECT_EQ(write->marker.max_ttl, max_ttl);
}

TEST_F(Enrolling, ANodeThatAnOperatorAddsIsLeftAlone) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", member("2", "d", "b", {"a", "b", "c"}, random_));
  node("c", member("3", "d", "c", {"a", "b", "c"}, random_));
  markers_[2].state = State::joining;
  EXPECT_FALSE(next_write_when_confirmed());
}

TEST_F(Enrolling, WhatANodeOnceWasCountsForMoreThanItsUrl) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", blank_marker("2", random_));
  node("c", member("3", "d", "c", {"a", "b", "c"}, random_));
  known_as_[1] = "e";
  EXPECT_FALSE(next_write_when_confirmed());
}

TEST_F(Enrolling, ALocalUrlIsANameOnlyWhereAllMembersAreLocal) {
  const std::string local = "redis://127.0.0.1:7002";
  node("a", member("1", "d", "a", {"a", "b", local}, random_));
  node(local, blank_marker("2", random_));
  node("b", member("3", "d", "b", {"a", "b", local}, random_));
  EXPECT_FALSE(next_write_when_confirmed());
  const std::vector<std::string> all = {local, "redis://localhost:7003", "unix:///a"};
  markers_[0] = member("1", "d", all[1], all, random_);
  markers_[2] = member("3", "d", all[2], all, random_);
  EXPECT_TRUE(next_write_when_confirmed());
}

TEST_F(Enrolling, ANodeOfAnOpeningThatCameToNothingIsTakenBack) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", member("2", "d", "b", {"a", "b", "c"}, random_));
  node("c", member("3", "x", "c", {"a", "b", "c"}, random_));
  markers_[2].state = State::opening;
  const auto write = next_of_no_member();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->node, 2);
  EXPECT_EQ(write->marker.state, State::active);
  EXPECT_EQ(write->marker.deployment, "d");
  // An opening with other members may have been completed with those members.
  markers_[2] = member("3", "x", "c", {"c", "e", "f"}, random_);
  markers_[2].state = State::opening;
  EXPECT_FALSE(next_write_when_confirmed());
}

TEST_F(Enrolling, MembersThatTheListDoesNotHaveAreFoundByAMajorityOfMarkers) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  EXPECT_TRUE(unknown_members(views(), 1).empty());
  node("alias", member("2", "d", "b", {"a", "b", "c"}, random_));
  EXPECT_EQ(unknown_members(views(), 2), std::vector<std::string>{"c"});
  EXPECT_TRUE(unknown_members(views(), 3).empty()) << "fewer than this client's quorum";
  node("c", blank_marker("3", random_));
  EXPECT_TRUE(unknown_members(views(), 2).empty());
}

TEST_F(Enrolling, WaitingDoesNotHelpWhereTooFewMembersAreLeftThatRemember) {
  using Impasse = Outlook::Impasse;
  const std::vector<std::string> members = {"a", "b", "c"};
  node("a", member("1", "d", "a", members, random_));
  node("b", blank_marker("2", random_));
  Outlook outlook = outlook_of(views(), 2, {});
  EXPECT_EQ(outlook.impasse, Impasse::none) << "c may remember";
  EXPECT_EQ(outlook.members, 3U);
  EXPECT_EQ(outlook.forgot, 1U);
  EXPECT_EQ(outlook.needed, 2U);
  EXPECT_FALSE(outlook.are_there);
  EXPECT_EQ(outlook.unlisted, std::vector<std::string>{"c"});
  node("c", blank_marker("3", random_));
  outlook = outlook_of(views(), 2, {});
  EXPECT_EQ(outlook.impasse, Impasse::forgotten);
  EXPECT_TRUE(outlook.unlisted.empty());
  markers_[0] = blank_marker("1", random_);
  EXPECT_EQ(outlook_of(views(), 2, {}).impasse, Impasse::none) << "they are opened anew";
}

TEST_F(Enrolling, AListOfAsManyNodesCanLackAMember) {
  const std::vector<std::string> members = {"a", "b", "c"};
  node("a", member("1", "d", "a", members, random_));
  node("b", blank_marker("2", random_));
  node("x", blank_marker("3", random_));
  const Outlook outlook = outlook_of(views(), 2, {});
  EXPECT_EQ(outlook.unlisted, std::vector<std::string>{"c"});
  EXPECT_EQ(outlook.strangers, std::vector<std::string>{"x"});
  auto unreached = views();
  unreached[2].usable = false;
  unreached[2].marker = nullptr;
  EXPECT_TRUE(outlook_of(unreached, 2, {}).unlisted.empty()) << "x may be another name of c";
  unreached[2].known_as = "former";
  unreached[2].marker = &markers_[2];
  EXPECT_EQ(outlook_of(unreached, 2, {}).strangers, std::vector<std::string>{"x"}) << "removed";
  unreached[2].known_as = "c";
  EXPECT_TRUE(outlook_of(unreached, 2, {}).unlisted.empty());
}

TEST_F(Enrolling, WaitingDoesNotHelpWhereTooFewNodesHaveTheClientsMaxTtl) {
  for (const char* name : {"a", "b", "c"}) {
    node(name, member(name, "d", name, {"a", "b", "c"}, random_));
  }
  EXPECT_EQ(outlook_of(views(), 2, NodeSet::of(0)).impasse, Outlook::Impasse::none);
  EXPECT_EQ(outlook_of(views(), 2, NodeSet::first(2)).impasse, Outlook::Impasse::other_max_ttl);
}

TEST_F(Enrolling, WaitingDoesNotHelpWhereTooFewNodesHaveTheClientsNumberOfServers) {
  const std::vector<std::string> members = {"a", "b?servers=3", "c?servers=3"};
  node("a", member("1", "d", "a", members, random_));
  node("b?servers=5", member("2", "d", "b?servers=3", members, random_));
  node("c?servers=3", member("3", "d", "c?servers=3", members, random_));
  EXPECT_EQ(outlook_of(views(), 2, {}).impasse, Outlook::Impasse::none);
  EXPECT_EQ(outlook_of(views(), 3, {}).impasse, Outlook::Impasse::other_servers);
  markers_[1] = blank_marker("2", random_);
  EXPECT_EQ(outlook_of(views(), 3, {}).impasse, Outlook::Impasse::none) << "it names nobody";
}

TEST_F(Enrolling, OneMarkerThatNamesOtherMembersIsNotBelieved) {
  const std::vector<std::string> members = {"a", "b", "c"};
  node("a", member("1", "d", "a", {"a", "evil"}, random_));
  node("b", member("2", "d", "b", members, random_));
  node("c", member("3", "d", "c", members, random_));
  EXPECT_TRUE(unknown_members(views(), 2).empty());
  EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next()));
  // A marker that makes a deployment of its own is not believed.
  markers_[0] = member("1", "e", "evil", {"evil"}, random_);
  EXPECT_TRUE(unknown_members(views(), 2).empty());
  // A marker that says that the others were replaced is not believed.
  markers_[0] = member("1", "d", "a", members, random_);
  set_admission(markers_[0], "b", "9.x");
  set_admission(markers_[0], "c", "9.x");
  EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next()));
}

TEST_F(Enrolling, ANodeIsTakenBackUnderANewAdmissionThatTheOthersAreGivenFirst) {
  const std::vector<std::string> members = {"a", "b", "c"};
  node("a", member("1", "d", "a", members, random_));
  node("b", blank_marker("2", random_));
  node("c", member("3", "d", "c", members, random_));
  const std::string admission = next_admission(first_admission, markers_[1].incarnation);
  for (const NodeIndex other : {NodeIndex{0}, NodeIndex{2}}) {
    const auto write = next_write_when_confirmed();
    ASSERT_TRUE(write);
    EXPECT_EQ(write->node, other);
    EXPECT_EQ(write->marker.state, State::active);
    EXPECT_EQ(write->quarantine, Duration::zero()) << "it has forgotten nothing";
    EXPECT_EQ(admission_of(write->marker, "b"), admission);
    markers_[other] = write->marker;
  }
  const auto write = next_write_when_confirmed();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->node, 1);
  EXPECT_EQ(deployment_text(write->marker), deployment_text(markers_[0]));
  EXPECT_GE(write->quarantine, quarantine);
  // The node's old data return with their marker. That does not make it a member.
  markers_[1] = member("2", "d", "b", members, random_);
  const auto wait = next_wait();
  ASSERT_TRUE(wait);
  EXPECT_GE(wait->length, quarantine);
  // A new connection to the node does not begin the wait again.
  usable_[1] = false;
  static_cast<void>(next());
  usable_[1] = true;
  EXPECT_EQ(next_wait().value_or(Enrolment::Wait()).number, wait->number);
  // After the wait, the node is taken back like any node that forgot.
  enrolment_.waited(wait->number);
  const std::string once_more = next_admission(admission, markers_[1].incarnation);
  while (const auto next = next_write_when_confirmed()) {
    EXPECT_EQ(admission_of(next->marker, "b"), once_more);
    EXPECT_EQ(next->quarantine >= quarantine, next->node == 1);
    markers_[next->node] = next->marker;
  }
  EXPECT_EQ(deployment_text(markers_[1]), deployment_text(markers_[0]));
}

TEST_F(Enrolling, AMemberThatWasAwayGetsTheAdmissionsThatItLacks) {
  const std::vector<std::string> members = {"a", "b", "c", "e", "f"};
  for (const char* name : {"a", "b", "c", "e"}) {
    node(name, member(name, "d", name, members, random_));
    if (names_.size() < 4) set_admission(markers_.back(), "f", "1.x");
  }
  const auto write = next_write();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->node, 3);
  EXPECT_EQ(admission_of(write->marker, "f"), "1.x");
  // While a server is still the member f, a quorum must have the new admission.
  node("f", member("f", "d", "f", members, random_));
  EXPECT_TRUE(next_write());
  markers_[2].admissions.clear();
  EXPECT_FALSE(next_write()) << "two of five do not suffice";
}

}  // namespace
}  // namespace redlock::core::test::enrolment
