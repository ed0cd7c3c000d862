#include "bench/page/bench_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace redlock::cli {
namespace {

using Json = nlohmann::ordered_json;

struct NamedFigure {
  const char* name;
  double Figures::*figure;
};
constexpr NamedFigure named_figures[] = {
    {"cycles_per_s", &Figures::cycles_per_s},
    {"acquire_p50_us", &Figures::acquire_p50_us},
    {"acquire_p90_us", &Figures::acquire_p90_us},
    {"acquire_p99_us", &Figures::acquire_p99_us},
    {"acquire_p999_us", &Figures::acquire_p999_us},
    {"cycle_p50_us", &Figures::cycle_p50_us},
    {"cycle_p90_us", &Figures::cycle_p90_us},
    {"cycle_p99_us", &Figures::cycle_p99_us},
    {"cycle_p999_us", &Figures::cycle_p999_us},
    {"client_cpu_us_per_cycle", &Figures::client_cpu_us_per_cycle},
    {"client_kernel_us_per_cycle", &Figures::client_kernel_us_per_cycle},
    {"node_cpu_us_per_cycle", &Figures::node_cpu_us_per_cycle},
};
constexpr NamedFigure named_ratios[] = {
    {"cycles_per_s", &Figures::cycles_per_s},
    {"acquire_p50", &Figures::acquire_p50_us},
    {"acquire_p99", &Figures::acquire_p99_us},
};

/// Three decimals: more would be noise.
double rounded(double value) { return std::round(value * 1000) / 1000; }

}  // namespace

void add_figures(Json& json, const Figures& figures) {
  for (const NamedFigure& named : named_figures) json[named.name] = rounded(figures.*named.figure);
  json["failures"] = figures.failures;
}

void add_ratios(Json& json, const std::vector<Figures>& side, const std::vector<Figures>& other) {
  for (const NamedFigure& named : named_ratios) {
    const Spread spread = ratio_of(side, other, named.figure);
    const std::string name = named.name;
    json[name] = rounded(spread.median);
    json[name + "_min"] = rounded(spread.least);
    json[name + "_max"] = rounded(spread.most);
  }
}

namespace {

/// The cost of guards and fencing, one below the other.
std::string guards_text(const BenchRow& row) {
  std::string text;
  const auto line = [&](const char* name, const std::vector<Figures>& side) {
    const Figures figures = medians_of(side);
    fmt::format_to(std::back_inserter(text), "  {:<8} {:>16.0f} cycles/s  acquire p50 {:.1f} µs",
                   name, figures.cycles_per_s, figures.acquire_p50_us);
    if (&side != &row.plain) {
      fmt::format_to(std::back_inserter(text), "  to plain: cycles/s {}, acquire p50 {}",
                     spread_text(ratio_of(side, row.plain, &Figures::cycles_per_s)),
                     spread_text(ratio_of(side, row.plain, &Figures::acquire_p50_us)));
    }
    if (&side == &row.fenced) {
      fmt::format_to(std::back_inserter(text), "  in one round trip {:.2f} %",
                     100 * one_round_share(row));
    }
    text += '\n';
  };
  line("plain", row.plain);
  line("guarded", row.guarded);
  line("fenced", row.fenced);
  return text;
}

/// Plain commands and scripts, one below the other.
std::string scripts_text(const BenchRow& row) {
  std::string text;
  const auto line = [&](const char* name, const std::vector<Figures>& side) {
    const Figures figures = medians_of(side);
    fmt::format_to(std::back_inserter(text),
                   "  {:<14} {:>10.0f} cycles/s  node CPU/cycle {:.2f} µs", name,
                   figures.cycles_per_s, figures.node_cpu_us_per_cycle);
    if (&side == &row.plain_commands) {
      fmt::format_to(std::back_inserter(text), "  to scripts: cycles/s {}, node CPU {}",
                     spread_text(ratio_of(side, row.scripts, &Figures::cycles_per_s)),
                     spread_text(ratio_of(side, row.scripts, &Figures::node_cpu_us_per_cycle)));
    }
    text += '\n';
  };
  line("scripts", row.scripts);
  line("plain commands", row.plain_commands);
  return text;
}

/// Other clients, one below the other.
std::string peers_text(const BenchRow& row) {
  std::string text;
  for (const PeerSide& peer : row.peers) {
    const Figures figures = medians_of(peer.runs);
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "  {:<17} {:>7.0f} {:>8.1f} µs {:>8.1f} µs", peer.name,
                   figures.cycles_per_s, figures.acquire_p50_us, figures.acquire_p99_us);
    fmt::format_to(out, " {:>7.1f} µs {:>7.1f} µs {:>6.2f} µs {:>8}", figures.cycle_p50_us,
                   figures.cycle_p99_us, figures.client_cpu_us_per_cycle, figures.failures);
    fmt::format_to(out, "  ours: {} times the cycles/s\n",
                   spread_text(ratio_of(row.ours, peer.runs, &Figures::cycles_per_s)));
  }
  return text;
}

}  // namespace

