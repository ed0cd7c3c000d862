#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>

#include "chaos/report/report.hpp"
#include "chaos/report/report_style.hpp"
#include "chaos/report/report_timeline.hpp"
#include "common/text/duration.hpp"
#include "common/text/page.hpp"

namespace redlock::chaos {
namespace {

using cli::add_card;
using cli::begin_page;
using cli::end_page;
using cli::escaped;
using Out = std::back_insert_iterator<std::string>;

/// The duration in two or three digits, for narrow places.
std::string round_duration(double microseconds) {
  if (microseconds < 1e3) return fmt::format("{:.0f} µs", microseconds);
  if (microseconds < 1e6) return fmt::format("{:.0f} ms", microseconds / 1e3);
  return fmt::format("{:.0f} s", microseconds / 1e6);
}

void head(std::string& page, const History& history, const Judgement& judgement, Ending ending) {
  std::string_view word = verdict(history, judgement, ending);
  if (word == "no_lease") word = "no lease";
  const std::string_view tone = word == "ok" ? "good" : word == "interrupted" ? "pale" : "bad";
  begin_page(page, fmt::format("chaos: {} (seed {})", word, history.seed), report_style);
  fmt::format_to(Out(page),
                 "<header><h1>quorum-lock chaos</h1><p class=\"verdict {}\">{}</p></header>\n",
                 tone, word);
  fmt::format_to(
      Out(page),
      "<p class=\"lead\">{} contenders took {} locks on {} Redis nodes for {:.3g} s, while "
      "{} were broken. Every lease was recorded, and judged by a checker that shares no "
      "code with the library.</p>\n",
      history.contenders, history.resources.size(), history.nodes,
      static_cast<double>(history.duration) / 1e9, "nodes, links, clocks and contenders");
}

void cards(std::string& page, const History& history, const Judgement& judgement) {
  const Latencies latencies = acquire_latencies(history);
  page += "<section class=\"cards\">\n";
  add_card(page, fmt::format("{}", judgement.violations.size()), "violations");
  add_card(page, fmt::format("{}", history.leases.size()), "leases granted");
  add_card(page, fmt::format("{}", history.faults.size()), "faults injected");
  add_card(page, fmt::format("{}", judgement.updates), "guarded updates");
  add_card(page, fmt::format("{}", judgement.lost_updates), "updates lost");
  add_card(page, fmt::format("{}", judgement.refusals), "stale writes refused");
  add_card(page, duration_of(latencies.p50), "acquired after, p50");
  add_card(page, duration_of(latencies.p90), "p90");
  add_card(page, duration_of(latencies.p99), "p99");
  add_card(page, duration_of(latencies.most), "at most");
  page += "</section>\n";
}

void violations(std::string& page, const History& history, const Judgement& judgement) {
  if (judgement.violations.empty()) return;
  page +=
      "<h2>Violations</h2>\n<table><tr><th>at</th><th>what</th><th>resource</th><th></th></tr>\n";
  constexpr std::size_t most = 200;
  for (std::size_t i = 0; i < std::min(most, judgement.violations.size()); ++i) {
    const Violation& violation = judgement.violations[i];
    const std::string at =
        violation.at == 0
            ? ""
            : fmt::format("{:.3f} s", static_cast<double>(violation.at - history.begin) / 1e9);
    fmt::format_to(
        Out(page),
        "<tr><td class=\"n\">{}</td><td class=\"bad\">{}</td><td>{}</td><td>{}</td></tr>\n", at,
        violation.kind, escaped(violation.resource), escaped(violation.what));
  }
  page += "</table>\n";
}

/// Draws the numbers of leases by the time that they took, in buckets that double.
void histogram(std::string& page, const History& history) {
  constexpr std::size_t buckets = 14;
  constexpr double first = 250;  // microseconds
  std::array<std::size_t, buckets> counts{};
  for (const LeaseRecord& lease : history.leases) {
    const double took = static_cast<double>(lease.granted - lease.asked) / 1e3;
    const double bucket = took <= first ? 0 : std::ceil(std::log2(took / first));
    ++counts[std::min(buckets - 1, static_cast<std::size_t>(bucket))];
  }
  const std::size_t most =
      std::max<std::size_t>(1, *std::max_element(counts.begin(), counts.end()));
  page +=
      "<h2>From the call to the lease, in at most</h2>\n<svg class=\"histogram\" viewBox=\"0 0 760 "
      "170\" "
      "role=\"img\" aria-label=\"Histogram of acquire latencies\">\n";
  for (std::size_t i = 0; i < buckets; ++i) {
    const double height = 120.0 * static_cast<double>(counts[i]) / static_cast<double>(most);
    const auto x = static_cast<double>(i) * 54.0;
    fmt::format_to(Out(page),
                   "<rect class=\"bar\" x=\"{:.0f}\" y=\"{:.1f}\" width=\"48\" height=\"{:.1f}\" "
                   "rx=\"2\"/>\n",
                   x, 140 - height, height);
    if (counts[i] > 0) {
      fmt::format_to(Out(page), "<text class=\"tick\" x=\"{:.0f}\" y=\"{:.1f}\">{}</text>\n",
                     x + 24, 134 - height, counts[i]);
    }
    const std::string upto = i + 1 == buckets ? "more" : round_duration(first * std::exp2(i));
    fmt::format_to(Out(page), "<text class=\"tick\" x=\"{:.0f}\" y=\"158\">{}</text>\n", x + 24,
                   upto);
  }
  page += "</svg>\n";
}

template <typename Counts>
void counts_table(std::string& page, std::string_view title, const Counts& counts) {
  fmt::format_to(Out(page), "<div><h2>{}</h2><table>\n", title);
  for (const auto& [name, count] : counts) {
    fmt::format_to(Out(page), "<tr><td>{}</td><td class=\"n\">{}</td></tr>\n", escaped(name),
                   count);
  }
  if (counts.empty()) page += "<tr><td>none</td></tr>\n";
  page += "</table></div>\n";
}

void fault_list(std::string& page, const History& history) {
  page +=
      "<details><summary>Every fault</summary>\n<table><tr><th>from</th><th>to</th><th>kind</th>"
      "<th>what</th><th>node</th><th>contenders</th></tr>\n";
  std::vector<FaultRecord> faults = history.faults;
  std::stable_sort(faults.begin(), faults.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  for (const FaultRecord& fault : faults) {
    fmt::format_to(
        Out(page),
        "<tr><td class=\"n\">{:.3f} s</td><td class=\"n\">{:.3f} s</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td></tr>\n",
        static_cast<double>(fault.begin - history.begin) / 1e9,
        static_cast<double>(fault.end - history.begin) / 1e9, escaped(fault.kind),
        escaped(fault.what), fault.node < 0 ? "" : fmt::format("{}", fault.node),
        contenders_of(fault, history.contenders));
  }
  page += "</table></details>\n";
}

}  // namespace

std::string html_report(const History& history, const Judgement& judgement, Ending ending) {
  std::string page;
  head(page, history, judgement, ending);
  cards(page, history, judgement);
  violations(page, history, judgement);
  page += "<h2>Who held what, and what was broken</h2>\n";
  page += timeline(history, judgement);
  histogram(page, history);
  page += "<section class=\"columns\">\n";
  counts_table(page, "Locks", lock_counts(history));
  counts_table(page, "Faults", fault_counts(history));
  counts_table(page, "Not granted", failure_counts(history));
  page += "</section>\n";
  fault_list(page, history);
  fmt::format_to(
      Out(page),
      "<h2>Again</h2>\n<pre><code>{}</code></pre>\n<p class=\"small\">The same seed breaks "
      "the same things at the same times. The effect on the processes differs from run "
      "to run.</p>\n",
      escaped(repeat_command(history)));
  end_page(page);
  return page;
}

}  // namespace redlock::chaos
