#include "chaos/checker/checker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "chaos/checker/checker_history.hpp"
#include "support/temp_dir.hpp"

namespace redlock::chaos {
namespace {

using Kinds = std::vector<std::string>;

/// Histories written by hand. Instants count from 1000; TTLs are 500.
class ChaosChecker : public ::testing::Test {
 protected:
  void SetUp() override { write("run", "run 7 5 2 a,b 1000 5000000000 kill,pause\n"); }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.path() / (name + ".history")) << content;
  }
  void counter(const std::string& resource, const std::string& content) const {
    std::ofstream(folder_.path() / counter_file_name(resource)) << content;
  }

  [[nodiscard]] History history() const { return read_history(folder_.path()); }

  [[nodiscard]] Kinds kinds() const {
    Kinds kinds;
    for (const Violation& violation : judge(history()).violations) kinds.push_back(violation.kind);
    return kinds;
  }

  test::TempDir folder_;
};

TEST_F(ChaosChecker, TakesLeasesThatFollowEachOther) {
  write("contender-0.0",
        "granted 1 a 1900 2000 2400 500 10\nused 1 2100\ntrying 1 2150\nwrote 1 2151\n"
        "ended 1 2200 released\n");
  write("contender-1.0", "granted 1 a 2100 2201 2600 500 11\nended 1 2700 lost\n");
  counter("a", "00000000000000000001 00000000000000000011\n");
  EXPECT_EQ(kinds(), Kinds{});
  EXPECT_TRUE(judge(history()).good(history()));
  EXPECT_EQ(history().leases.size(), 2U);
  EXPECT_EQ(judge(history()).updates, 1U);
}

TEST_F(ChaosChecker, IsMildForASecondAndAHalfAfterAnEvictionAndSaysSo) {
  constexpr std::int64_t ms = 1'000'000;
  const auto overlap_at = [&](std::int64_t asked, std::int64_t second) {
    // A node evicts from 2 s to 2.2 s of the boot clock.
    write("run",
          "run 7 5 2 a,b 1000 5000000000 evict\nfault evict evicting 1 0 2000000000 2200000000\n");
    const auto instant = [](std::int64_t at) { return std::to_string(at * ms) + " "; };
    const std::string ttl = instant(8000);
    write("contender-0.0", "granted 1 a " + instant(asked) + instant(asked + 1) +
                               instant(asked + 8000) + ttl + "10\n");
    write("contender-1.0", "granted 1 a " + instant(second - 1) + instant(second) +
                               instant(second + 8000) + ttl + "11\n");
    const Judgement judgement = judge(history());
    EXPECT_NE(judgement.unnoticed > 0, !judgement.violations.empty());
    return !judgement.violations.empty();
  };
  EXPECT_FALSE(overlap_at(1500, 2100));
  EXPECT_FALSE(overlap_at(1500, 3600));
  // An overlap before the eviction, one long after it, and one of a lease requested after it.
  EXPECT_TRUE(overlap_at(1500, 1900));
  EXPECT_TRUE(overlap_at(1500, 3800));
  EXPECT_TRUE(overlap_at(2300, 2500));
}

