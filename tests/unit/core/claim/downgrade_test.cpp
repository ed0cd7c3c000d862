// A writer's lease that becomes a reader's.

#include <gtest/gtest.h>

#include <string>

#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

constexpr Acquire::Renewal no_limits{UINT64_MAX, Duration::max()};

/// The terms of the last request.
Terms last_asked(Harness& h) {
  Terms terms;
  for (const Command& command : h.commands()) {
    if (const Request* request = request_for_claim_in(command)) terms = request->terms;
  }
  return terms;
}

TEST(Downgrade, IsDecidedByAQuorumAndLeavesTheDeadlineAsItIs) {
  Connected h(3);
  h.hold(9s, no_limits);
  h.pass(1s);
  EXPECT_EQ(h.downgrade(2), "downgrade t1 -> 0 1 2");
  EXPECT_EQ(last_asked(h).ttl, 0ms);
  EXPECT_EQ(h.answer(0, Reply::extended), "");
  EXPECT_EQ(h.answer(1, Reply::extended), "extended #2 until 8908ms");
  EXPECT_EQ(h.valid_until(), Instant(8908ms));
}

TEST(Downgrade, CountsFromTheRequestOnAndTheRestIsSeenToByRenewals) {
  Connected h(3);
  h.hold(9s, no_limits);
  h.downgrade(2);
  EXPECT_EQ(h.engine().claim(h.lease)->terms().kind(), Kind::shared);
  h.answers({0, 1}, Reply::extended);
  h.answer(2, Reply::error, "BUSY");
  EXPECT_EQ(h.pass(3s), "extend t1 -> 0 1 2") << "no sooner, and no later, than without it";
  EXPECT_EQ(last_asked(h).group, "shared");
  EXPECT_TRUE(last_asked(h).downgraded);
  h.answers({0, 1, 2}, Reply::extended);
  EXPECT_EQ(h.release(3), "release t1 -> 0 1 2");
}

TEST(Downgrade, ThatTooFewNodesAnswerTakesNoTimeAwayAndIsAReadersAllTheSame) {
  Connected h(3);
  h.hold(9s, no_limits);
  h.downgrade(2);
  h.down(0);
  EXPECT_EQ(h.down(1), "failed #2 unavailable");
  EXPECT_EQ(h.valid_until(), Instant(8908ms));
  EXPECT_EQ(h.engine().claim(h.lease)->terms().kind(), Kind::shared);
  EXPECT_EQ(h.downgrade(3), "downgrade t1 -> 2; failed #3 unavailable");
}

TEST(Downgrade, CountsAsNoRenewal) {
  Connected h(1);
  h.hold(9s, Acquire::Renewal{1, Duration::max()});
  h.downgrade(2);
  h.answer(0, Reply::extended);
  EXPECT_EQ(h.extend(3, 9s), "extend t1 -> 0");
}

TEST(Downgrade, AskedForWhileAnExtendIsUnderWayIsNext) {
  Connected h(1);
  h.hold(9s);
  h.extend(2, 9s);
  EXPECT_EQ(h.extend(3, 10s), "");
  EXPECT_EQ(h.downgrade(4), "");
  EXPECT_EQ(h.downgrade(5), "");
  EXPECT_EQ(h.answer(0, Reply::extended), "extended until 8908ms; extended #2 until 8908ms");
  EXPECT_EQ(h.tick(), "downgrade t1 -> 0");
  EXPECT_EQ(h.answer(0, Reply::extended), "extended #4 until 8908ms; extended #5 until 8908ms");
  EXPECT_EQ(h.tick(), "extend t1 -> 0");
}

TEST(Downgrade, IsCancelledByARelease) {
  Connected h(1);
  h.hold(9s);
  h.extend(2, 9s);
  h.downgrade(3);
  EXPECT_EQ(h.release(4), "failed #2 cancelled; failed #3 cancelled; release t1 -> 0");
  EXPECT_EQ(h.downgrade(5), "failed #5 not_holder");
}

TEST(Downgrade, ByTokenAsksEveryNodeAndGivesNothingBack) {
  Connected h(3);
  const auto token = *Token::parse("another");
  EXPECT_EQ(h.step(DowngradeToken{CallId{1}, "resource", token}), "downgrade another -> 0 1 2");
  h.answer(0, Reply::extended);
  EXPECT_EQ(h.answer(1, Reply::extended), "extended #1 until 0ms");
  EXPECT_EQ(h.answer(2, Reply::gone), "");
  EXPECT_EQ(h.settled(), "yes");
  h.step(DowngradeToken{CallId{2}, "resource", token});
  h.answer(0, Reply::gone);
  EXPECT_EQ(h.answer(1, Reply::gone), "failed #2 not_holder");
}

TEST(Downgrade, LeavesTheWritersKeyToNodesThatRunNoScripts) {
  Harness h(Harness::settings_for(3));
  h.tick();
  NodeUp node;
  node.capabilities = {Capability::set_fenced, Capability::compare, Capability::set_all};
  for (NodeIndex i = 0; i < 3; ++i) h.up_as(i, node);
  h.hold(9s);
  h.downgrade(2);
  h.answer(0, Reply::error, "NOPERM");
  EXPECT_EQ(h.answer(1, Reply::error, "NOPERM"), "failed #2 unavailable");
  h.answer(2, Reply::error, "NOPERM");
  EXPECT_EQ(h.extend(3, 9s), "extend-plain t1 -> 0 1 2");
  EXPECT_EQ(h.release(4), "failed #3 cancelled; release-plain t1 -> 0 1 2");
}

}  // namespace
}  // namespace redlock::core::test
