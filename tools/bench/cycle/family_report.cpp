#include "bench/cycle/family_report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/text/json_line.hpp"

namespace redlock::cli {
namespace {

std::string_view name_of(FamilyTerms terms) {
  switch (terms) {
    case FamilyTerms::plain:
      return "plain";
    case FamilyTerms::guarded:
      return "guarded";
    case FamilyTerms::fenced:
      return "fenced";
  }
  return "";
}

std::string family_line(const FamilyRow& row, bool local) {
  const Figures figures = medians_of(row.figures);
  std::string line = fmt::format(
      "{:>9} {:<10} {:<8} {:>9.0f} {:>8.1f} µs {:>8.1f} µs {:>7.2f} µs {:>10} {:>8}", row.in_flight,
      row.lock, name_of(row.terms), figures.cycles_per_s, figures.acquire_p50_us,
      figures.acquire_p99_us, figures.client_cpu_us_per_cycle,
      local ? fmt::format("{:.2f} µs", figures.node_cpu_us_per_cycle) : "-", figures.failures);
  if (!row.reference.empty()) {
    fmt::format_to(std::back_inserter(line), " {:>18} {:>18}",
                   spread_text(ratio_of(row.figures, row.reference, &Figures::cycles_per_s)),
                   spread_text(ratio_of(row.figures, row.reference, &Figures::acquire_p50_us)));
  }
  return line + '\n';
}

}  // namespace

std::string name_of(const FamilyRow& row) {
  return fmt::format("{}, {}", row.lock, name_of(row.terms));
}

std::string family_json(const FamilyReport& report) {
  nlohmann::ordered_json json{{"mode", "family"}, {"nodes_count", report.nodes}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const FamilyRow& row : report.rows) {
    nlohmann::ordered_json entry{{"in_flight", row.in_flight}};
    entry["kind"] = row.lock;
    entry["terms"] = name_of(row.terms);
    add_figures(entry, medians_of(row.figures));
    if (!report.local) entry.erase("node_cpu_us_per_cycle");
    if (!row.reference.empty()) {
      add_ratios(entry["ratio_to_plain_exclusive"], row.figures, row.reference);
    }
    json["rows"].push_back(std::move(entry));
  }
  return json_line(json);
}

std::string family_text(const Style& style, const FamilyReport& report) {
  std::string text = style.paint(
      Style::Colour::faint,
      fmt::format("{:>9} {:<10} {:<8} {:>9} {:>11} {:>11} {:>10} {:>10} {:>8} {:>18} {:>18}\n",
                  "in flight", "lock", "terms", "cycles/s", "acquire p50", "acquire p99",
                  "client CPU", "node CPU", "failures", "cycles/s ratio", "p50 ratio"));
  for (const FamilyRow& row : report.rows) text += family_line(row, report.local);
  return text +
         style.paint(Style::Colour::faint,
                     fmt::format("{} nodes; medians; CPU: of one cycle, of all nodes together; "
                                 "ratio: to plain exclusive locks right before, (min-max)\n",
                                 report.nodes));
}

}  // namespace redlock::cli
