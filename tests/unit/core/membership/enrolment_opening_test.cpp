// Clients open a new deployment, and agree on one if several begin.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "unit/core/membership/enrolling.hpp"

namespace redlock::core::test::enrolment {
namespace {

TEST_F(Enrolling, NewNodesAreOpenedAsNewByTheOneClientThatDrawsTheirId) {
  for (const char* name : {"a", "b", "c"}) node(name, blank_marker(name, random_));
  std::size_t as_new = 0;
  while (const auto write = next_write_when_confirmed()) {
    EXPECT_EQ(write->as_new, write->marker.state == State::active);
    as_new += write->as_new ? 1U : 0U;
    markers_[write->node] = write->marker;
  }
  EXPECT_EQ(as_new, 3U);
}

TEST_F(Enrolling, ANodeThatAnybodyElseHasWrittenMeanwhileIsNotOpenedAsNew) {
  for (std::size_t steps = 0; steps < 6; ++steps) {
    for (const bool lost : {false, true}) {
      SCOPED_TRACE(std::to_string(steps) + (lost ? " lost" : " marked by another client"));
      enrolment_ = Enrolment{max_ttl, quarantine};
      names_.clear();
      markers_.clear();
      known_as_.clear();
      usable_.clear();
      for (const char* name : {"a", "b", "c"}) node(name, blank_marker(name, random_));
      for (std::size_t i = 0; i < steps; ++i) {
        const auto write = next_write_when_confirmed();
        ASSERT_TRUE(write);
        markers_[write->node] = write->marker;
      }
      if (markers_[1].state == State::active) continue;
      markers_[1].incarnation = "another";
      if (lost) markers_[1] = blank_marker("b", random_);
      const bool drawn_later = steps == 0;
      while (const auto write = next_write_when_confirmed()) {
        const bool active = write->marker.state == State::active;
        if (write->node == 1) {
          EXPECT_EQ(write->as_new, active && drawn_later);
        }
        markers_[write->node] = write->marker;
      }
    }
  }
}

TEST_F(Enrolling, NodesOfANewDeploymentRememberAlwaysUnlessOneSaysOtherwise) {
  for (const char* name : {"a", "b", "c"}) node(name, blank_marker(name, random_));
  markers_[1].remembers_since = 5us;
  open_all({"a", "b", "c"});
  EXPECT_EQ(markers_[0].remembers_since, Marker::always);
  EXPECT_EQ(markers_[1].remembers_since, 5us);
}

TEST_F(Enrolling, NodesThatWereMembersBeforeAreNotOpenedAsNew) {
  for (const char* name : {"a", "b", "c"}) node(name, blank_marker(name, random_));
  known_as_[1] = "b";
  while (const auto write = next_write_when_confirmed()) {
    EXPECT_FALSE(write->as_new);
    EXPECT_NE(write->marker.remembers_since, Marker::always);
    markers_[write->node] = write->marker;
  }
  EXPECT_EQ(markers_[1].state, State::active);
}

TEST_F(Enrolling, ADeploymentIsOpenedOnlyWhenEveryNodeIsThereAndBlank) {
  node("a", blank_marker("2", random_));
  node("b", blank_marker("1", random_));
  usable_[0] = false;
  EXPECT_FALSE(next_write());
  usable_[0] = true;
  const auto first = next_write();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->node, 1) << "by run_id";
  EXPECT_EQ(first->marker.state, State::opening);
  EXPECT_EQ(first->marker.self, "b");
  EXPECT_EQ(first->marker.members, (std::vector<std::string>{"a", "b"}));
  markers_[0] = member("2", "d", "a", {"a", "c", "e"}, random_);
  EXPECT_FALSE(next_write());
}

TEST_F(Enrolling, NodesAreActivatedOnlyAfterAllWereReadAgain) {
  node("a", blank_marker("1", random_));
  node("b", blank_marker("2", random_));
  for (int i = 0; i < 2; ++i) {
    const auto write = next_write();
    ASSERT_TRUE(write);
    EXPECT_EQ(write->quarantine, Duration::zero());
    markers_[write->node] = write->marker;
  }
  EXPECT_EQ(markers_[0].deployment, markers_[1].deployment);
  const Enrolment::Step confirm = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(confirm));
  EXPECT_EQ(std::get<Enrolment::Confirm>(confirm).nodes, NodeSet::first(2));
  const std::uint16_t pass = std::get<Enrolment::Confirm>(confirm).pass;
  enrolment_.confirmed(0, pass);
  const Enrolment::Step rest = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(rest));
  EXPECT_EQ(std::get<Enrolment::Confirm>(rest).nodes, NodeSet::of(1));
  enrolment_.confirmed(1, pass);
  for (int i = 0; i < 2; ++i) {
    const auto write = next_write();
    ASSERT_TRUE(write);
    EXPECT_EQ(write->marker.state, State::active);
    EXPECT_GE(write->quarantine, quarantine);
    markers_[write->node] = write->marker;
  }
  EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next()));
}

