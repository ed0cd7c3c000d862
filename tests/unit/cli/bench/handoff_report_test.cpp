#include "bench/contest/handoff_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace redlock::cli {
namespace {

HandoffFigures handing_over_in(double p50_us, double p99_us) {
  HandoffFigures figures;
  figures.handover_p50_us = p50_us;
  figures.handover_p99_us = p99_us;
  return figures;
}

TEST(CliHandoffReport, CommandsAreOfOneNodeForOneAcquisition) {
  const auto commands = commands_per_handover({{100, 10}, {200, 20}}, {{140, 14}, {240, 28}}, 4);
  EXPECT_DOUBLE_EQ(commands.all, 10);
  EXPECT_DOUBLE_EQ(commands.scripts, 1.5);
  EXPECT_EQ(commands_per_handover({{1, 1}}, {{2, 2}}, 0).all, 0);
}

TEST(CliHandoffReport, RatiosAreOfNeighboursNotOfMedians) {
  HandoffRow row;
  row.ours = {handing_over_in(800, 1), handing_over_in(400, 1), handing_over_in(300, 1)};
  row.floor_acquire_p50_us = {100, 100, 10};
  EXPECT_DOUBLE_EQ(ratio_to_acquire(row, &HandoffFigures::handover_p50_us), 8);
}

TEST(CliHandoffReport, AContenderWithoutAnAcquisitionMakesTheRatioInfinite) {
  bench::HandoffResult result;
  result.most = 905;
  const HandoffFigures figures = figures_of(result, {});
  EXPECT_TRUE(std::isinf(figures.share_ratio));
  const HandoffRow row{5, 8, bench::HandoffPattern::reentry, {figures}, {}, {}};
  const auto json = nlohmann::json::parse(handoff_json({row}));
  EXPECT_TRUE(json.at("rows").at(0).at("share_ratio").is_null());
  EXPECT_EQ(json.at("rows").at(0).at("share_max"), 905);
}

TEST(CliHandoffReport, HasTheAgreedFields) {
  HandoffRow row{5, 8, bench::HandoffPattern::drain, {handing_over_in(680, 1700)}, {}, {}};
  auto json = nlohmann::json::parse(handoff_json({row}));
  EXPECT_EQ(json.at("mode"), "handoff");
  EXPECT_FALSE(json.at("rows").at(0).contains("floor"));
  row.floor = {handing_over_in(300, 400)};
  row.floor_acquire_p50_us = {85};
  json = nlohmann::json::parse(handoff_json({row})).at("rows").at(0);
  EXPECT_EQ(json.at("contenders"), 8);
  EXPECT_EQ(json.at("reentry"), false);
  for (const char* name : {"acquisitions_per_s", "handover_p50_us", "handover_p99_us",
                           "wait_max_us", "share_ratio", "commands_per_handover"}) {
    EXPECT_TRUE(json.contains(name)) << name;
    EXPECT_TRUE(json.at("floor").contains(name)) << name;
  }
  EXPECT_EQ(json.at("ratio_to_floor_acquire_p50").at("handover_p50"), 8);
  EXPECT_EQ(json.at("ratio_to_floor_acquire_p50").at("handover_p99"), 20);
}

}  // namespace
}  // namespace redlock::cli
