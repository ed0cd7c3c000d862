#include "core/duties/closing.hpp"

#include <gtest/gtest.h>

#include <variant>

#include "borrowed.hpp"

namespace redlock::core::test {
namespace {

struct ClosingDuty : testing::Test {
  [[nodiscard]] bool must_wait(NodeSet forgetting = {}) const {
    return closing.must_wait(forgetting, false);
  }
  /// A claim with a request that the node has not answered.
  Claim& owed_to(NodeIndex node) {
    Claim& claim = claims.make(Claim::Purpose::acquire, "resource", *Token::parse("token"));
    claim.keys.by(me).assume_present(NodeSet::of(node));
    claim.keys.by(me).expires_by(later(borrowed.now, 10s));
    claim.keys.by(me).owe_release(NodeSet::of(node));
    return claim;
  }

  Borrowed borrowed{3};
  Claims claims;
  Closing closing{borrowed.now, claims, borrowed.nodes, borrowed.outbox};
};

TEST_F(ClosingDuty, HasNoDeadlineBeforeItHasBegun) {
  EXPECT_FALSE(closing.has_begun());
  EXPECT_EQ(closing.deadline(), never);
}

TEST_F(ClosingDuty, WaitsShortlyForNodesAndUntilItsLimitForAnswers) {
  closing.begin(10s);
  EXPECT_EQ(closing.deadline() - borrowed.now, 100ms);
  EXPECT_TRUE(closing.must_wait({}, true)) << "a node may become a member yet";
  borrowed.outbox.send(NodeSet::of(1), Stamp(Verb::read_clock));
  borrowed.begin_step(100ms);
  EXPECT_EQ(closing.deadline() - borrowed.now, 9900ms);
  EXPECT_TRUE(must_wait());
  borrowed.begin_step(9900ms);
  EXPECT_FALSE(must_wait());
  closing.end();
  EXPECT_TRUE(closing.is_over());
  EXPECT_EQ(closing.deadline(), never);
}

TEST_F(ClosingDuty, DoesNotWaitLongForANodeThatIsOnlyToForgetTheName) {
  borrowed.outbox.send(NodeSet::of(1), Stamp(Verb::write_name));
  closing.begin(10s);
  EXPECT_TRUE(must_wait(NodeSet::of(1)));
  borrowed.begin_step(100ms);
  EXPECT_FALSE(must_wait(NodeSet::of(1)));
  EXPECT_TRUE(must_wait()) << "it is something else";
}

TEST_F(ClosingDuty, WaitsForWhatIsOwedAndReportsWhatWasNotDelivered) {
  owed_to(2);
  closing.begin(10s);
  EXPECT_TRUE(must_wait());
  borrowed.begin_step(1s);
  closing.end();
  ASSERT_EQ(borrowed.count<Undelivered>(), 1U);
  const auto& report = std::get<Undelivered>(borrowed.commands.front());
  EXPECT_EQ(report.node, 2);
  EXPECT_EQ(report.releases, 1);
  EXPECT_EQ(report.left, 9s);
}

TEST_F(ClosingDuty, GivesUpANodeThatEndsOneConnectionAfterTheOther) {
  owed_to(2);
  closing.dropped(2);
  closing.begin(10s);
  for (int drop = 0; drop < 4; ++drop) closing.dropped(2);
  EXPECT_TRUE(must_wait()) << "those of before do not count";
  closing.dropped(2);
  borrowed.begin_step(100ms);
  EXPECT_FALSE(must_wait());
}

}  // namespace
}  // namespace redlock::core::test
