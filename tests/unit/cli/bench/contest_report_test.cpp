#include "bench/contest/contest_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

namespace redlock::cli {
namespace {

using Json = nlohmann::json;

ContestRow row_at(std::size_t nodes, std::size_t contenders, double per_second) {
  ContestFigures figures;
  figures.acquisitions_per_s = per_second;
  return {nodes, contenders, bench::ContestPattern::reentry, {figures}};
}

Json rows_of(std::string_view mode, const std::vector<ContestRow>& rows) {
  const Json json = Json::parse(contest_json(mode, rows));
  EXPECT_EQ(json.at("mode"), mode);
  return json.at("rows");
}

TEST(CliContestReport, CommandsAreOfOneNodeForOneAcquisition) {
  const auto commands = commands_per_handover({{100, 10}, {200, 20}}, {{140, 14}, {240, 28}}, 4);
  EXPECT_DOUBLE_EQ(commands.all, 10);
  EXPECT_DOUBLE_EQ(commands.scripts, 1.5);
  EXPECT_EQ(commands_per_handover({{1, 1}}, {{2, 2}}, 0).all, 0);
}

TEST(CliContestReport, AContenderWithoutAnAcquisitionMakesTheRatioInfinite) {
  bench::ContestResult result;
  result.most = 905;
  const ContestFigures figures = figures_of(result, {});
  EXPECT_TRUE(std::isinf(figures.share_ratio));
  const Json row = rows_of("handoff", {{5, 8, bench::ContestPattern::reentry, {figures}}}).at(0);
  EXPECT_TRUE(row.at("share_ratio").is_null());
  EXPECT_EQ(row.at("share_max"), 905);
}

TEST(CliContestReport, FiguresAreMediansButFailuresAreSums) {
  ContestRow row = row_at(5, 8, 100);
  row.pattern = bench::ContestPattern::drain;
  row.runs.push_back(row_at(5, 8, 400).runs[0]);
  row.runs.push_back(row_at(5, 8, 200).runs[0]);
  row.runs[0].failures = row.runs[2].failures = 2;
  const Json json = rows_of("handoff", {row}).at(0);
  EXPECT_EQ(json.at("contenders"), 8);
  EXPECT_EQ(json.at("reentry"), false);
  EXPECT_EQ(json.at("acquisitions_per_s"), 200);
  EXPECT_EQ(json.at("acquisitions_per_s_min"), 100);
  EXPECT_EQ(json.at("acquisitions_per_s_max"), 400);
  EXPECT_EQ(json.at("failures"), 4);
}

TEST(CliContestReport, RatiosAreToTheFirstRowOverAsManyNodes) {
  const Json rows = rows_of(
      "crowd", {row_at(3, 8, 400), row_at(3, 500, 300), row_at(5, 8, 0), row_at(5, 500, 0)});
  EXPECT_EQ(rows.at(1).at("clients"), 500);
  EXPECT_EQ(rows.at(1).at("ratio_to_first"), 0.75);
  EXPECT_EQ(rows.at(2).at("ratio_to_first"), 0) << "nobody was granted the lock";
}

TEST(CliContestReport, ATurnIsTheTimeThatAGrantForEachContenderTakes) {
  ContestRow row = row_at(3, 500, 250);
  row.runs[0].wait_max_us = 3e6;
  EXPECT_EQ(rows_of("crowd", {row}).at(0).at("wait_max_turns"), 1.5);
  const std::string text = contest_text(Style(false), {row});
  EXPECT_NE(text.find("3000.0 ms     1.50"), std::string::npos) << text;
}

}  // namespace
}  // namespace redlock::cli
