#include "bench/contest/contest_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/measure/spread.hpp"
#include "common/text/json_line.hpp"

namespace redlock::cli {
namespace {

using ContestJson = nlohmann::ordered_json;

struct NamedContestFigure {
  const char* name;
  double ContestFigures::*figure;
  bool with_spread = false;
};
constexpr NamedContestFigure named_contest_figures[] = {
    {"acquisitions_per_s", &ContestFigures::acquisitions_per_s, true},
    {"handover_p50_us", &ContestFigures::handover_p50_us, true},
    {"handover_p99_us", &ContestFigures::handover_p99_us, true},
    {"handover_max_us", &ContestFigures::handover_max_us},
    {"wait_p50_us", &ContestFigures::wait_p50_us},
    {"wait_p99_us", &ContestFigures::wait_p99_us},
    {"wait_max_us", &ContestFigures::wait_max_us},
    {"share_max", &ContestFigures::share_max},
    {"share_min", &ContestFigures::share_min},
    {"share_ratio", &ContestFigures::share_ratio, true},
    {"handovers", &ContestFigures::handovers},
    {"reentries", &ContestFigures::reentries},
    {"unacknowledged_releases", &ContestFigures::unacknowledged},
    {"commands_per_handover", &ContestFigures::commands},
    {"scripts_per_handover", &ContestFigures::scripts},
    {"connect_us", &ContestFigures::connect_us},
    {"connections_per_client_and_node", &ContestFigures::connections},
};

Spread contest_spread(const std::vector<ContestFigures>& runs, double ContestFigures::*figure) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const ContestFigures& run : runs) values.push_back(run.*figure);
  return spread_of(std::move(values));
}

/// Three decimals: more would be noise. JSON has no infinity.
ContestJson contest_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value)) return static_cast<std::int64_t>(value);
  return std::round(value * 1000) / 1000;
}

/// The row's grants per second, divided by those of the first row over as many nodes.
double ratio_to_first(const std::vector<ContestRow>& rows, const ContestRow& row) {
  for (const ContestRow& first : rows) {
    if (first.nodes != row.nodes || first.pattern != row.pattern) continue;
    const double divisor = medians_of(first.runs).acquisitions_per_s;
    return divisor <= 0 ? 0 : medians_of(row.runs).acquisitions_per_s / divisor;
  }
  return 0;
}

/// The longest wait, in units of the time in which each contender has one turn.
double turns_waited(const ContestRow& row, const ContestFigures& figures) {
  return figures.wait_max_us / 1e6 * figures.acquisitions_per_s /
         static_cast<double>(row.contenders);
}

double in_us(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

}  // namespace

HandoverCommands commands_per_handover(const std::vector<bench::CommandCounts>& before,
                                       const std::vector<bench::CommandCounts>& after,
                                       std::uint64_t grants) {
  HandoverCommands result;
  if (grants == 0 || before.empty() || before.size() != after.size()) return result;
  for (std::size_t node = 0; node < before.size(); ++node) {
    result.all += static_cast<double>(after[node].all - before[node].all);
    result.scripts += static_cast<double>(after[node].scripts - before[node].scripts);
  }
  const double divisor = static_cast<double>(grants) * static_cast<double>(before.size());
  return {result.all / divisor, result.scripts / divisor};
}

ContestFigures figures_of(const bench::ContestResult& result, const HandoverCommands& commands) {
  ContestFigures figures;
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
  figures.share_ratio = result.least == 0 ? std::numeric_limits<double>::infinity()
                                          : figures.share_max / figures.share_min;
  figures.handovers = static_cast<double>(result.hand_overs);
  figures.reentries = static_cast<double>(result.reentries);
  figures.unacknowledged = static_cast<double>(result.unacknowledged);
  figures.commands = commands.all;
  figures.scripts = commands.scripts;
  figures.overlaps = static_cast<double>(result.overlaps);
  figures.wrong = result.wrong;
  return figures;
}

ContestFigures medians_of(const std::vector<ContestFigures>& repetitions) {
  ContestFigures medians;
  for (const NamedContestFigure& named : named_contest_figures) {
    medians.*named.figure = contest_spread(repetitions, named.figure).median;
  }
  for (const ContestFigures& run : repetitions) {
    medians.failures += run.failures;
    medians.overlaps += run.overlaps;
    if (medians.wrong.empty()) medians.wrong = run.wrong;
  }
  return medians;
}

std::string contest_json(std::string_view mode, const std::vector<ContestRow>& rows) {
  ContestJson json{{"mode", mode}, {"rows", ContestJson::array()}};
  for (const ContestRow& row : rows) {
    const ContestFigures figures = medians_of(row.runs);
    ContestJson entry{{"nodes_count", row.nodes}};
    if (mode == "crowd") {
      entry["clients"] = row.contenders;
    } else {
      entry["contenders"] = row.contenders;
      entry["reentry"] = row.pattern == bench::ContestPattern::reentry;
    }
    for (const NamedContestFigure& named : named_contest_figures) {
      entry[named.name] = contest_number(figures.*named.figure);
      if (!named.with_spread) continue;
      const Spread spread = contest_spread(row.runs, named.figure);
      entry[std::string(named.name) + "_min"] = contest_number(spread.least);
      entry[std::string(named.name) + "_max"] = contest_number(spread.most);
    }
    entry["ratio_to_first"] = contest_number(ratio_to_first(rows, row));
    entry["wait_max_turns"] = contest_number(turns_waited(row, figures));
    entry["failures"] = contest_number(figures.failures);
    entry["overlaps"] = contest_number(figures.overlaps);
    json["rows"].push_back(std::move(entry));
  }
  return json_line(json);
}

std::string contest_text(const Style& style, const std::vector<ContestRow>& rows) {
  std::string text = style.paint(
      Style::Colour::faint,
      fmt::format("{:>5} {:>10} {:<8} {:>9} {:>8} {:>5} {:>10} {:>10} {:>11} {:>11} {:>12} {:>8} "
                  "{:>10} {:>8} {:>8}\n",
                  "nodes", "contenders", "pattern", "connected", "grants/s", "ratio", "hand-over",
                  "p99", "wait p50", "p99", "longest wait", "in turns", "most/least", "commands",
                  "failures"));
  for (const ContestRow& row : rows) {
    const ContestFigures figures = medians_of(row.runs);
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{:>5} {:>10} {:<8} {:>7.2f} s {:>8.1f} {:>5.2f}", row.nodes,
                   row.contenders,
                   row.pattern == bench::ContestPattern::reentry ? "re-entry" : "drain",
                   figures.connect_us / 1e6, figures.acquisitions_per_s, ratio_to_first(rows, row));
    fmt::format_to(out, " {:>7.0f} µs {:>7.0f} µs {:>8.1f} ms {:>8.1f} ms {:>9.1f} ms",
                   figures.handover_p50_us, figures.handover_p99_us, figures.wait_p50_us / 1000,
                   figures.wait_p99_us / 1000, figures.wait_max_us / 1000);
    fmt::format_to(out, " {:>8.2f} {:>10} {:>8.1f} {:>8.0f}\n", turns_waited(row, figures),
                   fmt::format("{:.0f}/{:.0f}", figures.share_max, figures.share_min),
                   figures.commands, figures.failures);
  }
  return text + style.paint(Style::Colour::faint,
                            "medians of the repetitions; ratio: to the first row; hand-over: p50, "
                            "to a waiter; a turn: until each of the contenders could have had the "
                            "lock once; commands: of one node for one acquisition\n");
}

}  // namespace redlock::cli
