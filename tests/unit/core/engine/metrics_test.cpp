#include <gtest/gtest.h>

#include <cstddef>

#include "unit/core/waiting/waiting.hpp"

namespace redlock::core::test {
namespace {

std::size_t bucket_of(const DurationHistogram& histogram) {
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    if (histogram.counts[i] != 0) return i;
  }
  return histogram.counts.size();
}

std::size_t bucket_of(std::chrono::nanoseconds duration) {
  RecordedDurations histogram;
  histogram.record(duration);
  return bucket_of(histogram);
}

TEST(DurationHistogram, CountsABoundInItsOwnBucketAndWhatIsLongerInTheNext) {
  EXPECT_EQ(bucket_of(0ns), 0U);
  EXPECT_EQ(bucket_of(1ns), 0U);
  EXPECT_EQ(bucket_of(1024ns), 0U);
  EXPECT_EQ(bucket_of(1025ns), 1U);
  for (std::size_t i = 0; i < DurationHistogram::bounds; ++i) {
    EXPECT_EQ(bucket_of(DurationHistogram::bound(i)), i);
    EXPECT_EQ(bucket_of(DurationHistogram::bound(i) + 1ns), i + 1);
  }
  EXPECT_EQ(bucket_of(Duration::max()), DurationHistogram::bounds);
}

TEST(Metrics, FollowALeaseFromTheCallToTheRelease) {
  Connected h(3);
  h.acquire(1, 10s);
  EXPECT_EQ(h.engine().metrics(h.now()).acquires_in_progress, 1U);
  h.pass(3ms);
  h.answers({0, 1, 2}, Reply::granted);
  Metrics metrics = h.engine().metrics(h.now());
  EXPECT_EQ(metrics.acquires.granted, 1U);
  EXPECT_EQ(metrics.attempts, 1U);
  EXPECT_EQ(metrics.handovers, 0U);
  EXPECT_EQ(metrics.leases_held, 1U);
  EXPECT_EQ(metrics.acquires_in_progress, 0U);
  EXPECT_EQ(metrics.waits.sum, 3ms);
  EXPECT_EQ(metrics.holds.count(), 0U);
  for (const NodeMetrics& node : metrics.nodes) {
    EXPECT_TRUE(node.up && node.may_vote);
    EXPECT_EQ(node.votes.granted, 1U);
    EXPECT_EQ(node.round_trips.sum, 3ms);
  }
  h.pass(50ms);
  h.release(2);
  EXPECT_EQ(h.engine().metrics(h.now()).nodes[0].owed_releases, 0U) << "it was sent";
  h.answers({0, 1, 2}, Reply::released);
  metrics = h.engine().metrics(h.now());
  EXPECT_EQ(metrics.leases_held, 0U);
  EXPECT_EQ(metrics.holds.sum, 50ms);
  EXPECT_EQ(metrics.leases_lost, 0U);
  EXPECT_EQ(metrics.nodes[0].round_trips.count(), 1U) << "a release is no vote";
}

TEST(Metrics, CountRefusalsTimeoutsAndNodesThatAreDown) {
  Connected h(5);
  h.down(4);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::taken, holder);
  h.answer(2, Reply::error, "OOM");
  const Metrics refused = h.engine().metrics(h.now());
  EXPECT_EQ(refused.acquires.held + refused.acquires.unavailable + refused.acquires.split, 1U);
  EXPECT_EQ(refused.nodes[0].votes.refused, 1U);
  EXPECT_EQ(refused.nodes[2].votes.error, 1U);
  EXPECT_EQ(refused.nodes[4].votes.unreachable, 1U);
  EXPECT_EQ(refused.nodes[4].round_trips.count(), 0U);
  h.pass(2s);
  const Metrics late = h.engine().metrics(h.now());
  EXPECT_EQ(late.nodes[3].votes.timeout, 1U);
  EXPECT_FALSE(late.nodes[3].up);
  EXPECT_EQ(late.nodes[3].owed_releases, 1U) << "it may execute the SET yet";
  h.up(3);
  EXPECT_EQ(h.engine().metrics(h.now()).nodes[3].reconnects, 1U);
}

TEST(Metrics, CountWaitingCallersAndTheHandoverThatServesOne) {
  Queued h;
  Metrics metrics = h.engine().metrics(h.now());
  EXPECT_EQ(metrics.acquires_waiting, 1U);
  EXPECT_EQ(metrics.acquires_in_progress, 1U);
  h.pass(20ms);
  h.notified(0, "resource");
  h.notified(1, "resource");
  h.answers({0, 1, 2}, Reply::granted);
  metrics = h.engine().metrics(h.now());
  EXPECT_EQ(metrics.acquires.granted, 1U);
  EXPECT_EQ(metrics.handovers, 1U);
  EXPECT_EQ(metrics.attempts, 2U);
  EXPECT_EQ(metrics.acquires_waiting, 0U);
  EXPECT_EQ(metrics.waits.sum, 20ms);
}

TEST(Metrics, CountRenewalsAndTheLossWhenTheyFail) {
  Connected h(1);
  h.hold(9s, Acquire::Renewal{UINT64_MAX, Duration::max()});
  h.pass(3s);
  h.answer(0, Reply::extended);
  EXPECT_EQ(h.engine().metrics(h.now()).renewals_done, 1U);
  h.down(0);
  h.pass(12s);
  const Metrics metrics = h.engine().metrics(h.now());
  EXPECT_EQ(metrics.leases_lost, 1U);
  EXPECT_EQ(metrics.leases_held, 0U);
  EXPECT_GT(metrics.renewals_failed, 0U);
  const NodeMetrics::Votes& votes = metrics.nodes[0].votes;
  EXPECT_EQ(votes.unreachable + votes.timeout, metrics.renewals_failed);
  EXPECT_EQ(metrics.holds.count(), 1U);
}

TEST(Metrics, CompareClocksWithTheirMedian) {
  Settings settings = Harness::settings_for(3);
  settings.clock_guard = true;
  Harness h(settings);
  h.tick();
  for (NodeIndex node = 0; node < 3; ++node) h.up(node);
  EXPECT_EQ(h.engine().metrics(h.now()).nodes[0].clock_offset, std::nullopt);
  for (NodeIndex node = 0; node < 3; ++node) h.clock(node, 1000s + node * 100ms);
  const Metrics metrics = h.engine().metrics(h.now());
  EXPECT_EQ(metrics.nodes[0].clock_offset, -100ms);
  EXPECT_EQ(metrics.nodes[2].clock_offset, 100ms);
}

TEST(Metrics, CountCallsBeyondALimit) {
  Settings settings = Harness::settings_for(1);
  settings.max_operations = 0;
  Harness h(settings);
  Harness::ready(h);
  h.acquire(1, 10s);
  EXPECT_EQ(h.engine().metrics(h.now()).acquires.limit_reached, 1U);
}

}  // namespace
}  // namespace redlock::core::test
