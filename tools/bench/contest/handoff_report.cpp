#include "bench/contest/handoff_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/page/bench_report.hpp"
#include "common/text/json_line.hpp"

namespace redlock::cli {
namespace {

using HandoffJson = nlohmann::ordered_json;

struct NamedHandoffFigure {
  const char* name;
  double HandoffFigures::*figure;
};
constexpr NamedHandoffFigure named_handoff_figures[] = {
    {"acquisitions_per_s", &HandoffFigures::acquisitions_per_s},
    {"handover_p50_us", &HandoffFigures::handover_p50_us},
    {"handover_p99_us", &HandoffFigures::handover_p99_us},
    {"handover_max_us", &HandoffFigures::handover_max_us},
    {"wait_p50_us", &HandoffFigures::wait_p50_us},
    {"wait_p99_us", &HandoffFigures::wait_p99_us},
    {"wait_max_us", &HandoffFigures::wait_max_us},
    {"share_max", &HandoffFigures::share_max},
    {"share_min", &HandoffFigures::share_min},
    {"share_ratio", &HandoffFigures::share_ratio},
    {"handovers", &HandoffFigures::handovers},
    {"reentries", &HandoffFigures::reentries},
    {"unacknowledged_releases", &HandoffFigures::unacknowledged},
    {"commands_per_handover", &HandoffFigures::commands},
    {"scripts_per_handover", &HandoffFigures::scripts},
};

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<double> handoff_column(const std::vector<HandoffFigures>& repetitions,
                                   double HandoffFigures::*figure) {
  std::vector<double> values;
  values.reserve(repetitions.size());
  for (const HandoffFigures& repetition : repetitions) values.push_back(repetition.*figure);
  return values;
}

/// JSON has no infinity.
HandoffJson handoff_number(double value) {
  return std::isfinite(value) ? HandoffJson(std::round(value * 1000) / 1000) : HandoffJson();
}

void add_handoff_figures(HandoffJson& json, const std::vector<HandoffFigures>& repetitions) {
  for (const NamedHandoffFigure& named : named_handoff_figures) {
    json[named.name] = handoff_number(spread_of(handoff_column(repetitions, named.figure)).median);
  }
  for (const auto figure : {&HandoffFigures::acquisitions_per_s, &HandoffFigures::handover_p50_us,
                            &HandoffFigures::handover_p99_us, &HandoffFigures::share_ratio}) {
    const auto* named = std::find_if(
        std::begin(named_handoff_figures), std::end(named_handoff_figures),
        [figure](const NamedHandoffFigure& candidate) { return candidate.figure == figure; });
    const Spread spread = spread_of(handoff_column(repetitions, figure));
    json[std::string(named->name) + "_min"] = handoff_number(spread.least);
    json[std::string(named->name) + "_max"] = handoff_number(spread.most);
  }
}

const char* name_of(bench::HandoffPattern pattern) {
  return pattern == bench::HandoffPattern::reentry ? "re-entry" : "drain";
}

std::string shares_text(const HandoffFigures& figures) {
  return fmt::format("{:.0f}/{:.0f}", figures.share_max, figures.share_min);
}

std::string handoff_line(const HandoffFigures& figures) {
  return fmt::format(
      "{:>7.0f} {:>7.0f} µs {:>7.0f} µs {:>8.0f} µs {:>8.1f} ms {:>8.1f} ms "
      "{:>10.1f} ms {:>11} {:>9.1f}",
      figures.acquisitions_per_s, figures.handover_p50_us, figures.handover_p99_us,
      figures.handover_max_us, figures.wait_p50_us / 1000, figures.wait_p99_us / 1000,
      figures.wait_max_us / 1000, shares_text(figures), figures.commands);
}

std::string floor_line(const HandoffRow& row) {
  return fmt::format(
      "{:>5} {:>10} {:<8} {}\n  to the floor's acquire p50, {:.0f} µs: hand-over p50 {:.1f} ×, "
      "p99 {:.1f} ×\n",
      "", "", "floor", handoff_line(medians_of(row.floor)),
      spread_of(row.floor_acquire_p50_us).median,
      ratio_to_acquire(row, &HandoffFigures::handover_p50_us),
      ratio_to_acquire(row, &HandoffFigures::handover_p99_us));
}

double in_us(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

}  // namespace

HandoffCommands commands_per_handover(const std::vector<bench::CommandCounts>& before,
                                      const std::vector<bench::CommandCounts>& after,
                                      std::uint64_t grants) {
  HandoffCommands result;
  if (grants == 0 || before.empty() || before.size() != after.size()) return result;
  for (std::size_t node = 0; node < before.size(); ++node) {
    result.all += static_cast<double>(after[node].all - before[node].all);
    result.scripts += static_cast<double>(after[node].scripts - before[node].scripts);
  }
  const double divisor = static_cast<double>(grants) * static_cast<double>(before.size());
  return {result.all / divisor, result.scripts / divisor};
}

HandoffFigures figures_of(const bench::HandoffResult& result, const HandoffCommands& commands) {
  HandoffFigures figures;
  const double seconds = std::chrono::duration<double>(result.elapsed).count();
  if (seconds > 0) {
    figures.acquisitions_per_s = static_cast<double>(result.acquisitions) / seconds;
  }
  figures.handover_p50_us = in_us(result.hand_over.percentile(50));
  figures.handover_p99_us = in_us(result.hand_over.percentile(99));
  figures.handover_max_us = in_us(result.hand_over.max());
  figures.wait_p50_us = in_us(result.wait.percentile(50));
  figures.wait_p99_us = in_us(result.wait.percentile(99));
  figures.wait_max_us = in_us(result.worst_wait);
  figures.share_max = static_cast<double>(result.most);
  figures.share_min = static_cast<double>(result.least);
  figures.share_ratio = result.least == 0 ? infinite : figures.share_max / figures.share_min;
  figures.handovers = static_cast<double>(result.hand_overs);
  figures.reentries = static_cast<double>(result.reentries);
  figures.unacknowledged = static_cast<double>(result.unacknowledged);
  figures.commands = commands.all;
  figures.scripts = commands.scripts;
  return figures;
}

HandoffFigures medians_of(const std::vector<HandoffFigures>& repetitions) {
  HandoffFigures medians;
  for (const NamedHandoffFigure& named : named_handoff_figures) {
    medians.*named.figure = spread_of(handoff_column(repetitions, named.figure)).median;
  }
  return medians;
}

double ratio_to_acquire(const HandoffRow& row, double HandoffFigures::*figure) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(row.ours.size(), row.floor_acquire_p50_us.size()); ++i) {
    if (row.floor_acquire_p50_us[i] <= 0) continue;
    ratios.push_back(row.ours[i].*figure / row.floor_acquire_p50_us[i]);
  }
  return spread_of(std::move(ratios)).median;
}

