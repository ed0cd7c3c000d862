#include "core/duties/fencing_tokens.hpp"

#include <gtest/gtest.h>

#include "borrowed.hpp"
#include "core/duties/idle_leases.hpp"

namespace redlock::core::test {
namespace {

using Verdict = FencingTokens::Verdict;
using Prospect = FencingTokens::Prospect;

struct FencingTokensDuty : testing::Test {
  FencingTokensDuty() {
    idle_leases.wake(claim);
    tokens.propose(claim, 1000s);
    claim.round.by(me).begin(1, 3, 2, borrowed.now, 10s);
  }
  /// Answers a SET by a script; `number`: ours if the node granted, otherwise the node's highest.
  bool answered(NodeIndex node, Reply reply, std::uint64_t number, Verb verb = Verb::take) {
    Answer answer;
    answer.node = node;
    answer.stamp.verb = verb;
    answer.reply = reply;
    answer.number = number;
    if (!is_raise(verb)) claim.round.by(me).record_grant(node, 1ms);
    return tokens.answered(claim, answer);
  }
  [[nodiscard]] std::uint64_t number() { return claim.fencing()->number; }

  Borrowed borrowed{3};
  Claims claims;
  IdleLeases idle_leases{borrowed.settings, claims};
  Meter meter{borrowed.settings, borrowed.nodes};
  FencingTokens tokens{borrowed.settings, borrowed.nodes, meter, borrowed.outbox};
  Claim& claim = claims.make(Claim::Purpose::acquire, "resource", *Token::parse("token"));
};

TEST_F(FencingTokensDuty, AreNumbersThatAQuorumAcknowledged) {
  EXPECT_EQ(number(), 1'000'000'000U);
  EXPECT_FALSE(answered(0, Reply::granted, number()));
  EXPECT_EQ(FencingTokens::judge(claim), Verdict::first_round);
  EXPECT_FALSE(answered(1, Reply::granted, number()));
  EXPECT_EQ(FencingTokens::judge(claim), Verdict::acknowledged);
}

TEST_F(FencingTokensDuty, AreRaisedAboveAllThatNodesHave) {
  const std::uint64_t first = number();
  answered(0, Reply::granted, first);
  answered(1, Reply::behind, first + 5);
  tokens.raise(claim);
  EXPECT_EQ(number(), first + 6);
  tokens.asked(claim, NodeSet::first(2));
  EXPECT_EQ(meter.report(borrowed.now).nodes[0].fencing_raises, 1U);
  EXPECT_EQ(FencingTokens::judge(claim), Verdict::later_round);
  EXPECT_EQ(tokens.prospect(claim), Prospect::open);
  EXPECT_TRUE(answered(2, Reply::granted, first)) << "it is to be asked for more, too";
  EXPECT_FALSE(answered(0, Reply::granted, first + 6, Verb::raise_fence));
  EXPECT_FALSE(answered(1, Reply::granted, first + 6, Verb::raise_fence));
  EXPECT_EQ(FencingTokens::judge(claim), Verdict::acknowledged);
}

TEST_F(FencingTokensDuty, PruneWithTheFirstNumberOfAConnection) {
  tokens.prune(NodeSet::first(2));
  EXPECT_EQ(borrowed.asked(Verb::prune_fencing_numbers), NodeSet::first(2));
  borrowed.begin_step();
  tokens.came_up(1);
  tokens.prune(NodeSet::first(2));
  EXPECT_EQ(borrowed.asked(Verb::prune_fencing_numbers), NodeSet::of(1));
}

}  // namespace
}  // namespace redlock::core::test
