#include "chaos/report/report.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/temp_dir.hpp"

namespace redlock::chaos {
namespace {

/// The history of a run in which contender 1 recorded `second`.
History history_with(const std::string& second) {
  const test::TempDir folder;
  std::ofstream(folder.path() / "run.history")
      << "run 7 5 2 a 1000 2500000000 kill\nfault kill killed-empty 2 0 1500 1900\n"
         "fault partition link-held 1 3 1600 1700\n";
  std::ofstream(folder.path() / "contender-0.0.history")
      << "granted 1 a 1000000 2000000 900000000 1000000000 10\n";
  std::ofstream(folder.path() / "contender-1.0.history") << second;
  return read_history(folder.path());
}

const std::string overlapping = "granted 1 a 3000000 4000000 900000000 1000000000 <11>\n";

TEST(ChaosReport, TellsTheVerdictInTheJson) {
  const History history = history_with("failed a 1 2 held\n");
  const auto json = nlohmann::json::parse(json_report(history, judge(history), Ending::complete));
  EXPECT_EQ(json.at("verdict"), "ok");
  EXPECT_EQ(json.at("leases"), 1);
  EXPECT_TRUE(json.at("violations").empty());
  EXPECT_EQ(json.at("faults").at("kill"), 1);
  EXPECT_EQ(json.at("faults").at("partition"), 1);
  EXPECT_EQ(json.at("faults").at("clock"), 0);
  EXPECT_EQ(json.at("lost_updates"), 0);
  EXPECT_EQ(json.at("seed"), 7);
  EXPECT_EQ(json.at("duration_ms"), 2500);
  EXPECT_EQ(json.at("not_granted").at("held"), 1);
}

TEST(ChaosReport, SaysHowSoonAfterFailoversLocksWereGranted) {
  const test::TempDir folder;
  std::ofstream(folder.path() / "run.history")
      << "run 7 1 1 a 1000 2500000000 kill\nservice sentinel 3 1000000000\nunsafe set\n"
         "failover 0 1 1000000\nfailover 1 2 2000000\nfailover 2 0 7000000\n";
  std::ofstream(folder.path() / "contender-0.0.history")
      << "granted 1 a 2500000 3000000 3500000 1000000 0\n"
         "granted 2 a 8500000 9000000 9500000 1000000 0\n";
  const History history = read_history(folder.path());
  const auto json = nlohmann::json::parse(json_report(history, judge(history), Ending::complete));
  EXPECT_EQ(json.at("service").at("failovers"), 3);
  EXPECT_EQ(json.at("service").at("granted_again_max_us"), 2000) << "the first was not the last";
  EXPECT_EQ(json.at("unsafe"), "set");
  EXPECT_EQ(repeat_command(history),
            "quorum-lock chaos --sentinel 3 --clients 1 --duration 2500ms --faults kill --seed 7 "
            "--unsafe set");
}

TEST(ChaosReport, CountsTheKindsOfLocks) {
  const History history = history_with(
      "granted 1 b 1 2 9 9 0 readers\ngranted 2 c 1 2 9 9 0 owner-x\ngranted 3 d#0 1 2 9 9 0\n"
      "granted 4 e,f 1 2 9 9 3\n");
  const auto json = nlohmann::json::parse(json_report(history, judge(history), Ending::complete));
  for (const char* kind : {"exclusive", "readers", "owners", "several", "permits"}) {
    EXPECT_EQ(json.at("locks").at(kind), 1) << kind;
  }
}

TEST(ChaosReport, CountsTheLocksThatWereBroken) {
  const History history = history_with(
      "granted 1 a 1 2 9 9 0\ntoken 1 x\nbreaking a 3 0 x\nbroken 4\n"
      "breaking a 5 9000000 y\nbroken 6\nbreaking a 7 9000000 z\n");
  const Judgement judgement = judge(history);
  const auto json = nlohmann::json::parse(json_report(history, judgement, Ending::complete));
  EXPECT_EQ(json.at("broken"), 2);
  EXPECT_EQ(json.at("broken_with_delay"), 1);
  EXPECT_NE(text_report(history, judgement, Ending::complete)
                .facts.find("broken           2 locks by operators, 1 with a delay\n"),
            std::string::npos);
}

TEST(ChaosReport, TellsViolations) {
  const History history = history_with("granted 1 a 3000000 4000000 900000000 1000000000 11\n");
  const Judgement judgement = judge(history);
  const auto json = nlohmann::json::parse(json_report(history, judgement, Ending::complete));
  EXPECT_EQ(json.at("verdict"), "violated");
  EXPECT_EQ(json.at("violations").at(0).at("kind"), "overlap");
  EXPECT_EQ(json.at("violations").at(0).at("resource"), "a");
  EXPECT_EQ(text_report(history, judgement, Ending::complete).verdict, "violated: 1 times");
}

TEST(ChaosReport, GivesTheCommandThatRepeatsTheRun) {
  EXPECT_EQ(repeat_command(history_with("")),
            "quorum-lock chaos --clients 2 --duration 2500ms --faults kill --seed 7");
}

TEST(ChaosReport, TellsOfAForeignContender) {
  History history = history_with("granted 1 b 1 2 9 9 0\ngranted 2 b 3 4 9 9 0\n");
  EXPECT_FALSE(
      nlohmann::json::parse(json_report(history, {}, Ending::complete)).contains("foreign"));
  history.foreign = ForeignRecord{1, "node it's.mjs 4"};
  const auto json = nlohmann::json::parse(json_report(history, {}, Ending::complete));
  EXPECT_EQ(json.at("foreign").at("contender"), 1);
  EXPECT_EQ(json.at("foreign").at("command"), "node it's.mjs 4");
  EXPECT_EQ(json.at("foreign").at("leases"), 2);
  EXPECT_EQ(json.at("clients"), 1);
  EXPECT_TRUE(
      repeat_command(history).ends_with("--clients 1 --duration 2500ms --faults kill --seed 7 "
                                        "--contender-command 'node it'\\''s.mjs 4'"))
      << repeat_command(history);
  EXPECT_NE(text_report(history, {}, Ending::complete).facts.find("2 leases of contender 1"),
            std::string::npos);
}

TEST(ChaosReport, IsAPageThatNeedsNothingElse) {
  const History history = history_with(overlapping);
  const std::string page = html_report(history, judge(history), Ending::complete);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
}

/// The records in a page, as the page reads them.
nlohmann::json run_in(const std::string& page) {
  constexpr std::string_view start = R"(id="run">)";
  const std::size_t from = page.find(start) + start.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(ChaosReport, ThePageHasTheReportAndAllRecords) {
  const History history = history_with(overlapping);
  const Judgement judgement = judge(history);
  const std::string page = html_report(history, judgement, Ending::complete);
  EXPECT_EQ(page.find("<11>"), std::string::npos) << "text that could be an element";
  const auto run = run_in(page);
  EXPECT_EQ(run.at("verdict"), "violated");
  EXPECT_EQ(run.at("violations").size(), judgement.violations.size());
  const auto& timeline = run.at("timeline");
  EXPECT_EQ(timeline.at("contenders"), history.contenders);
  EXPECT_EQ(timeline.at("leases").size(), history.leases.size());
  EXPECT_EQ(timeline.at("faults").size(), history.faults.size());
  EXPECT_NE(timeline.at("command").get<std::string>().find("--seed 7"), std::string::npos);
  for (const auto& lease : timeline.at("leases")) {
    EXPECT_LT(lease.at("granted_us"), lease.at("until_us")) << lease;
    EXPECT_LE(lease.at("until_us"), timeline.at("end_us")) << lease;
  }
}

}  // namespace
}  // namespace redlock::chaos