TEST_F(ChaosChecker, WantsALockSoonAfterAFailover) {
  // The max TTL is 1 s; the failover is at 10 s, and the next grant at `granted`.
  const auto judged = [&](std::int64_t granted, const std::string& fault = {}) {
    constexpr std::int64_t ms = 1'000'000;
    write("run", "run 7 1 2 a 1000 5000000000 kill\nservice sentinel 3 1000000000\n" + fault +
                     "failover 0 2 " + std::to_string(10'000 * ms) + "\n");
    const auto instant = [](std::int64_t at) { return std::to_string(at * ms) + " "; };
    write("contender-0.0", "granted 1 a " + instant(8000) + instant(8001) + instant(8500) +
                               instant(500) + "10\ngranted 2 a " + instant(granted - 1) +
                               instant(granted) + instant(granted + 100) + instant(500) + "11\n");
    return kinds();
  };
  EXPECT_EQ(judged(15'900), Kinds{});
  EXPECT_EQ(judge(history()).recoveries.size(), 1U);
  EXPECT_EQ(judged(16'100), Kinds{"late"});
  EXPECT_EQ(judged(16'100, "fault kill killed-empty 1 0 11000000000 12000000000\n"), Kinds{});
}

TEST_F(ChaosChecker, JudgesALockThatWasBroken) {
  // Two leases overlap from 2700 ms on; the first one's lock is broken at 2500 ms.
  const auto judged = [&](const std::string& breaks) {
    const auto ms = [](int at) { return std::to_string(at) + "000000 "; };
    write("contender-0.0", "granted 1 a " + ms(1900) + ms(2000) + ms(4000) + ms(2000) + "10\n" +
                               "token 1 theirs, by name\n");
    write("contender-1.0",
          "granted 1 a " + ms(2600) + ms(2700) + ms(4000) + ms(2000) + "11\n" + breaks);
    return kinds();
  };
  const std::string at = " 2500000000 ";
  const std::string theirs = " theirs, by name\n";
  EXPECT_EQ(judged(""), Kinds{"overlap"});
  EXPECT_EQ(judged("breaking a" + at + "0" + theirs), Kinds{}) << "without a delay";
  EXPECT_EQ(judged("breaking a" + at + "200000000" + theirs), Kinds{}) << "less the drift";
  EXPECT_EQ(judged("breaking a" + at + "210000000" + theirs), Kinds{"overlap"}) << "the delay";
  EXPECT_EQ(judged("breaking b" + at + "0" + theirs), Kinds{"overlap"}) << "another resource";
  EXPECT_EQ(judged("breaking a" + at + "0 another\n"), Kinds{"overlap"});
  EXPECT_EQ(judged("broken 2550000000\n"), (Kinds{"unreadable", "overlap"}));
  // The first contender's program does not record its tokens: either may be its.
  const std::string first = "granted 1 a 1900000000 2000000000 4000000000 2000000000 10\n";
  static_cast<void>(judged("breaking a" + at + "0 another\n"));
  write("contender-0.0", first);
  EXPECT_EQ(kinds(), Kinds{});
  static_cast<void>(judged("token 1 known\nbreaking a 2800000000 0 known\n"));
  write("contender-0.0", first);
  EXPECT_EQ(kinds(), Kinds{"overlap"}) << "it was another one's";
}

TEST_F(ChaosChecker, FindsWhoGotAResourceDuringADelay) {
  const auto judged = [&](const std::string& who, const std::string& breaks) {
    const auto ms = [](int at) { return std::to_string(at) + "000000 "; };
    write("contender-0.0",
          "granted 1 a " + ms(2100) + ms(2200) + ms(4000) + ms(2000) + who + "\n" + breaks);
    return kinds();
  };
  const std::string broken = "breaking a 2000000000 1000000000 gone\nbroken ";
  EXPECT_EQ(judged("10", broken + "2050000000\n"), Kinds{"not-kept-out"});
  EXPECT_EQ(judged("0 readers", broken + "2050000000\n"), Kinds{"not-kept-out"});
  EXPECT_EQ(judged("10", broken + "2150000000\n"), Kinds{}) << "it had asked before the answer";
  EXPECT_EQ(judged("10", "breaking a 2000000000 1000000000 gone\n"), Kinds{}) << "no success";
  EXPECT_EQ(judged("10", "breaking a 2000000000 100000000 gone\nbroken 2050000000\n"), Kinds{})
      << "the delay was over";
}

TEST_F(ChaosChecker, FindsTwoLeasesAtOnce) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\n");
  write("contender-1.0", "granted 1 a 2100 2399 2600 500 11\n");
  EXPECT_EQ(kinds(), Kinds{"overlap"});
  EXPECT_FALSE(judge(history()).good(history()));
}

TEST_F(ChaosChecker, TakesLeasesAtOnceOnTwoResources) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\n");
  write("contender-1.0", "granted 1 b 2100 2300 2600 500 10\n");
  EXPECT_EQ(kinds(), Kinds{});
}

TEST_F(ChaosChecker, FindsAnOverlapBehindAShorterLeaseInBetween) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\n");
  write("contender-1.0",
        "granted 1 a 2001 2010 2400 500 11\nended 1 2020 released\n"
        "granted 2 a 2301 2310 2600 500 12\n");
  EXPECT_EQ(kinds(), (Kinds{"overlap", "overlap"}));
}

TEST_F(ChaosChecker, CountsARenewedLeaseToItsLastDeadline) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\ndeadline 1 2200 2650\n");
  write("contender-1.0", "granted 1 a 2100 2500 2600 500 11\n");
  EXPECT_EQ(kinds(), Kinds{"overlap"});
}

TEST_F(ChaosChecker, CountsALeaseThatWasCutShortOnlyToItsNewDeadline) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\ndeadline 1 2200 2250\n");
  write("contender-1.0", "granted 1 a 2100 2300 2600 500 11\n");
  EXPECT_EQ(kinds(), Kinds{});
}

TEST_F(ChaosChecker, LeavesOutALeaseThatWasOverBeforeItsProcessKnew) {
  write("contender-0.0", "granted 1 a 1900 2500 2400 500 10\n");
  write("contender-1.0", "granted 1 a 2410 2420 2600 500 11\n");
  EXPECT_EQ(kinds(), Kinds{});
}

TEST_F(ChaosChecker, TakesLeasesOfOneGroupAtOnceAndNobodyElses) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 0 readers\n");
  write("contender-1.0", "granted 1 a 2100 2200 2600 500 0 readers\n");
  EXPECT_EQ(kinds(), Kinds{});
  write("contender-1.1", "granted 1 a 2100 2300 2600 500 0 owner-x\n");
  EXPECT_EQ(kinds(), (Kinds{"overlap"})) << "with the longer one of the readers";
  write("contender-1.1", "granted 1 a 2100 2500 2800 500 11\n");
  EXPECT_EQ(kinds(), (Kinds{"overlap"})) << "with the reader that is left";
}

TEST_F(ChaosChecker, FindsOverlapsOnEachOfSeveralResources) {
  write("contender-0.0", "granted 1 a,b 1900 2000 2400 500 10\n");
  write("contender-1.0", "granted 1 b 2100 2200 2600 500 11\n");
  EXPECT_EQ(kinds(), Kinds{"overlap"});
}

TEST_F(ChaosChecker, FindsTwoOnAPermitAndAPermitTooMany) {
  write("run", "run 7 5 2 a,b 1000 5000000000 kill,pause\npermits 2\n");
  write("contender-0.0", "granted 1 a#0 1900 2000 2400 500 0\n");
  write("contender-1.0", "granted 1 a#1 1900 2000 2400 500 0\ngranted 2 a 1900 2000 2400 500 10\n");
  EXPECT_EQ(kinds(), Kinds{});
  write("contender-1.1", "granted 1 a#1 2100 2200 2600 500 0\n");
  EXPECT_EQ(kinds(), Kinds{"overlap"});
  write("contender-1.1", "granted 1 a#2 2100 2200 2600 500 0\n");
  EXPECT_EQ(kinds(), Kinds{"no-permit"});
}

TEST_F(ChaosChecker, AHoldThatIsSharedIsNoProgress) {
  write("run", "run 7 5 1 a 1000 5000000000 kill,pause\nhealed 3000\n");
  write("contender-0.0", "granted 1 a 3000 3001 3400 500 0 readers\n");
  EXPECT_EQ(kinds(), Kinds{"no-progress"});
}

TEST_F(ChaosChecker, OrdersOnlyLeasesThatAskedForAToken) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\nended 1 2100 released\n");
  write("contender-1.0",
        "granted 1 a 2100 2200 2600 500 0\nended 1 2300 released\n"
        "granted 2 a 2300 2400 2800 500 11\n");
  EXPECT_EQ(kinds(), Kinds{});
}

TEST_F(ChaosChecker, FindsTwoLeasesWithinAnInterval) {
  write("run", "run 7 5 2 a,b 1000 5000000000 kill,pause\ninterval i 900000000\n");
  const std::string first = "granted 1 i 1000 1000 501000 500000 10\nended 1 2000 released\n";
  write("contender-0.0", first + "granted 2 i 1000 890000000 890500000 500000 11\n");
  EXPECT_EQ(kinds(), Kinds{});
  write("contender-0.0", first + "granted 2 i 1000 880000000 880500000 500000 11\n");
  EXPECT_EQ(kinds(), Kinds{"too-soon"});
}

TEST_F(ChaosChecker, FindsWhoWaitsAndWhatStandsFreeWhileNothingIsBroken) {
  const std::string whole = "run 7 5 2 a,b 0 5000000000 kill,pause\nfinished 60000000000\n";
  write("run", whole);
  // The other contender had the resource for eleven of the twelve seconds.
  write("contender-0.0", "granted 1 a 0 1000 11000000000 20000000000 10\n");
  write("contender-1.0", "granted 1 a 0 12000000000 12500000000 500000000 11\n");
  EXPECT_EQ(kinds(), Kinds{"starved"});
  EXPECT_EQ(judge(history()).waiting.longest_wait, 12'000'000'000);
  EXPECT_EQ(judge(history()).waiting.longest_idle, 1'000'000'000);
  // Nobody had the resource.
  write("contender-0.0", "failed a 0 11000000000 held\n");
  EXPECT_EQ(kinds(), (Kinds{"starved", "idle"}));
  // A fault was active in between.
  write("run", whole + "fault kill killed-empty 2 0 5000000000 6000000000\n");
  EXPECT_EQ(kinds(), Kinds{});
  // Permits and intervals can be free, and so can one of several resources.
  write("run", whole + "interval i 900000000\n");
  write("contender-0.0",
        "failed i 0 11000000000 held\nfailed a# 0 11000000000 held\n"
        "failed a,b 0 11000000000 held\n");
  write("contender-1.0", "");
  EXPECT_EQ(kinds(), Kinds{});
}

TEST_F(ChaosChecker, FindsALaterLeaseWithoutALargerToken) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\nended 1 2100 released\n");
  write("contender-1.0", "granted 1 a 2100 2200 2600 500 10\n");
  EXPECT_EQ(kinds(), Kinds{"token-order"});
  // An operator broke the lock of the later lease, after its holder learned of the grant or before.
  // Before, the order is no promise: what that holder writes is refused.
  const auto broken_at = [&](const std::string& at) {
    write("contender-1.0", "granted 1 a 2100 2200 2600 500 10\ntoken 1 theirs\n");
    write("contender-2.0", "breaking a " + at + " 0 theirs\n");
    return kinds();
  };
  EXPECT_EQ(broken_at("2201"), Kinds{"token-order"});
  EXPECT_EQ(broken_at("2199"), Kinds{});
}

TEST_F(ChaosChecker, FindsALeaseThatIsCalledValidBehindItsDeadline) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\nused 1 2399\nused 1 2400\n");
  EXPECT_EQ(kinds(), Kinds{"used-after-end"});
}

TEST_F(ChaosChecker, FindsALeaseThatIsCalledValidAfterItsLoss) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\nended 1 2300 lost\nused 1 2310\n");
  EXPECT_EQ(kinds(), Kinds{"used-after-end"});
}

