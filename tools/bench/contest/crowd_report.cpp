#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>

#include "bench/contest/crowd_bench.hpp"
#include "common/text/json_line.hpp"

namespace redlock::cli {
namespace {

double crowd_seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// The row's grants per second, divided by those of the first crowd over as many nodes.
double ratio_to_first(const std::vector<CrowdRow>& rows, const CrowdRow& row) {
  for (const CrowdRow& first : rows) {
    if (first.nodes != row.nodes) continue;
    return first.grants == 0 ? 0 : row.per_second() / first.per_second();
  }
  return 0;
}

/// Three decimals: more would be noise.
double crowd_rounded(double value) { return std::round(value * 1000) / 1000; }

std::int64_t crowd_time(std::chrono::nanoseconds time) {
  return std::chrono::round<std::chrono::microseconds>(time).count();
}

}  // namespace

double CrowdRow::per_second() const {
  return elapsed.count() <= 0 ? 0 : static_cast<double>(grants) / crowd_seconds(elapsed);
}

double CrowdRow::turns_waited() const {
  return crowd_seconds(longest_wait) * per_second() / static_cast<double>(clients);
}

double CrowdRow::connections_each() const {
  return static_cast<double>(connections) / static_cast<double>(nodes * clients);
}

std::string crowd_json(const std::vector<CrowdRow>& rows) {
  nlohmann::ordered_json json{{"mode", "crowd"}, {"rows", nlohmann::ordered_json::array()}};
  for (const CrowdRow& row : rows) {
    nlohmann::ordered_json entry{{"nodes_count", row.nodes}, {"clients", row.clients}};
    entry["connect_us"] = crowd_time(row.connected);
    entry["connections_per_client_and_node"] = crowd_rounded(row.connections_each());
    entry["acquisitions_per_s"] = crowd_rounded(row.per_second());
    entry["ratio_to_first"] = crowd_rounded(ratio_to_first(rows, row));
    entry["share_max"] = row.most;
    entry["share_min"] = row.least;
    entry["wait_max_us"] = crowd_time(row.longest_wait);
    entry["wait_max_turns"] = crowd_rounded(row.turns_waited());
    entry["failures"] = row.failures;
    entry["overlaps"] = row.overlaps;
    json["rows"].push_back(std::move(entry));
  }
  return json_line(json);
}

std::string crowd_text(const Style& style, const std::vector<CrowdRow>& rows) {
  std::string text = style.paint(
      Style::Colour::faint,
      fmt::format("{:>5} {:>7} {:>9} {:>11} {:>8} {:>5} {:>10} {:>12} {:>8} {:>8} {:>8}\n", "nodes",
                  "clients", "connected", "connections", "grants/s", "ratio", "most/least",
                  "longest wait", "in turns", "failures", "overlaps"));
  for (const CrowdRow& row : rows) {
    fmt::format_to(std::back_inserter(text),
                   "{:>5} {:>7} {:>7.2f} s {:>11.2f} {:>8.1f} {:>5.2f} {:>10} {:>10.2f} s {:>8.2f} "
                   "{:>8} {:>8}\n",
                   row.nodes, row.clients, crowd_seconds(row.connected), row.connections_each(),
                   row.per_second(), ratio_to_first(rows, row),
                   fmt::format("{}/{}", row.most, row.least), crowd_seconds(row.longest_wait),
                   row.turns_waited(), row.failures, row.overlaps);
  }
  return text + style.paint(Style::Colour::faint,
                            "connections: of one client to one node; ratio: to the first row; a "
                            "turn: until each of the clients could have had the lock once\n");
}

}  // namespace redlock::cli
