#include "quorum-lock/supervise/loss_plan.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;

TEST(CliLossPlan, EndsTheCommandBeforeTheValidityByDefault) {
  for (const std::chrono::nanoseconds ttl : {1ms, 300ms, 10'000ms, 3'600'000ms}) {
    const LossPlan plan = plan_loss(ttl, std::nullopt);
    EXPECT_EQ(plan.kill_after + plan.margin, plan.term_lead);
    EXPECT_LE(plan.term_lead, ttl / 5);
    EXPECT_LE(plan.term_lead, 2s);
  }
  EXPECT_EQ(plan_loss(10s, std::nullopt).term_lead, 2s);
  EXPECT_EQ(plan_loss(10s, std::nullopt).kill_after, 1500ms);
}

TEST(CliLossPlan, KeepsAGraceThatWasAskedFor) {
  const LossPlan plan = plan_loss(10s, 3s);
  EXPECT_EQ(plan.kill_after, 3s);
  EXPECT_EQ(plan.term_lead, 3500ms) << "still gone before the validity ends";
}

TEST(CliLossPlan, NeverAsksTheCommandToEndBeforeHalfOfTheTtl) {
  EXPECT_EQ(plan_loss(10s, 60s).term_lead, 5s);
  EXPECT_EQ(plan_loss(10s, std::chrono::nanoseconds::max()).term_lead, 5s);
  EXPECT_EQ(plan_loss(10s, std::chrono::nanoseconds::max()).kill_after,
            std::chrono::nanoseconds::max());
}

TEST(CliLossPlan, KillsAtOnceWhenNoGraceIsWanted) {
  EXPECT_EQ(plan_loss(10s, 0s).kill_after, 0s);
  EXPECT_EQ(plan_loss(10s, 0s).term_lead, 500ms);
}

}  // namespace
}  // namespace redlock::cli