TEST_F(ChaosChecker, FindsADeadlineBeyondTheTtl) {
  write("contender-0.0", "granted 1 a 1900 2000 2501 500 10\n");
  write("contender-1.0", "granted 1 b 1900 2000 2400 500 10\ndeadline 1 2200 2701\n");
  EXPECT_EQ(kinds(), (Kinds{"too-long", "too-long"}));
}

TEST_F(ChaosChecker, FindsAHolderWhomTheCounterRefused) {
  write("contender-0.0",
        "granted 1 a 1900 2000 2400 500 10\ntrying 1 2100\nrefused 1 2101\novertaken 1 2102\n");
  EXPECT_EQ(kinds(), Kinds{"overtaken"});
}

TEST_F(ChaosChecker, TakesAStaleWriteThatWasRefused) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\ntrying 1 2399\nrefused 1 2900\n");
  EXPECT_EQ(kinds(), Kinds{});
  EXPECT_EQ(judge(history()).refusals, 1U);
}

TEST_F(ChaosChecker, CountsLostUpdates) {
  write("contender-0.0",
        "granted 1 a 1900 2000 2400 500 10\n"
        "trying 1 2100\nwrote 1 2101\ntrying 1 2110\nwrote 1 2111\n");
  counter("a", "00000000000000000001 00000000000000000010\n");
  EXPECT_EQ(kinds(), Kinds{"lost-update"});
  EXPECT_EQ(judge(history()).lost_updates, 1U);
}