TEST_F(Enrolling, APassOfConfirmationBeginsAnewWhenAMarkerChangedInIt) {
  node("a", blank_marker("1", random_));
  node("b", blank_marker("2", random_));
  for (int i = 0; i < 2; ++i) {
    const auto write = next_write();
    ASSERT_TRUE(write);
    markers_[write->node] = write->marker;
  }
  const Enrolment::Step first = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(first));
  const std::uint16_t pass = std::get<Enrolment::Confirm>(first).pass;
  enrolment_.confirmed(0, pass);
  markers_[0].incarnation = "another";
  enrolment_.confirmed(1, pass);
  Enrolment::Step again = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(again));
  EXPECT_EQ(std::get<Enrolment::Confirm>(again).nodes, NodeSet::first(2));
  // This read belongs to the pass before, and proves nothing about the present marker.
  enrolment_.confirmed(1, pass);
  again = next();
  ASSERT_TRUE(std::holds_alternative<Enrolment::Confirm>(again));
  EXPECT_EQ(std::get<Enrolment::Confirm>(again).nodes, NodeSet::first(2));
}

TEST_F(Enrolling, AHalfDoneOpeningIsNotGoneOnWithBesideANodeThatForgot) {
  node("a", member("1", "d", "a", {"a", "b", "c"}, random_));
  node("b", member("2", "d", "b", {"a", "b", "c"}, random_));
  node("c", member("3", "d", "c", {"a", "b", "c"}, random_));
  markers_[2].state = State::opening;
  EXPECT_TRUE(next_write_when_confirmed()) << "two of three are active";
  markers_[1].state = State::opening;
  EXPECT_TRUE(next_write_when_confirmed()) << "all are here, and of one opening";
  markers_[1] = blank_marker("4", random_);
  EXPECT_FALSE(next_write_when_confirmed());
}

TEST_F(Enrolling, OfTwoOpeningsThatMetOneIsGoneOnWith) {
  node("a", member("1", "y", "a", {"a", "b", "c"}, random_));
  node("b", member("2", "x", "b", {"a", "b", "c"}, random_));
  node("c", blank_marker("3", random_));
  markers_[0].state = markers_[1].state = State::opening;
  for (int i = 0; i < 2; ++i) {
    const auto write = next_write();
    ASSERT_TRUE(write);
    EXPECT_EQ(write->marker.deployment, "x") << "which all clients choose";
    EXPECT_EQ(write->marker.state, State::opening);
    markers_[write->node] = write->marker;
  }
  EXPECT_EQ(next_write_when_confirmed().value().marker.state, State::active);
}

TEST_F(Enrolling, AnOpeningOfAnotherListIsWaitedForAndThenReplaced) {
  node("a", opening("1", "x", "a", {"a", "b", "c"}));
  node("b", opening("2", "x", "b", {"a", "b", "c"}));
  node("d", blank_marker("4", random_));
  const auto wait = next_wait();
  ASSERT_TRUE(wait);
  EXPECT_GE(wait->length, 2s);
  EXPECT_LE(wait->length, 3s);
  EXPECT_EQ(next_wait().value().number, wait->number) << "asking again does not prolong it";
  enrolment_.waited(wait->number);
  EXPECT_TRUE(std::holds_alternative<Enrolment::Confirm>(next())) << "the view may be old";
  open_all({"a", "b", "d"});
}

