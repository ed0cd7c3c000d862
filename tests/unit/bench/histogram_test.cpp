#include "bench/measure/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace redlock::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

void expect_within_a_thousandth(nanoseconds actual, nanoseconds expected) {
  const auto tolerance = expected / 1000 + nanoseconds{1};
  EXPECT_LE(actual, expected + tolerance);
  EXPECT_GE(actual, expected - tolerance);
}

TEST(Histogram, AnEmptyHistogramAnswersZeroToEveryQuestion) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.min(), nanoseconds{0});
  EXPECT_EQ(histogram.max(), nanoseconds{0});
  EXPECT_EQ(histogram.percentile(50), nanoseconds{0});
}

TEST(Histogram, ASingleValueIsEveryPercentile) {
  Histogram histogram;
  histogram.record(microseconds{91'234});
  for (const double percent : {0.0, 1.0, 50.0, 99.0, 99.99, 100.0}) {
    EXPECT_EQ(histogram.percentile(percent), microseconds{91'234});
  }
}

TEST(Histogram, ValuesBelowTwoMicrosecondsAreKeptExactly) {
  Histogram histogram;
  for (int i = 1; i <= 2'000; ++i) histogram.record(nanoseconds{i});
  EXPECT_EQ(histogram.percentile(50), nanoseconds{1'000});
  EXPECT_EQ(histogram.percentile(99), nanoseconds{1'980});
  EXPECT_EQ(histogram.percentile(0), nanoseconds{1});
  EXPECT_EQ(histogram.percentile(100), nanoseconds{2'000});
}

TEST(Histogram, ThreeDigitsSurviveFromNanosecondsToMinutes) {
  for (nanoseconds value{1}; value < minutes{9}; value = value * 7 / 3 + nanoseconds{1}) {
    Histogram histogram;
    histogram.record(nanoseconds{1});
    histogram.record(value);
    histogram.record(minutes{9});
    expect_within_a_thousandth(histogram.percentile(50), value);
  }
}

TEST(Histogram, PercentilesAgreeWithASortedListOfTheSameValues) {
  std::mt19937_64 random(20'240'229);  // NOLINT(cert-msc32-c,cert-msc51-cpp): repeatable on purpose
  std::lognormal_distribution<double> microsecond_like(11.5, 1.7);
  Histogram histogram;
  std::vector<nanoseconds> sorted;
  for (int i = 0; i < 20'000; ++i) {
    const nanoseconds value{static_cast<std::int64_t>(microsecond_like(random))};
    histogram.record(value);
    sorted.push_back(value);
  }
  std::sort(sorted.begin(), sorted.end());
  for (const double percent : {0.1, 1.0, 10.0, 50.0, 90.0, 99.0, 99.9}) {
    const double rank = std::ceil(percent / 100.0 * static_cast<double>(sorted.size()));
    expect_within_a_thousandth(histogram.percentile(percent),
                               sorted[static_cast<std::size_t>(rank) - 1]);
  }
  EXPECT_EQ(histogram.min(), sorted.front());
  EXPECT_EQ(histogram.max(), sorted.back());
}

TEST(Histogram, APercentileNeverLeavesTheRangeOfTheValues) {
  Histogram histogram;
  histogram.record(seconds{1} + nanoseconds{1});
  histogram.record(seconds{1} + nanoseconds{2});
  EXPECT_EQ(histogram.percentile(50), seconds{1} + nanoseconds{2});
  EXPECT_EQ(histogram.percentile(-5), seconds{1} + nanoseconds{1});
  EXPECT_EQ(histogram.percentile(400), seconds{1} + nanoseconds{2});
}

TEST(Histogram, WhatIsTooLongIsCountedAndItsMaximumKept) {
  Histogram histogram;
  histogram.record(milliseconds{1});
  histogram.record(minutes{90});
  histogram.record(minutes{100});
  EXPECT_EQ(histogram.count(), 3U);
  EXPECT_EQ(histogram.max(), minutes{100});
  EXPECT_EQ(histogram.percentile(100), minutes{100});
  EXPECT_GT(histogram.percentile(50), minutes{9});
  EXPECT_LT(histogram.percentile(50), minutes{10});
}

TEST(Histogram, ANegativeDurationCountsAsZero) {
  Histogram histogram;
  histogram.record(nanoseconds{-3});
  EXPECT_EQ(histogram.count(), 1U);
  EXPECT_EQ(histogram.max(), nanoseconds{0});
}

TEST(Histogram, MergingEqualsRecordingEverythingInOne) {
  Histogram odd;
  Histogram even;
  Histogram all;
  for (int i = 1; i <= 5'000; ++i) {
    const nanoseconds value = microseconds{i};
    (i % 2 == 0 ? even : odd).record(value);
    all.record(value);
  }
  odd.merge(even);
  EXPECT_EQ(odd.count(), all.count());
  EXPECT_EQ(odd.min(), all.min());
  EXPECT_EQ(odd.max(), all.max());
  for (const double percent : {1.0, 50.0, 99.0}) {
    EXPECT_EQ(odd.percentile(percent), all.percentile(percent));
  }
}

TEST(Histogram, MergingAnEmptyOneChangesNothing) {
  Histogram histogram;
  histogram.record(microseconds{7});
  histogram.merge(Histogram{});
  EXPECT_EQ(histogram.count(), 1U);
  EXPECT_EQ(histogram.min(), microseconds{7});
  EXPECT_EQ(histogram.max(), microseconds{7});
}

}  // namespace
}  // namespace redlock::bench