TEST_F(ChaosChecker, AllowsForAnUpdateWhoseWriterWasKilledBeforeItCouldTell) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\ntrying 1 2100\n");
  counter("a", "00000000000000000001 00000000000000000010\n");
  EXPECT_EQ(kinds(), Kinds{});
  counter("a", "00000000000000000002 00000000000000000010\n");
  EXPECT_EQ(kinds(), Kinds{"lost-update"});
}

TEST_F(ChaosChecker, FindsWhoGotNothingAfterEverythingWasHealed) {
  write("run", "run 7 5 2 a,b 1000 5000000000 kill,pause\nhealed 3000\n");
  write("contender-0.0", "granted 1 a 3000 3001 3400 500 10\ngranted 2 b 3000 3002 3400 500 10\n");
  write("contender-1.0", "granted 1 a 1900 2000 2400 500 9\ngranted 2 b 3500 3600 3900 500 11\n");
  EXPECT_EQ(kinds(), Kinds{"no-progress"});
  // The contender that replaced a killed one counts for it.
  write("contender-1.1", "granted 1 a 4000 4001 4400 500 12\n");
  EXPECT_EQ(kinds(), Kinds{});
}

TEST_F(ChaosChecker, FindsAContenderThatEndedByItself) {
  write("run", "run 7 5 2 a,b 1000 5000000000 kill\ndied 1 2000 signal-6\n");
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\n");
  EXPECT_EQ(kinds(), Kinds{"died"});
}

