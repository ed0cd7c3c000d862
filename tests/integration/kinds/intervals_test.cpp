// Intervals (S3) on real servers.

#include <gtest/gtest.h>

#include <chrono>

#include "integration/kinds/kinds.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class S3 : public Kinds {};

TEST_F(S3, WithinAnIntervalItIsObtainedOnceEvenIfReleasedEarly) {
  auto lease = take(interval(resource_, seconds(600)));
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(eventually([&] { return count(resource_) == 5; }));
  ASSERT_TRUE(succeeded(lease->release()));
  const auto again = other_.try_acquire(interval(resource_, seconds(600)));
  ASSERT_TRUE(failed_with(again, Errc::held));
  // Redis 6.0 does not name what refuses.
  if (shared_nodes(5)[0].is_since(7)) {
    EXPECT_EQ(who_refused(again), Holder{Holder::Kind::interval});
  }
  const auto seen = client_.inspect(resource_);
  ASSERT_TRUE(succeeded(seen));
  EXPECT_EQ(seen->kind, LockKind::interval);
  EXPECT_EQ(seen->state, Inspection::State::held);
  for (const NodeInspection& node : seen->nodes) {
    ASSERT_TRUE(node.remaining);
    EXPECT_GT(*node.remaining, seconds(500)) << "longer than max TTL is allowed";
    EXPECT_LE(*node.remaining, seconds(600));
  }
}

TEST_F(S3, ACrashedHolderKeepsTheIntervalToo) {
  {
    auto lease = client_.try_acquire(interval(resource_, seconds(600)), {.ttl = seconds(1)});
    ASSERT_TRUE(succeeded(lease));
    static_cast<void>(lease->detach());  // as if its process were gone
  }
  EXPECT_TRUE(eventually([&] {
    const auto left = shared_nodes(5)[0].pttl(resource_);
    return left > 500'000 && left < 599'000;  // past the lease's own TTL
  }));
  EXPECT_TRUE(failed_with(other_.try_acquire(resource_), Errc::held));
}

TEST_F(S3, AfterTheIntervalItIsFree) {
  auto lease = take(interval(resource_, milliseconds(300)));
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(failed_with(other_.try_acquire(resource_), Errc::held));
  EXPECT_TRUE(succeeded(other_.try_acquire_for(resource_, seconds(30))));
}

TEST_F(S3, WhoIsRefusedLeavesNothingThatKeepsOthersOut) {
  const auto holder = take(resource_);
  ASSERT_TRUE(succeeded(holder));
  const auto its_nodes = [&] {
    return shared_nodes(5).count_held_by(resource_, holder->token().str());
  };
  ASSERT_TRUE(eventually([&] { return its_nodes() == 5; })) << "not all nodes were waited for";
  EXPECT_TRUE(failed_with(other_.try_acquire(interval(resource_, seconds(600))), Errc::held));
  EXPECT_EQ(its_nodes(), 5U);
}

}  // namespace
}  // namespace redlock::test
