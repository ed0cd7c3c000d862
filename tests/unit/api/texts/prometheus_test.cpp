#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <initializer_list>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "core/duties/meter.hpp"
#include "redlock/metrics.hpp"
#include "support/programs.hpp"

namespace redlock {
namespace {

using namespace std::chrono_literals;

DurationHistogram made_of(std::initializer_list<core::Duration> durations) {
  core::RecordedDurations histogram;
  for (const core::Duration duration : durations) histogram.record(duration);
  return histogram;
}

Metrics some_metrics() {
  Metrics metrics;
  metrics.acquires.granted = 7;
  metrics.acquires.held = 3;
  metrics.quorum = 2;
  metrics.waits = made_of({1ms, 2h});
  for (const char* url : {"redis://127.0.0.1:7001", "redis://127.0.0.1:7002"}) {
    NodeMetrics node;
    node.node = url;
    node.up = true;
    node.round_trips = made_of({20us});
    node.votes.granted = 5;
    metrics.nodes.push_back(node);
  }
  metrics.nodes[1].quarantine = 1500ms;
  metrics.nodes[1].clock_offset = -250ms;
  return metrics;
}

/// Whether the text has exactly this line.
bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Prometheus, TextHasCountsStatesAndSeconds) {
  const std::string text = to_prometheus(some_metrics());
  EXPECT_TRUE(has_line(text, R"(redlock_acquires_total{outcome="granted"} 7)")) << text;
  EXPECT_TRUE(has_line(text, R"(redlock_acquires_total{outcome="split"} 0)"));
  EXPECT_TRUE(has_line(text, "redlock_quorum 2"));
  EXPECT_TRUE(has_line(text, R"(redlock_node_up{node="redis://127.0.0.1:7001"} 1)"));
  EXPECT_TRUE(has_line(
      text, R"(redlock_node_votes_total{node="redis://127.0.0.1:7002",vote="granted"} 5)"));
  EXPECT_TRUE(
      has_line(text, R"(redlock_node_quarantine_seconds{node="redis://127.0.0.1:7002"} 1.5)"));
  EXPECT_TRUE(
      has_line(text, R"(redlock_node_clock_offset_seconds{node="redis://127.0.0.1:7002"} -0.25)"));
}

TEST(Prometheus, AClockThatIsNotKnownHasNoSample) {
  const std::string text = to_prometheus(some_metrics());
  EXPECT_EQ(text.find(R"(redlock_node_clock_offset_seconds{node="redis://127.0.0.1:7001"})"),
            std::string::npos);
}

TEST(Prometheus, BucketsAddUpAndTheLastHasEverything) {
  const std::string text = to_prometheus(some_metrics());
  EXPECT_TRUE(has_line(text, R"(redlock_acquire_wait_seconds_bucket{le="0.000524288"} 0)")) << text;
  EXPECT_TRUE(has_line(text, R"(redlock_acquire_wait_seconds_bucket{le="0.001048576"} 1)"));
  EXPECT_TRUE(has_line(text, R"(redlock_acquire_wait_seconds_bucket{le="1099.511627776"} 1)"));
  EXPECT_TRUE(has_line(text, R"(redlock_acquire_wait_seconds_bucket{le="+Inf"} 2)"));
  EXPECT_TRUE(has_line(text, "redlock_acquire_wait_seconds_sum 7200.001"));
  EXPECT_TRUE(has_line(text, "redlock_acquire_wait_seconds_count 2"));
}

TEST(Prometheus, EveryMetricIsDescribedOnceBeforeItsSamples) {
  std::istringstream lines(to_prometheus(some_metrics()));
  std::map<std::string, std::string> types;
  std::set<std::string> helped;
  std::string current;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash;
    std::string kind;
    std::string name;
    words >> hash >> kind >> name;
    if (hash == "#" && kind == "HELP") {
      EXPECT_TRUE(helped.insert(name).second) << line;
      current = name;
    } else if (hash == "#") {
      EXPECT_EQ(name, current) << line;
      words >> types[name];
    } else {
      EXPECT_TRUE(line.starts_with(current)) << line;
    }
  }
  EXPECT_EQ(types.size(), helped.size());
  for (const auto& [name, type] : types) {
    EXPECT_TRUE(name.starts_with("redlock_")) << name;
    EXPECT_EQ(type == "counter", name.ends_with("_total")) << name;
    EXPECT_EQ(type == "histogram", name.ends_with("_seconds") &&
                                       name.find("clock") == std::string::npos &&
                                       name.find("quarantine") == std::string::npos)
        << name;
  }
}

/// The metrics in a table's rows, "| `name` | type | …", with their types.
std::map<std::string, std::string> metrics_in_page() {
  std::ifstream page(test::pages_folder() + "/METRICS.md");
  std::map<std::string, std::string> types;
  for (std::string line; std::getline(page, line);) {
    const std::string begin = "| `redlock_";
    if (!line.starts_with(begin)) continue;
    const std::size_t end = line.find("` | ");
    const std::string name = line.substr(3, end - 3);
    const std::string type = line.substr(end + 4, line.find(" |", end + 4) - end - 4);
    EXPECT_TRUE(types.emplace(name, type).second) << name << " is there twice";
  }
  return types;
}

TEST(Prometheus, ThePageHasEveryMetricAndNoOther) {
  std::istringstream lines(to_prometheus(some_metrics()));
  std::map<std::string, std::string> types;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash;
    std::string kind;
    std::string name;
    words >> hash >> kind >> name;
    if (kind == "TYPE") words >> types[name];
  }
  EXPECT_FALSE(types.empty());
  EXPECT_EQ(metrics_in_page(), types);
}

TEST(Prometheus, ALabelIsQuoted) {
  Metrics metrics;
  metrics.quorum = 1;
  NodeMetrics node;
  node.node = "unix:///tmp/a\"b\\c\nd";
  metrics.nodes.push_back(node);
  EXPECT_TRUE(
      has_line(to_prometheus(metrics), R"(redlock_node_up{node="unix:///tmp/a\"b\\c\nd"} 0)"));
  const std::string text = to_prometheus(metrics, {{"resource", "a\"b"}, {"1-x", "y"}});
  EXPECT_TRUE(has_line(text, R"(redlock_quorum{resource="a\"b",_1_x="y"} 1)")) << text;
  EXPECT_TRUE(has_line(
      text, R"(redlock_node_up{resource="a\"b",_1_x="y",node="unix:///tmp/a\"b\\c\nd"} 0)"));
}

}  // namespace
}  // namespace redlock
