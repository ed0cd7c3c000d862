#include "runtime/kept_round.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "runtime/explain.hpp"

namespace redlock::runtime {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> urls{"redis://a", "redis://b", "redis://c"};

core::Round begun() {
  core::Round round;
  round.begin(1, urls.size(), 2, core::Instant(), 10s);
  return round;
}

/// The later report equals the immediate one.
void expect_kept(const core::Round& round, core::Duration validity) {
  const RoundReport kept = KeptRound(round, urls, 3ms, validity).report();
  const RoundReport told = report_round(round, urls, 3ms, validity);
  EXPECT_EQ(kept.quorum, told.quorum);
  EXPECT_EQ(kept.ttl, told.ttl);
  EXPECT_EQ(kept.elapsed, told.elapsed);
  EXPECT_EQ(kept.validity, told.validity);
  ASSERT_EQ(kept.nodes.size(), told.nodes.size());
  for (std::size_t i = 0; i < told.nodes.size(); ++i) {
    EXPECT_EQ(kept.nodes[i].url, told.nodes[i].url);
    EXPECT_EQ(kept.nodes[i].vote, told.nodes[i].vote);
    EXPECT_EQ(kept.nodes[i].round_trip, told.nodes[i].round_trip);
    EXPECT_EQ(kept.nodes[i].holder, told.nodes[i].holder);
    EXPECT_EQ(kept.nodes[i].remaining, told.nodes[i].remaining);
    EXPECT_EQ(kept.nodes[i].message, told.nodes[i].message);
  }
}

TEST(KeptRound, TellsOfGrantsAndOfWhoWasNotWaitedFor) {
  core::Round round = begun();
  expect_kept(round, 9s);
  round.record(2, Vote::granted, {{}, 1ms});
  round.record(0, Vote::granted, {{}, 2ms});
  expect_kept(round, 9s);
  expect_kept(round, -1s);
}

TEST(KeptRound, TellsWhatOtherNodesSaid) {
  core::Round refused = begun();
  refused.record(0, Vote::granted, {{}, 1ms});
  refused.record(1, Vote::refused, {"somebody", 2ms, 4s});
  expect_kept(refused, 9s);
  core::Round failed = begun();
  failed.record(0, Vote::error, {"READONLY", 1ms});
  failed.record(1, Vote::timeout, {"no answer within 250 ms"});
  failed.record(2, Vote::excluded, {"quarantined", {}, 5s});
  expect_kept(failed, 0s);
}

}  // namespace
}  // namespace redlock::runtime
