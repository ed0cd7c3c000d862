#include "bench/page/bench_page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/measure/histogram.hpp"
#include "bench/page/bench_plots.hpp"
#include "bench/page/bench_report.hpp"

namespace redlock::cli {
namespace {

Figures page_figures(double cycles_per_s) {
  bench::CycleResult result;
  result.cycles = static_cast<std::uint64_t>(cycles_per_s);
  result.elapsed = std::chrono::seconds{1};
  result.cpu = std::chrono::milliseconds{100};
  result.cpu_in_kernel = std::chrono::milliseconds{25};
  result.node_cpu = std::chrono::milliseconds{300};
  for (int i = 1; i <= 1000; ++i) {
    result.acquire.record(std::chrono::microseconds{i});
    result.cycle.record(std::chrono::microseconds{2 * i});
  }
  return figures_of(result);
}

std::vector<BenchRow> page_rows() {
  BenchRow row;
  row.nodes = 5;
  row.in_flight = 64;
  row.ours = {page_figures(40'000), page_figures(44'000)};
  row.floor = {page_figures(50'000), page_figures(55'000)};
  row.peers = {{"one <b>", "1.0", {page_figures(4000), page_figures(4400)}}};
  return {row};
}

const BenchFacts some_facts{"quorum-lock bench --nodes a&b", {{"when", "now"}}, {"x is left out."}};

TEST(CliBenchPage, HasEveryPartAndNeedsNothingElse) {
  const std::string page = bench_page(some_facts, page_rows());
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* wanted :
       {"Cycles per second", "Ours / theirs", "Where the time goes", "42,000", "0.80 (0.80-0.80)",
        "one &lt;b&gt;", "10.0 ×", "quorum-lock bench --nodes a&amp;b", "x is left out.", "p99.9",
        "What the figures mean", "prefers-color-scheme: dark"}) {
    EXPECT_NE(page.find(wanted), std::string::npos) << wanted;
  }
  for (const char* refused : {"http", "src=", "<script", "one <b>", "nan", "inf,"}) {
    EXPECT_EQ(page.find(refused), std::string::npos) << refused;
  }
}

TEST(CliBenchPage, NeedsNeitherFloorNorPeersNorFigures) {
  auto rows = page_rows();
  rows[0].floor.clear();
  rows[0].peers.clear();
  rows[0].ours = {page_figures(0)};
  const std::string page = bench_page(some_facts, rows);
  EXPECT_EQ(page.find("Ours / theirs"), std::string::npos);
  EXPECT_EQ(page.find("nan"), std::string::npos);
  EXPECT_NE(bench_page(some_facts, {}).find("Nothing was measured"), std::string::npos);
}

TEST(CliBenchPage, EachNumberOfNodesHasItsPlots) {
  auto rows = page_rows();
  rows.push_back(rows[0]);
  rows.push_back(rows[0]);
  rows[1].in_flight = 256;
  rows[2].nodes = 1;
  const std::string page = bench_page(some_facts, rows);
  EXPECT_NE(page.find("<h2>5 nodes</h2>"), std::string::npos);
  EXPECT_NE(page.find("<h2>1 node</h2>"), std::string::npos);
  EXPECT_NE(page.find("At a glance: 5 nodes"), std::string::npos);
}

TEST(CliBenchPage, NumbersAreForPeople) {
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(grouped(999.6), "1,000");
  EXPECT_EQ(grouped(12), "12");
  EXPECT_EQ(microseconds_text(1.234), "1.23 µs");
  EXPECT_EQ(microseconds_text(99.97), "100 µs");
  EXPECT_EQ(microseconds_text(999.7), "1.00 ms");
  EXPECT_EQ(microseconds_text(45'600), "45.6 ms");
}

TEST(CliBenchReport, PeersStandInTheJsonAndInTheText) {
  const auto json = nlohmann::json::parse(bench_json(page_rows()));
  const auto& peer = json.at("rows").at(0).at("peers").at("one <b>");
  EXPECT_EQ(peer.at("version"), "1.0");
  EXPECT_EQ(peer.at("cycles_per_s"), 4200);
  EXPECT_EQ(peer.at("ratio").at("cycles_per_s"), 10);
  const std::string text = bench_text(Style(false), page_rows());
  EXPECT_NE(text.find("ours: 10.00 (10.00-10.00) times the cycles/s"), std::string::npos) << text;
}

}  // namespace
}  // namespace redlock::cli