TEST_F(Enrolling, OfTwoListsTheOtherClientBeingDeadTheOwnIdIsKept) {
  // Two clients with two names for each node marked one node each.
  node("a", opening("1", "x", "a", {"a", "b", "c"}));
  node("b", opening("2", "w", "proxy-b", {"proxy-a", "proxy-b", "proxy-c"}));
  node("c", blank_marker("3", random_));
  enrolment_.waited(next_wait().value().number);
  open_all({"a", "b", "c"});
  EXPECT_EQ(markers_[0].deployment, "x");
}

TEST_F(Enrolling, AWaitBeginsAgainWhenAMarkerChanges) {
  node("a", opening("1", "x", "proxy-a", {"proxy-a", "proxy-b", "proxy-c"}));
  node("b", blank_marker("2", random_));
  node("c", blank_marker("3", random_));
  const auto first = next_wait();
  ASSERT_TRUE(first);
  markers_[1] = opening("2", "x", "proxy-b", {"proxy-a", "proxy-b", "proxy-c"});
  enrolment_.waited(first->number);
  const auto second = next_wait();
  ASSERT_TRUE(second);
  EXPECT_NE(second->number, first->number);
  // A wait for the earlier markers proves nothing either.
  enrolment_.waited(first->number);
  EXPECT_TRUE(next_wait());
  enrolment_.waited(second->number);
  const auto write = next_write_when_confirmed();
  ASSERT_TRUE(write);
  markers_[write->node] = write->marker;
  // The other client is still alive, and begins again.
  markers_[0] = opening("1", "y", "proxy-a", {"proxy-a", "proxy-b", "proxy-c"});
  EXPECT_TRUE(next_wait());
}

TEST_F(Enrolling, AForeignOpeningOnAllItsMembersIsFinishedAtOnce) {
  const std::vector<std::string> members = {"proxy-a", "proxy-b", "proxy-c"};
  node("a", opening("1", "x", "proxy-a", members));
  node("b", opening("2", "x", "proxy-b", members));
  node("c", opening("3", "x", "proxy-c", members));
  const auto write = next_write_when_confirmed();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->marker.state, State::active);
  EXPECT_EQ(write->marker.members, members);
}

TEST_F(Enrolling, ARivalThatFinishesDuringTheWaitIsLeftAlone) {
  const std::vector<std::string> members = {"proxy-a", "proxy-b", "proxy-c"};
  node("a", opening("1", "x", "proxy-a", members));
  node("b", blank_marker("2", random_));
  node("c", blank_marker("3", random_));
  const auto wait = next_wait();
  ASSERT_TRUE(wait);
  markers_[0] = member("1", "x", "proxy-a", members, random_);
  markers_[1] = member("2", "x", "proxy-b", members, random_);
  markers_[2] = member("3", "x", "proxy-c", members, random_);
  enrolment_.waited(wait->number);
  EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next()));
}

TEST_F(Enrolling, TheSameNamesForOtherNodesAreAnotherList) {
  node("a", opening("1", "x", "b", {"a", "b"}));
  node("b", blank_marker("2", random_));
  enrolment_.waited(next_wait().value().number);
  open_all({"a", "b"});
  EXPECT_NE(markers_[0].deployment, "x");
}

TEST_F(Enrolling, ClientsThatDisagreeOnMaxTtlOpenNothing) {
  node("a", opening("1", "x", "a", {"a", "b"}));
  node("b", blank_marker("2", random_));
  for (const std::size_t met_by_another : {0U, 1U}) {
    for (Marker& marker : markers_) marker.max_ttl = max_ttl;
    markers_[met_by_another].max_ttl = 3600s;
    EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next())) << met_by_another;
  }
}

TEST_F(Enrolling, AForeignOpeningIsNotReplacedBesideActiveOrJoiningNodes) {
  node("a", opening("1", "x", "a", {"a", "d", "e"}));
  node("b", member("2", "y", "b", {"b", "d", "e"}, random_));
  node("c", blank_marker("3", random_));
  EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next()));
  markers_[1].state = State::joining;
  EXPECT_TRUE(std::holds_alternative<Enrolment::Nothing>(next()));
}

}  // namespace
}  // namespace redlock::core::test::enrolment