std::string bench_json(const std::vector<BenchRow>& rows) {
  Json json{{"mode", "cycle"}};
  json["rows"] = Json::array();
  for (const BenchRow& row : rows) {
    Json entry{{"nodes_count", row.nodes}, {"in_flight", row.in_flight}};
    add_figures(entry, medians_of(row.ours));
    if (!row.floor.empty()) {
      add_figures(entry["floor"], medians_of(row.floor));
      add_ratios(entry["ratio"], row.ours, row.floor);
    }
    if (!row.plain.empty()) {
      add_figures(entry["plain"], medians_of(row.plain));
      add_figures(entry["guarded"], medians_of(row.guarded));
      add_ratios(entry["guarded"]["ratio_to_plain"], row.guarded, row.plain);
      add_figures(entry["fenced"], medians_of(row.fenced));
      add_ratios(entry["fenced"]["ratio_to_plain"], row.fenced, row.plain);
      entry["fenced"]["in_one_round"] = one_round_share(row);
    }
    if (!row.scripts.empty()) {
      add_figures(entry["scripts"], medians_of(row.scripts));
      add_figures(entry["plain_commands"], medians_of(row.plain_commands));
      Json& ratio = entry["plain_commands"]["ratio_to_scripts"];
      add_ratios(ratio, row.plain_commands, row.scripts);
      ratio["node_cpu"] = rounded(
          ratio_of(row.plain_commands, row.scripts, &Figures::node_cpu_us_per_cycle).median);
    }
    for (const PeerSide& peer : row.peers) {
      Json& side = entry["peers"][peer.name];
      if (!peer.version.empty()) side["version"] = peer.version;
      add_figures(side, medians_of(peer.runs));
      add_ratios(side["ratio"], row.ours, peer.runs);
    }
    json["rows"].push_back(std::move(entry));
  }
  return json.dump() + "\n";
}

std::string bench_text(const Style& style, const std::vector<BenchRow>& rows) {
  const bool with_floor = !rows.empty() && !rows.front().floor.empty();
  std::string text =
      style.paint(Style::Colour::faint,
                  fmt::format("{:>5} {:>9} {:>11} {:>11} {:>11} {:>10} {:>10} {:>9} {:>8}{}",
                              "nodes", "in flight", "cycles/s", "acquire p50", "acquire p99",
                              "cycle p50", "cycle p99", "CPU/cycle", "failures",
                              with_floor ? fmt::format(" | {:>11} {:>18} {:>18}", "floor",
                                                       "cycles/s ratio", "acquire p50 ratio")
                                         : ""));
  text += '\n';
  for (const BenchRow& row : rows) {
    const Figures ours = medians_of(row.ours);
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{:>5} {:>9} {:>11.0f} {:>8.1f} µs {:>8.1f} µs {:>7.1f} µs {:>7.1f} µs",
                   row.nodes, row.in_flight, ours.cycles_per_s, ours.acquire_p50_us,
                   ours.acquire_p99_us, ours.cycle_p50_us, ours.cycle_p99_us);
    fmt::format_to(out, " {:>6.2f} µs {:>8}", ours.client_cpu_us_per_cycle, ours.failures);
    if (with_floor) {
      fmt::format_to(out, " | {:>11.0f} {:>18} {:>18}", medians_of(row.floor).cycles_per_s,
                     spread_text(ratio_of(row, &Figures::cycles_per_s)),
                     spread_text(ratio_of(row, &Figures::acquire_p50_us)));
    }
    text += '\n';
    if (!row.plain.empty()) text += guards_text(row);
    if (!row.scripts.empty()) text += scripts_text(row);
    text += peers_text(row);
  }
  text += style.paint(Style::Colour::faint,
                      with_floor ? "medians of the repetitions; ratio: ours / floor, (min-max)"
                                 : "medians of the repetitions");
  text += '\n';
  return text;
}

}  // namespace redlock::cli
