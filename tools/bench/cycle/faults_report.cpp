#include "bench/cycle/faults_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/text/json_line.hpp"

namespace redlock::cli {
namespace {

double microseconds_of(std::chrono::nanoseconds duration) {
  return std::round(std::chrono::duration<double, std::micro>(duration).count());
}

double milliseconds_of(std::chrono::nanoseconds duration) {
  return microseconds_of(duration) / 1000;
}

std::string_view name_of(LocalNodes::Fault fault) {
  return fault == LocalNodes::Fault::killed ? "killed" : "stopped";
}

std::string times_text(const bench::Histogram& times) {
  return fmt::format("{:.3f} ms p50, {:.3f} ms worst", milliseconds_of(times.percentile(50)),
                     milliseconds_of(times.max()));
}

std::string unavailable_text(const FaultRow& row) {
  const CycleFailures& failures = row.failures;
  if (failures.unavailable.count() == 0) return "no call ended\n";
  std::string text = "unavailable: first " + times_text(failures.unavailable);
  if (failures.still_unavailable.count() > 0) {
    text += "; then " + times_text(failures.still_unavailable);
  }
  return text + '\n';
}

std::string figures_text(const FaultRow& row) {
  const Figures figures = medians_of(row.figures);
  std::string text =
      fmt::format("{:>9.0f} {:>8.1f} µs {:>8.1f} µs {:>9.3f} ms {:>8}", figures.cycles_per_s,
                  figures.acquire_p50_us, figures.acquire_p99_us,
                  milliseconds_of(row.worst_acquire), figures.failures);
  if (row.fault.nodes > 0) {
    for (const auto figure :
         {&Figures::cycles_per_s, &Figures::acquire_p50_us, &Figures::acquire_p99_us}) {
      fmt::format_to(std::back_inserter(text), " {:>18}",
                     spread_text(ratio_of(row.figures, row.healthy, figure)));
    }
  }
  return text + '\n';
}

void add_times(nlohmann::ordered_json& json, const std::string& name,
               const bench::Histogram& times) {
  json[name] = times.count();
  if (times.count() == 0) return;
  json[name + "_p50_us"] = microseconds_of(times.percentile(50));
  json[name + "_max_us"] = microseconds_of(times.max());
}

}  // namespace

std::vector<BenchFault> bench_faults(std::size_t nodes) {
  const std::size_t minority = nodes - (nodes / 2 + 1);
  std::vector<BenchFault> faults;
  for (const auto fault : {LocalNodes::Fault::killed, LocalNodes::Fault::stopped}) {
    if (minority > 0) faults.push_back({fault, 1});
    if (minority > 1) faults.push_back({fault, minority});
  }
  faults.push_back({LocalNodes::Fault::killed, minority + 1});
  faults.push_back({LocalNodes::Fault::stopped, minority + 1});
  return faults;
}

std::string fault_text(const BenchFault& fault) {
  return fault.nodes == 0 ? "healthy" : fmt::format("{} {}", fault.nodes, name_of(fault.fault));
}

std::string faults_json(const FaultsReport& report) {
  nlohmann::ordered_json json{{"mode", "faults"}, {"nodes_count", report.nodes}};
  json["node_limit_ms"] = milliseconds_of(report.node_limit);
  json["rows"] = nlohmann::ordered_json::array();
  for (const FaultRow& row : report.rows) {
    nlohmann::ordered_json entry{{"in_flight", row.in_flight}};
    entry["fault"] = row.fault.nodes == 0 ? "none" : name_of(row.fault.fault);
    entry["nodes_down"] = row.fault.nodes;
    if (row.majority) {
      add_times(entry, "unavailable", row.failures.unavailable);
      add_times(entry, "still_unavailable", row.failures.still_unavailable);
    } else {
      add_figures(entry, medians_of(row.figures));
      entry.erase("node_cpu_us_per_cycle");  // not measured: a node that is gone tells nothing
      entry["acquire_max_us"] = microseconds_of(row.worst_acquire);
      if (row.fault.nodes > 0) add_ratios(entry["ratio_to_healthy"], row.figures, row.healthy);
    }
    json["rows"].push_back(std::move(entry));
  }
  return json_line(json);
}

std::string faults_text(const Style& style, const FaultsReport& report) {
  std::string text = style.paint(
      Style::Colour::faint,
      fmt::format("{:>9} {:<10} {:>9} {:>11} {:>11} {:>12} {:>8} {:>18} {:>18} {:>18}\n",
                  "in flight", "nodes", "cycles/s", "acquire p50", "acquire p99", "worst",
                  "failures", "cycles/s ratio", "p50 ratio", "p99 ratio"));
  for (const FaultRow& row : report.rows) {
    fmt::format_to(std::back_inserter(text), "{:>9} {:<10} {}", row.in_flight,
                   fault_text(row.fault), row.majority ? unavailable_text(row) : figures_text(row));
  }
  return text +
         style.paint(Style::Colour::faint,
                     fmt::format("{} nodes, others are down in each repetition; medians; worst: "
                                 "of all that were granted; ratio: to the healthy run before, "
                                 "(min-max)\nunavailable: how long calls took that ended so, the "
                                 "first of each lock in flight, then the later ones; a node's "
                                 "limit is {:g} ms\n",
                                 report.nodes, milliseconds_of(report.node_limit)));
}

}  // namespace redlock::cli
