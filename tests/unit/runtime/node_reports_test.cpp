#include "core/nodes/node_votes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/explain.hpp"

namespace redlock::runtime {
namespace {

using namespace std::chrono_literals;

const Urls urls = std::make_shared<const std::vector<std::string>>(
    std::vector<std::string>{"redis://a", "redis://b", "redis://c"});

core::Round begun() {
  core::Round round;
  round.begin(1, urls->size(), 2, core::Instant(), 10s);
  return round;
}

/// The report of each node says what its vote says, whether it is made at once or on request.
void expect_told(const core::Round& round, core::Duration validity) {
  const Round reported = report_round(round, urls, 3ms, validity);
  EXPECT_EQ(reported.quorum, 2U);
  EXPECT_EQ(reported.ttl, 10s);
  EXPECT_EQ(reported.elapsed, 3ms);
  EXPECT_EQ(reported.remaining, std::max<core::Duration>(validity, 0s));
  ASSERT_EQ(reported.nodes.size(), urls->size());
  for (std::size_t i = 0; i < reported.nodes.size(); ++i) {
    const NodeVote now = report_node(round.vote(static_cast<core::NodeIndex>(i)), (*urls)[i]);
    EXPECT_EQ(reported.nodes[i].url, now.url);
    EXPECT_EQ(reported.nodes[i].vote, now.vote);
    EXPECT_EQ(reported.nodes[i].round_trip, now.round_trip);
    EXPECT_EQ(reported.nodes[i].holder, now.holder);
    EXPECT_EQ(reported.nodes[i].remaining, now.remaining);
    EXPECT_EQ(reported.nodes[i].message, now.message);
  }
}

TEST(NodeVotes, TellOfGrantsAndOfWhoWasNotWaitedFor) {
  core::Round round = begun();
  expect_told(round, 9s);
  round.record(2, Vote::granted, {{}, 1ms});
  round.record(0, Vote::granted, {{}, 2ms});
  expect_told(round, 9s);
  expect_told(round, -1s);
}

TEST(NodeVotes, TellWhatOtherNodesSaid) {
  core::Round refused = begun();
  refused.record(0, Vote::granted, {{}, 1ms});
  refused.record(1, Vote::refused, {"somebody", 2ms, 4s});
  expect_told(refused, 9s);
  core::Round failed = begun();
  failed.record(0, Vote::error, {"READONLY", 1ms});
  failed.record(1, Vote::timeout, {"no answer within 250 ms"});
  failed.record(2, Vote::excluded, {"quarantined", {}, 5s});
  expect_told(failed, 0s);
}

TEST(NodeVotes, AreReadLikeAVector) {
  core::Round round = begun();
  round.record(1, Vote::granted, {{}, 1ms});
  const NodeVotes nodes = report_round(round, urls, 3ms, 9s).nodes;
  EXPECT_FALSE(nodes.empty());
  EXPECT_EQ(nodes.end() - nodes.begin(), 3);
  EXPECT_EQ(nodes.begin()[2].url, "redis://c");
  const auto granted = std::find_if(
      nodes.begin(), nodes.end(), [](const NodeVote& node) { return node.vote == Vote::granted; });
  ASSERT_NE(granted, nodes.end());
  EXPECT_EQ(granted->url, "redis://b");
  std::string all;
  for (const NodeVote& node : nodes) all += node.url.back();
  EXPECT_EQ(all, "abc");
  EXPECT_THROW(static_cast<void>(nodes.at(3)), std::out_of_range);
  EXPECT_TRUE(NodeVotes().empty());
  EXPECT_EQ(NodeVotes().begin(), NodeVotes().end());
}

TEST(NodeVotes, AreValues) {
  core::Round round = begun();
  round.record(1, Vote::granted, {{}, 1ms});
  NodeVotes plain = report_round(round, urls, 3ms, 9s).nodes;
  round.record(2, Vote::refused, {"somebody", 2ms, 4s});
  NodeVotes reported = report_round(round, urls, 3ms, 9s).nodes;
  for (NodeVotes* const one : {&plain, &reported}) {
    const std::optional<Holder> holder = (*one)[2].holder;
    NodeVotes copy = *one;
    EXPECT_EQ(copy[2].holder, holder);
    EXPECT_NE(&copy[2], &(*one)[2]);
    const NodeVotes moved = std::move(copy);
    EXPECT_EQ(moved[2].holder, holder);
    EXPECT_EQ(moved.size(), 3U);
  }
  std::swap(plain, reported);
  EXPECT_EQ(plain[2].holder.value().token, Token::parse("somebody"));
  EXPECT_EQ(reported[2].holder, std::nullopt);
  plain = NodeVotes();
  EXPECT_TRUE(plain.empty());
}

}  // namespace
}  // namespace redlock::runtime
