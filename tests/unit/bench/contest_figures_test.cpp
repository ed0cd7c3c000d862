#include "bench/contest/contest_figures.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "bench/contest/contest_board.hpp"
#include "bench/measure/node_commands.hpp"
#include "support/temp_dir.hpp"

namespace redlock::bench {
namespace {

using std::chrono::nanoseconds;

ContestRecord record(std::uint32_t contender, std::int64_t began, std::int64_t granted,
                     std::int64_t released) {
  return {began, granted, released, contender, 0};
}

TEST(ContestFigures, AHandOverIsToAnotherOneThatWaited) {
  const ContestResult result = judge_contest({record(0, 0, 10, 20),    // the first of all
                                              record(1, 5, 25, 35),    // waited: handed over in 5
                                              record(1, 36, 37, 47),   // came back at once
                                              record(0, 48, 50, 60),   // found the lock free
                                              record(1, 49, 67, 70)},  // waited: handed over in 7
                                             ContestPattern::reentry, 2, 100);
  EXPECT_EQ(result.acquisitions, 5U);
  EXPECT_EQ(result.hand_overs, 2U);
  EXPECT_EQ(result.reentries, 1U);
  EXPECT_EQ(result.hand_over.count(), 2U);
  EXPECT_EQ(result.hand_over.percentile(50), nanoseconds{5});
  EXPECT_EQ(result.hand_over.percentile(99), nanoseconds{7});
  EXPECT_EQ(result.hand_over.max(), nanoseconds{7});
  EXPECT_EQ(result.elapsed, nanoseconds{60});
  EXPECT_EQ(result.wait.max(), nanoseconds{20});
  EXPECT_EQ(result.wrong, "");
}

TEST(ContestFigures, RecordsComeInTheOrderOfTheContenders) {
  const ContestResult result =
      judge_contest({record(0, 0, 10, 20), record(0, 21, 40, 50), record(1, 5, 25, 35)},
                    ContestPattern::reentry, 2, 100);
  EXPECT_EQ(result.hand_overs, 2U);
  EXPECT_EQ(result.wrong, "");
}

TEST(ContestFigures, SharesAreOfAllContendersEvenThoseThatGotNothing) {
  ContestResult result =
      judge_contest({record(0, 0, 10, 20), record(1, 0, 21, 30), record(0, 21, 31, 40)},
                    ContestPattern::reentry, 2, 100);
  EXPECT_EQ(result.most, 2U);
  EXPECT_EQ(result.least, 1U);
  result = judge_contest({record(0, 0, 10, 20)}, ContestPattern::reentry, 2, 100);
  EXPECT_EQ(result.most, 1U);
  EXPECT_EQ(result.least, 0U);
}

TEST(ContestFigures, AStarvedContenderHasWaitedUntilTheEnd) {
  // Contender 1 is served only after the two acquisitions that count.
  const ContestResult result =
      judge_contest({record(0, 0, 10, 20), record(0, 21, 30, 40), record(1, 2, 50, 60)},
                    ContestPattern::reentry, 2, 2);
  EXPECT_EQ(result.acquisitions, 2U);
  EXPECT_EQ(result.hand_overs, 0U);
  EXPECT_EQ(result.least, 0U);
  EXPECT_EQ(result.worst_wait, nanoseconds{38});
  EXPECT_EQ(result.wait.max(), nanoseconds{10});
}

TEST(ContestFigures, AContenderThatIsStoppedWhileItWaitsHasWaitedUntilTheEnd) {
  ContestRecord stopped;
  stopped.contender = 1;
  stopped.began = 2;
  const ContestResult result = judge_contest({stopped, record(0, 0, 10, 20), record(0, 21, 30, 40)},
                                             ContestPattern::reentry, 2, 2);
  EXPECT_EQ(result.acquisitions, 2U);
  EXPECT_EQ(result.worst_wait, nanoseconds{38});
}

TEST(ContestFigures, InADrainTimePassesFromTheGatesReleaseOn) {
  const ContestResult result = judge_contest(
      {record(contest_gate, 0, 1, 100), record(0, 10, 110, 120), record(1, 20, 130, 140),
       record(contest_gate, 200, 210, 300), record(1, 220, 305, 315), record(0, 230, 320, 330)},
      ContestPattern::drain, 2, UINT64_MAX);
  EXPECT_EQ(result.acquisitions, 4U);
  EXPECT_EQ(result.hand_overs, 4U);
  EXPECT_EQ(result.reentries, 0U);
  EXPECT_EQ(result.elapsed, nanoseconds{40 + 30});
  EXPECT_EQ(result.worst_wait, nanoseconds{30});
  EXPECT_EQ(result.hand_over.max(), nanoseconds{10});
  EXPECT_EQ(result.most, 2U);
  EXPECT_EQ(result.least, 2U);
}

TEST(ContestFigures, TwoHoldersAtOnceAreReported) {
  const ContestResult result =
      judge_contest({record(0, 0, 10, 20), record(1, 0, 15, 30)}, ContestPattern::reentry, 2, 100);
  EXPECT_EQ(result.wrong, "contender 1 was granted the lock 5 ns before contender 0 released it");
  EXPECT_EQ(result.overlaps, 1U);
}

TEST(ContestFigures, OfNothingIsZero) {
  const ContestResult result = judge_contest({}, ContestPattern::reentry, 2, 100);
  EXPECT_EQ(result.acquisitions, 0U);
  EXPECT_EQ(result.elapsed, nanoseconds{0});
}

TEST(ContestBoard, ProcessesShareItsRecordsAndItsCounters) {
  const test::TempDir folder;
  const std::string path = (folder.path() / "board").string();
  const ContestBoard parent = ContestBoard::create(path, 3);
  const ContestBoard child = ContestBoard::open(path, 3);
  for (const std::int64_t began : {1, 2, 3, 4}) child.add(record(1, began, began, began));
  ++child.head().granted;
  EXPECT_EQ(parent.head().granted, 1U);
  const auto records = parent.records();
  ASSERT_EQ(records.size(), 3U) << "there is no room for the fourth";
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(records[i].began, static_cast<int>(i) + 1);
}

TEST(NodeCommands, SumsCallsAndKnowsThoseThatOnlyClientsSend) {
  const CommandCounts counts = parse_command_stats(
      "# Commandstats\r\n"
      "cmdstat_set:calls=7,usec=10,usec_per_call=1.43,rejected_calls=0,failed_calls=0\r\n"
      "cmdstat_evalsha:calls=3,usec=118,usec_per_call=39.3,rejected_calls=0,failed_calls=0\r\n"
      "cmdstat_client|setname:calls=1,usec=1,usec_per_call=1.0,rejected_calls=0,failed_calls="
      "0\r\n");
  EXPECT_EQ(counts.all, 11U);
  EXPECT_EQ(counts.scripts, 3U);
  EXPECT_EQ(parse_command_stats("").all, 0U);
}

}  // namespace
}  // namespace redlock::bench
