#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/votes/round.hpp"
#include "runtime/explain.hpp"

namespace redlock::runtime {
namespace {

using State = Inspection::State;

/// One word per node: its holder, "-" if the resource is free, "?" without an answer.
Inspection inspect(const std::vector<std::string>& nodes, std::size_t quorum) {
  Inspection inspection;
  inspection.quorum = quorum;
  for (const std::string& word : nodes) {
    NodeInspection& node = inspection.nodes.emplace_back();
    if (word == "?") {
      node.error = "Connection refused";
    } else if (word != "-") {
      node.kind = LockKind::exclusive;
      node.holder = Token::parse(word);
    }
  }
  judge(inspection);
  return inspection;
}

State state_of(const std::vector<std::string>& nodes) {
  return inspect(nodes, nodes.size() / 2 + 1).state;
}

TEST(JudgeInspection, HeldByWhoeverHasAQuorumWhateverTheOthersSay) {
  EXPECT_EQ(state_of({"a", "a", "a"}), State::held);
  EXPECT_EQ(state_of({"a", "a", "b"}), State::held);
  EXPECT_EQ(state_of({"a", "?", "a"}), State::held);
  EXPECT_EQ(inspect({"b", "a", "a"}, 2).holder, Token::parse("a"));
}

TEST(JudgeInspection, FreeWhereAQuorumIs) {
  EXPECT_EQ(state_of({"-", "-", "-"}), State::free);
  EXPECT_EQ(state_of({"a", "-", "-"}), State::free);
  EXPECT_EQ(state_of({"-", "-", "?"}), State::free) << "nobody else can have a quorum";
  EXPECT_EQ(state_of({"a", "-", "-", "-", "?"}), State::free);
}

TEST(JudgeInspection, SplitWhereNobodyHasAQuorumAndNobodyCanGetOne) {
  EXPECT_EQ(state_of({"a", "b", "c"}), State::split);
  EXPECT_EQ(state_of({"a", "a", "b", "-", "b"}), State::split);
  EXPECT_EQ(state_of({"a", "b", "c", "d", "?"}), State::split);
  EXPECT_EQ(inspect({"a", "-", "-", "?"}, 4).state, State::split);
}

TEST(JudgeInspection, HoldsOfTwoOwnersAreTwoLocks) {
  Inspection inspection;
  inspection.quorum = 2;
  for (const char* owner : {"import", "export"}) {
    NodeInspection& node = inspection.nodes.emplace_back();
    node.kind = LockKind::owned;
    node.owner = owner;
  }
  judge(inspection);
  EXPECT_EQ(inspection.state, State::split);
  inspection.nodes.push_back(inspection.nodes.back());
  judge(inspection);
  EXPECT_EQ(inspection.state, State::held);
  EXPECT_EQ(inspection.owner, "export");
  EXPECT_EQ(inspection.holder, std::nullopt);
}

TEST(JudgeInspection, IndeterminateWhereItDependsOnNodesThatDidNotAnswer) {
  EXPECT_EQ(state_of({"?", "?", "?"}), State::indeterminate);
  EXPECT_EQ(state_of({"-", "?", "?"}), State::indeterminate);
  EXPECT_EQ(state_of({"a", "-", "?"}), State::indeterminate) << "a may have two";
  EXPECT_EQ(state_of({"a", "b", "?"}), State::indeterminate) << "either may have two";
  EXPECT_EQ(inspect({"a", "-", "?"}, 2).holder, Token::parse("a")) << "who has most of all";
  EXPECT_EQ(inspect({"-", "-", "-", "?"}, 4).state, State::indeterminate);
}

/// A round of three nodes of five, of which the last one has the token.
core::Round round_of_three() {
  core::Round round;
  round.begin(1, 3, 3, core::Instant(std::chrono::seconds(1)), std::chrono::seconds(1));
  round.record(0, Vote::granted, {});
  round.record(1, Vote::granted, {});
  round.record(2, Vote::refused, {.text = "t"});
  return round;
}

TEST(JudgeInspection, DependsOnNodesThatWereLearnedTooLate) {
  const std::vector<std::string> urls = {"redis://0", "redis://1", "redis://2", "redis://3",
                                         "redis://4"};
  const Inspection inspection = report_inspection(round_of_three(), urls);
  EXPECT_EQ(inspection.state, State::indeterminate);
  ASSERT_EQ(inspection.nodes.size(), 5U);
  EXPECT_EQ(inspection.nodes[4].error, "it was not asked: the list of nodes does not name it");
  EXPECT_FALSE(judge_ownership(round_of_three(), "t", 5)) << "the other two can have the token";
  EXPECT_EQ(judge_ownership(round_of_three(), "t", 3).value(), Ownership::not_held);
}

}  // namespace
}  // namespace redlock::runtime
