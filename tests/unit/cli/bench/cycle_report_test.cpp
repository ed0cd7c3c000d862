#include "bench/cycle/cycle_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/measure/endpoint.hpp"

namespace redlock::cli {
namespace {

Figures figures(double cycles_per_s, double acquire_p50_us) {
  Figures result;
  result.cycles_per_s = cycles_per_s;
  result.acquire_p50_us = acquire_p50_us;
  result.failures = 1;
  return result;
}

TEST(CliBenchReport, MedianLiesInTheMiddle) {
  EXPECT_EQ(spread_of({3, 1, 2}).median, 2);
  EXPECT_EQ(spread_of({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(spread_of({3, 1, 2}).least, 1);
  EXPECT_EQ(spread_of({3, 1, 2}).most, 3);
  EXPECT_EQ(spread_of({}).median, 0);
}

TEST(CliBenchReport, RatiosAreOfNeighboursNotOfMedians) {
  const Spread ratio =
      ratio_of({figures(90, 1), figures(45, 1), figures(30, 1)},
               {figures(100, 1), figures(50, 1), figures(10, 1)}, &Figures::cycles_per_s);
  EXPECT_DOUBLE_EQ(ratio.median, 0.9);
  EXPECT_DOUBLE_EQ(ratio.most, 3);
}

TEST(CliBenchReport, HasTheAgreedFields) {
  const std::vector<CycleRow> rows = {
      {5, 64, {figures(90, 12)}, {{"other", "1.2.3", {figures(100, 10)}}}},
      {1, 1, {figures(1, 1)}, {}}};
  const auto json = nlohmann::json::parse(cycle_json(rows));
  EXPECT_EQ(json.at("mode"), "cycle");
  const auto& first = json.at("rows").at(0);
  EXPECT_EQ(first.at("nodes_count"), 5);
  EXPECT_EQ(first.at("in_flight"), 64);
  EXPECT_EQ(first.at("cycles_per_s"), 90);
  EXPECT_EQ(first.at("failures"), 1);
  const auto& other = first.at("peers").at("other");
  EXPECT_EQ(other.at("version"), "1.2.3");
  EXPECT_EQ(other.at("cycles_per_s"), 100);
  EXPECT_EQ(other.at("ratio").at("cycles_per_s"), 0.9);
  EXPECT_EQ(other.at("ratio").at("acquire_p50"), 1.2);
  EXPECT_FALSE(json.at("rows").at(1).contains("peers"));
}

TEST(CliBenchReport, AClientThatFailsShowsHowSoon) {
  Figures failing = figures(0, 0);
  failing.failure_max_us = 250'900;
  const std::string text =
      cycle_text(Style(false), {{5, 1, {figures(9, 1)}, {{"stopped3", {}, {failing}}}}});
  EXPECT_NE(text.find("failed within 0.0 µs p50, 250900.0 µs at most"), std::string::npos) << text;
}

TEST(CliEndpoint, UnderstandsNodesThatOtherProgramsCanTalkTo) {
  EXPECT_EQ(plain_endpoint("redis://127.0.0.1:7001")->port, 7001);
  EXPECT_EQ(plain_endpoint("redis://127.0.0.1:7001")->host, "127.0.0.1");
  EXPECT_EQ(plain_endpoint("host")->port, 6379);
  EXPECT_EQ(plain_endpoint("redis://[::1]:7001/")->host, "::1");
  EXPECT_EQ(plain_endpoint("unix:///run/redis.sock")->unix_path, "/run/redis.sock");
  EXPECT_EQ(plain_endpoint("redis://:secret@host:7001")->password, "secret");
  EXPECT_EQ(plain_endpoint("redis://:secret@host:7001")->port, 7001);
  for (const auto* url : {"rediss://host", "redis://me:secret@host", "redis://host/3",
                          "unix:///run/redis.sock?db=1", "host:x", "host:70000", ""}) {
    EXPECT_FALSE(plain_endpoint(url)) << url;
  }
}

}  // namespace
}  // namespace redlock::cli