std::string handoff_json(const std::vector<HandoffRow>& rows) {
  HandoffJson json{{"mode", "handoff"}, {"rows", HandoffJson::array()}};
  for (const HandoffRow& row : rows) {
    HandoffJson entry{{"nodes_count", row.nodes}, {"contenders", row.contenders}};
    entry["reentry"] = row.pattern == bench::HandoffPattern::reentry;
    add_handoff_figures(entry, row.ours);
    if (!row.floor.empty()) {
      HandoffJson& floor = entry["floor"];
      add_handoff_figures(floor, row.floor);
      floor["acquire_p50_us"] = handoff_number(spread_of(row.floor_acquire_p50_us).median);
      HandoffJson& ratio = entry["ratio_to_floor_acquire_p50"];
      ratio["handover_p50"] =
          handoff_number(ratio_to_acquire(row, &HandoffFigures::handover_p50_us));
      ratio["handover_p99"] =
          handoff_number(ratio_to_acquire(row, &HandoffFigures::handover_p99_us));
    }
    json["rows"].push_back(std::move(entry));
  }
  return json_line(json);
}

std::string handoff_text(const Style& style, const std::vector<HandoffRow>& rows) {
  std::string text = style.paint(
      Style::Colour::faint,
      fmt::format("{:>5} {:>10} {:<8} {:>7} {:>10} {:>10} {:>11} {:>11} {:>11} {:>13} {:>11} {:>9}",
                  "nodes", "contenders", "pattern", "locks/s", "hand-over", "p99", "max",
                  "wait p50", "wait p99", "worst wait", "most/least", "commands"));
  text += '\n';
  for (const HandoffRow& row : rows) {
    fmt::format_to(std::back_inserter(text), "{:>5} {:>10} {:<8} {}\n", row.nodes, row.contenders,
                   name_of(row.pattern), handoff_line(medians_of(row.ours)));
    if (!row.floor.empty()) text += floor_line(row);
  }
  return text + style.paint(Style::Colour::faint,
                            "medians of the repetitions; hand-over: p50, to a waiter; commands: of "
                            "one node for one acquisition\n");
}

}  // namespace redlock::cli
