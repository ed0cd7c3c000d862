#include "bench/cycle/cycle_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/text/json_line.hpp"

namespace redlock::cli {
namespace {

using CycleJson = nlohmann::ordered_json;

constexpr NamedFigure named_ratios[] = {
    {"cycles_per_s", &Figures::cycles_per_s},
    {"acquire_p50", &Figures::acquire_p50_us},
    {"acquire_p99", &Figures::acquire_p99_us},
};

/// Three decimals: more would be noise.
double rounded(double value) { return std::round(value * 1000) / 1000; }

void add_figures(CycleJson& json, const Figures& figures) {
  for (const NamedFigure& named : named_figures) json[named.name] = rounded(figures.*named.figure);
  json["failures"] = figures.failures;
}

CycleJson ratios(const std::vector<Figures>& ours, const std::vector<Figures>& theirs) {
  CycleJson json;
  for (const NamedFigure& named : named_ratios) {
    const Spread spread = ratio_of(ours, theirs, named.figure);
    const std::string name = named.name;
    json[name] = rounded(spread.median);
    json[name + "_min"] = rounded(spread.least);
    json[name + "_max"] = rounded(spread.most);
  }
  return json;
}

std::string figures_text(const Figures& figures) {
  return fmt::format(
      "{:>11.0f} {:>8.1f} µs {:>8.1f} µs {:>8.1f} µs {:>7.1f} µs {:>7.1f} µs "
      "{:>6.2f} µs {:>8}",
      figures.cycles_per_s, figures.acquire_p50_us, figures.acquire_p99_us, figures.acquire_max_us,
      figures.cycle_p50_us, figures.cycle_p99_us, figures.client_cpu_us_per_cycle,
      figures.failures);
}

/// "0.91 (0.90-0.93)": the median, the least and the most.
std::string spread_text(const Spread& spread) {
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", spread.median, spread.least, spread.most);
}

std::string side_text(const CycleRow& row, const SideFigures& side) {
  const Figures figures = medians_of(side.runs);
  std::string text = fmt::format(
      "  {:<17} {}  ours: {} times the cycles/s, {} of the acquire p50", side.name,
      figures_text(figures), spread_text(ratio_of(row.ours, side.runs, &Figures::cycles_per_s)),
      spread_text(ratio_of(row.ours, side.runs, &Figures::acquire_p50_us)));
  if (figures.failures > 0) {
    fmt::format_to(std::back_inserter(text), "; failed within {:.1f} µs p50, {:.1f} µs at most",
                   figures.failure_p50_us, figures.failure_max_us);
  }
  return text + '\n';
}

}  // namespace

std::string cycle_json(const std::vector<CycleRow>& rows) {
  CycleJson json{{"mode", "cycle"}, {"rows", CycleJson::array()}};
  for (const CycleRow& row : rows) {
    CycleJson entry{{"nodes_count", row.nodes}, {"in_flight", row.in_flight}};
    add_figures(entry, medians_of(row.ours));
    for (const SideFigures& side : row.sides) {
      CycleJson& peer = entry["peers"][side.name];
      if (!side.version.empty()) peer["version"] = side.version;
      add_figures(peer, medians_of(side.runs));
      peer["ratio"] = ratios(row.ours, side.runs);
    }
    json["rows"].push_back(std::move(entry));
  }
  return json_line(json);
}

std::string cycle_text(const Style& style, const std::vector<CycleRow>& rows) {
  std::string text =
      style.paint(Style::Colour::faint,
                  fmt::format("{:>9} {:>9} {:>11} {:>11} {:>11} {:>11} {:>10} {:>10} {:>9} {:>8}\n",
                              "nodes", "in flight", "cycles/s", "acquire p50", "acquire p99", "max",
                              "cycle p50", "cycle p99", "CPU/cycle", "failures"));
  for (const CycleRow& row : rows) {
    fmt::format_to(std::back_inserter(text), "{:>9} {:>9} {}\n", row.nodes, row.in_flight,
                   figures_text(medians_of(row.ours)));
    for (const SideFigures& side : row.sides) text += side_text(row, side);
  }
  return text + style.paint(Style::Colour::faint, "medians of the repetitions\n");
}

}  // namespace redlock::cli
