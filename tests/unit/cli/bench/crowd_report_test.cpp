#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/contest/crowd_bench.hpp"

namespace redlock::cli {
namespace {

CrowdRow crowd_of(std::uint64_t nodes, std::uint64_t clients, std::uint64_t grants) {
  CrowdRow row;
  row.nodes = nodes;
  row.clients = clients;
  row.elapsed = std::chrono::seconds{2};
  row.grants = grants;
  return row;
}

TEST(CliCrowdReport, RatiosAreToTheFirstCrowdOverAsManyNodes) {
  const auto json = nlohmann::json::parse(crowd_json(
      {crowd_of(3, 8, 800), crowd_of(3, 500, 600), crowd_of(5, 8, 0), crowd_of(5, 500, 0)}));
  EXPECT_EQ(json.at("mode"), "crowd");
  const auto& rows = json.at("rows");
  EXPECT_EQ(rows.at(1).at("acquisitions_per_s"), 300);
  EXPECT_EQ(rows.at(1).at("ratio_to_first"), 0.75);
  EXPECT_EQ(rows.at(2).at("ratio_to_first"), 0) << "nobody was granted the lock";
}

TEST(CliCrowdReport, ATurnIsTheTimeThatAGrantForEachClientTakes) {
  CrowdRow row = crowd_of(3, 500, 500);
  row.longest_wait = std::chrono::seconds{3};
  row.connections = 3000;
  EXPECT_DOUBLE_EQ(row.turns_waited(), 1.5);
  EXPECT_DOUBLE_EQ(row.connections_each(), 2);
  EXPECT_NE(crowd_text(Style(false), {row}).find("3.00 s     1.50"), std::string::npos)
      << crowd_text(Style(false), {row});
}

}  // namespace
}  // namespace redlock::cli
