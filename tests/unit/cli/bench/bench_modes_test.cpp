#include "bench/bench_modes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/cycle/family_report.hpp"
#include "bench/cycle/faults_report.hpp"
#include "quorum-lock/line/verb_table.hpp"

namespace redlock::cli {
namespace {

using Json = nlohmann::json;

Figures at_rate(double cycles_per_s) {
  Figures figures;
  figures.cycles_per_s = cycles_per_s;
  figures.acquire_p50_us = 1e6 / cycles_per_s;
  return figures;
}

TEST(CliBenchModes, TakeOptionsThatBenchHas) {
  const auto& options = find_verb_text("bench")->options;
  for (const BenchMode& mode : bench_modes()) {
    for (const std::string_view taken : mode.options) {
      EXPECT_TRUE(std::any_of(options.begin(), options.end(),
                              [&](const OptionText& option) { return option.name == taken; }))
          << mode.name << " --" << taken;
    }
  }
  // Every option belongs to a mode: otherwise nobody could give it.
  for (const OptionText& option : options) {
    if (option.name == "mode" || option.name == "ports") continue;
    EXPECT_TRUE(std::any_of(bench_modes().begin(), bench_modes().end(), [&](const BenchMode& mode) {
      return std::find(mode.options.begin(), mode.options.end(), option.name) != mode.options.end();
    })) << option.name;
  }
}

std::vector<std::string> texts_of(const std::vector<BenchFault>& faults) {
  std::vector<std::string> texts;
  for (const BenchFault& fault : faults) texts.push_back(fault_text(fault));
  return texts;
}

TEST(CliFaultsReport, FaultsAreOneNodeTheLargestMinorityAndAMajority) {
  EXPECT_EQ(texts_of(bench_faults(5)),
            (std::vector<std::string>{"1 killed", "2 killed", "1 stopped", "2 stopped", "3 killed",
                                      "3 stopped"}));
  EXPECT_EQ(texts_of(bench_faults(3)),
            (std::vector<std::string>{"1 killed", "1 stopped", "2 killed", "2 stopped"}));
  EXPECT_EQ(texts_of(bench_faults(4)),
            (std::vector<std::string>{"1 killed", "1 stopped", "2 killed", "2 stopped"}));
}

TEST(CliFaultsReport, RatiosAreToTheHealthyRunBefore) {
  FaultRow row;
  row.in_flight = 64;
  row.fault = {LocalNodes::Fault::stopped, 2};
  row.figures = {at_rate(100), at_rate(400), at_rate(90)};
  row.healthy = {at_rate(50), at_rate(200), at_rate(900)};
  row.worst_acquire = std::chrono::microseconds{1234};
  const Json json = Json::parse(faults_json({5, std::chrono::milliseconds{250}, {row}}));
  EXPECT_EQ(json.at("node_limit_ms"), 250);
  const Json& entry = json.at("rows").at(0);
  EXPECT_EQ(entry.at("fault"), "stopped");
  EXPECT_EQ(entry.at("nodes_down"), 2);
  EXPECT_EQ(entry.at("cycles_per_s"), 100);
  EXPECT_EQ(entry.at("ratio_to_healthy").at("cycles_per_s"), 2);
  EXPECT_EQ(entry.at("ratio_to_healthy").at("acquire_p50"), 0.5);
  EXPECT_EQ(entry.at("acquire_max_us"), 1234);
  EXPECT_FALSE(entry.contains("unavailable"));
  EXPECT_FALSE(entry.contains("node_cpu_us_per_cycle"));
}

TEST(CliFaultsReport, WithoutAMajorityItHasTheTimesOfFailures) {
  FaultRow row;
  row.in_flight = 1;
  row.fault = {LocalNodes::Fault::killed, 3};
  row.majority = true;
  row.failures.unavailable.record(std::chrono::milliseconds{250});
  const FaultsReport report{5, std::chrono::milliseconds{250}, {row}};
  const Json entry = Json::parse(faults_json(report)).at("rows").at(0);
  EXPECT_EQ(entry.at("unavailable"), 1);
  EXPECT_NEAR(entry.at("unavailable_max_us"), 250'000, 1'000);
  EXPECT_EQ(entry.at("still_unavailable"), 0);
  EXPECT_FALSE(entry.contains("still_unavailable_max_us"));
  EXPECT_FALSE(entry.contains("cycles_per_s"));
  const std::string text = faults_text(Style(false), report);
  EXPECT_NE(text.find("3 killed   unavailable: first 250.0"), std::string::npos) << text;
}

TEST(CliFamilyReport, TheReferenceHasNoRatioAndForeignNodesNoCpuTime) {
  FamilyRow exclusive{1, "exclusive", FamilyTerms::plain, {at_rate(100)}, {}, {}};
  FamilyRow fenced{1, "interval", FamilyTerms::fenced, {at_rate(50)}, {at_rate(100)}, {}};
  EXPECT_EQ(name_of(fenced), "interval, fenced");
  for (const bool local : {false, true}) {
    const Json rows = Json::parse(family_json({3, local, {exclusive, fenced}})).at("rows");
    EXPECT_FALSE(rows.at(0).contains("ratio_to_plain_exclusive"));
    EXPECT_EQ(rows.at(1).at("ratio_to_plain_exclusive").at("cycles_per_s"), 0.5);
    EXPECT_EQ(rows.at(1).at("terms"), "fenced");
    EXPECT_EQ(rows.at(0).contains("node_cpu_us_per_cycle"), local);
  }
}

}  // namespace
}  // namespace redlock::cli