TEST_F(ChaosChecker, AcceptsThatTheLastLineWasBeingWritten) {
  write("contender-0.0", "granted 1 a 1900 2000 2400 500 10\nended 1 21");
  EXPECT_EQ(kinds(), Kinds{});
  EXPECT_EQ(history().leases.at(0).ended, std::nullopt);
}

TEST_F(ChaosChecker, FindsARecordThatCanNotBeUnderstood) {
  const std::string sound = "granted 1 a 1900 2000 2400 500 10\n";
  for (const std::string broken :
       {"granted 2 a 1900 2000 x 500 10\n", "granted 1 a 1900 2000 2400 500 10\n",
        "granted 2 a 1900 2000\n", "used 3 2000\n", "ended 1 2000 somehow\n", "used 1 2000 more\n",
        "\n", "whatever 1 2\n"}) {
    write("contender-0.0", sound + broken + "used 1 2100\n");
    EXPECT_EQ(kinds(), Kinds{"unreadable"}) << broken;
  }
}

TEST_F(ChaosChecker, IsNotSatisfiedWithoutAnyLease) {
  EXPECT_EQ(kinds(), Kinds{});
  EXPECT_FALSE(judge(history()).good(history()));
}

TEST_F(ChaosChecker, ReadsWhatWasBroken) {
  write("run",
        "run 7 5 2 a,b 1000 5000000000 kill,pause\n"
        "fault kill killed-empty 2 0 1500 1900\nfault partition link-held 1 3 1600 1700\n");
  const History read = history();
  ASSERT_EQ(read.faults.size(), 2U);
  EXPECT_EQ(read.faults[0].what, "killed-empty");
  EXPECT_EQ(read.faults[1].contenders, 3U);
  EXPECT_EQ(read.seed, 7U);
  EXPECT_EQ(read.resources, (std::vector<std::string>{"a", "b"}));
}

TEST_F(ChaosChecker, ReadsWhoIsForeign) {
  write("run", "run 7 5 2 a 1000 5000000000 kill\nforeign 1 node contender.mjs 4\n");
  const History read = history();
  ASSERT_TRUE(read.foreign);
  EXPECT_EQ(read.foreign->contender, 1U);
  EXPECT_EQ(read.foreign->command, "node contender.mjs 4");
  EXPECT_TRUE(read.unreadable.empty());
}

TEST(ChaosHistory, OfAFolderWithoutARunIsAnError) {
  const test::TempDir folder;
  EXPECT_THROW(static_cast<void>(read_history(folder.path())), std::runtime_error);
  EXPECT_THROW(static_cast<void>(read_history("/nowhere")), std::runtime_error);
}

TEST_F(ChaosChecker, NamesAFileThatCanNotBeReadToItsEnd) {
  // A folder opens like a file, but its first byte cannot be read.
  const std::filesystem::path file = folder_.path() / "contender-1.0.history";
  std::filesystem::create_directory(file);
  try {
    static_cast<void>(history());
    FAIL() << "a folder was read as a history";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), "'" + file.string() + "' cannot be read to its end");
  }
}

}  // namespace
}  // namespace redlock::chaos
