#include "bench/page/bench_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "bench/page/bench_page_text.hpp"
#include "bench/page/bench_plots.hpp"
#include "common/text/page.hpp"

namespace redlock::cli {
namespace {

using PageOut = std::back_insert_iterator<std::string>;

/// One of the sides that the page compares.
struct Side {
  std::string name{};
  const std::vector<Figures>* runs = nullptr;
  std::size_t style = 0;
};

/// The sides of a row, ours first.
std::vector<Side> sides_of(const BenchRow& row) {
  std::vector<Side> sides{{"ours", &row.ours, 0}};
  if (!row.floor.empty()) sides.push_back({"floor", &row.floor, 1});
  std::size_t style = 2;
  for (const PeerSide& peer : row.peers) sides.push_back({peer.name, &peer.runs, style++});
  return sides;
}

/// Figures that are only in the table.
std::vector<Side> variants_of(const BenchRow& row) {
  std::vector<Side> variants;
  for (const auto& [name, runs] : {std::pair{"ours, plain", &row.plain},
                                   {"ours, guarded", &row.guarded},
                                   {"ours, fenced", &row.fenced},
                                   {"ours, plain commands", &row.plain_commands},
                                   {"ours, scripts", &row.scripts}}) {
    if (!runs->empty()) variants.push_back({name, runs, 0});
  }
  return variants;
}

std::string count_text(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

using Rows = std::vector<const BenchRow*>;

/// The values of each side over locks in flight; none: it has no curve.
template <typename ValueOf>
CurvePlot over_in_flight(const Rows& rows, std::string title, PlotUnit unit,
                         const ValueOf& value_of) {
  CurvePlot plot{std::move(title), {}, "locks in flight", unit};
  const auto place = [&rows](std::size_t i) {
    return rows.size() < 2 ? 0.5 : static_cast<double>(i) / static_cast<double>(rows.size() - 1);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    plot.ticks.push_back({place(i), fmt::format("{}", rows[i]->in_flight)});
    for (const Side& side : sides_of(*rows[i])) {
      const std::optional<double> value = value_of(*rows[i], side);
      if (!value) continue;
      auto curve = std::find_if(plot.curves.begin(), plot.curves.end(),
                                [&](const PlotCurve& one) { return one.name == side.name; });
      if (curve == plot.curves.end()) {
        plot.curves.push_back({side.name, side.style, {}});
        curve = std::prev(plot.curves.end());
      }
      curve->points.push_back({place(i), *value});
    }
  }
  return plot;
}

CurvePlot throughput_of(const Rows& rows) {
  return over_in_flight(rows, "Cycles per second", PlotUnit::per_second,
                        [](const BenchRow&, const Side& side) -> std::optional<double> {
                          return medians_of(*side.runs).cycles_per_s;
                        });
}

CurvePlot ratios_of(const Rows& rows) {
  return over_in_flight(rows, "Ours / theirs, cycles per second", PlotUnit::times,
                        [](const BenchRow& row, const Side& side) -> std::optional<double> {
                          if (side.runs == &row.ours) return std::nullopt;
                          return ratio_of(row.ours, *side.runs, &Figures::cycles_per_s).median;
                        });
}

/// The position of a percentile on its axis: rare values get as much room as common ones.
double position_of(double percent) {
  return -std::log10(1 - percent / 100) / -std::log10(1 - curve_percents.back() / 100);
}

CurvePlot latency_of(const BenchRow& row, std::string_view what, Curve Figures::*curve_us) {
  CurvePlot plot{std::string(what), fmt::format("{} in flight", row.in_flight), "percentile",
                 PlotUnit::microseconds, CurvePlot::Scale::logarithmic};
  for (const double percent : {50.0, 90.0, 99.0, 99.9}) {
    plot.ticks.push_back({position_of(percent), fmt::format("p{:g}", percent)});
  }
  for (const Side& side : sides_of(row)) {
    const Figures figures = medians_of(*side.runs);
    PlotCurve curve{side.name, side.style, {}};
    for (std::size_t i = 0; i < curve_percents.size(); ++i) {
      const double value = (figures.*curve_us)[i];
      if (value > 0) curve.points.push_back({position_of(curve_percents[i]), value});
    }
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

BarPlot time_of(const BenchRow& row) {
  BarPlot plot{"CPU time per cycle",
               fmt::format("{} in flight", row.in_flight),
               {"client, user", "client, kernel", "nodes"},
               {}};
  for (const Side& side : sides_of(row)) {
    const Figures figures = medians_of(*side.runs);
    plot.bars.push_back(
        {side.name,
         {std::max(0.0, figures.client_cpu_us_per_cycle - figures.client_kernel_us_per_cycle),
          figures.client_kernel_us_per_cycle, figures.node_cpu_us_per_cycle}});
  }
  return plot;
}

void add_legend(std::string& page, const BenchRow& row) {
  std::vector<LegendEntry> entries;
  for (const Side& side : sides_of(row)) {
    entries.push_back(
        {side.name == "ours" ? "ours (redlock)" : side.name, fmt::format("s{}", side.style)});
  }
  page += draw_legend(entries);
}

void add_plots(std::string& page, const Rows& rows) {
  fmt::format_to(PageOut(page), "<h2>{}</h2>\n", count_text(rows.front()->nodes, "node"));
  add_legend(page, *rows.front());
  page += "<div class=\"plots\">\n" + draw(throughput_of(rows));
  if (const CurvePlot ratios = ratios_of(rows); !ratios.curves.empty()) page += draw(ratios);
  page += "</div>\n<h3>Latency</h3>\n<div class=\"plots\">\n";
  for (const BenchRow* row : rows)
    page += draw(latency_of(*row, "Acquire", &Figures::acquire_curve_us));
  for (const BenchRow* row : rows)
    page += draw(latency_of(*row, "Cycle", &Figures::cycle_curve_us));
  page += "</div>\n<h3>Where the time goes</h3>\n";
  const bool nodes_known = std::any_of(rows.begin(), rows.end(), [](const BenchRow* row) {
    return medians_of(row->ours).node_cpu_us_per_cycle > 0;
  });
  std::vector<LegendEntry> parts{{"client, in user code", "p0"}, {"client, in the kernel", "p1"}};
  if (nodes_known) parts.push_back({"all nodes together", "p2"});
  page += draw_legend(parts);
  if (!nodes_known) {
    page +=
        "<p class=\"small\">What the nodes need is not known: this program has not started "
        "them.</p>\n";
  }
  page += "<div class=\"plots\">\n";
  for (const BenchRow* row : rows) page += draw(time_of(*row));
  page += "</div>\n";
}

/// The busiest row of those with the most nodes.
const BenchRow& row_of_cards(const std::vector<BenchRow>& rows) {
  const auto less = [](const BenchRow& a, const BenchRow& b) {
    if (a.nodes != b.nodes) return a.nodes < b.nodes;
    return medians_of(a.ours).cycles_per_s < medians_of(b.ours).cycles_per_s;
  };
  return *std::max_element(rows.begin(), rows.end(), less);
}

void add_cards(std::string& page, const std::vector<BenchRow>& rows) {
  const BenchRow& row = row_of_cards(rows);
  const Figures figures = medians_of(row.ours);
  fmt::format_to(PageOut(page), "<h2>At a glance: {}, {} in flight</h2>\n",
                 count_text(row.nodes, "node"), count_text(row.in_flight, "lock"));
  page += "<section class=\"cards\">\n";
  add_card(page, grouped(figures.cycles_per_s), "cycles per second");
  if (!row.floor.empty()) {
    add_card(page, fmt::format("{:.2f}", ratio_of(row, &Figures::cycles_per_s).median),
             "of the floor's");
  }
  for (const PeerSide& peer : row.peers) {
    add_card(page,
             fmt::format("{:.1f} ×", ratio_of(row.ours, peer.runs, &Figures::cycles_per_s).median),
             escaped("those of " + peer.name));
  }
  add_card(page, microseconds_text(figures.acquire_p50_us), "to acquire, p50");
  add_card(page, microseconds_text(figures.acquire_p99_us), "to acquire, p99");
  add_card(page, microseconds_text(figures.client_cpu_us_per_cycle), "client CPU per cycle");
  page += "</section>\n";
}

void add_table_row(std::string& page, const BenchRow& row, const Side& side, bool first) {
  const Figures figures = medians_of(*side.runs);
  fmt::format_to(PageOut(page), R"(<tr{}><td class="n">{}</td><td class="n">{}</td>)",
                 first ? " class=\"first\"" : "", row.nodes, row.in_flight);
  fmt::format_to(PageOut(page), "<td class=\"side\">{}</td>", escaped(side.name));
  const auto cell = [&page](std::string_view text) {
    fmt::format_to(PageOut(page), "<td class=\"n\">{}</td>", text);
  };
  cell(grouped(figures.cycles_per_s));
  cell(side.runs == &row.ours
           ? std::string()
           : spread_text(ratio_of(row.ours, *side.runs, &Figures::cycles_per_s)));
  for (const auto figure :
       {&Figures::acquire_p50_us, &Figures::acquire_p90_us, &Figures::acquire_p99_us,
        &Figures::acquire_p999_us, &Figures::cycle_p50_us, &Figures::cycle_p90_us,
        &Figures::cycle_p99_us, &Figures::cycle_p999_us, &Figures::client_cpu_us_per_cycle}) {
    cell(microseconds_text(figures.*figure));
  }
  cell(figures.node_cpu_us_per_cycle > 0 ? microseconds_text(figures.node_cpu_us_per_cycle) : "");
  cell(fmt::format("{}", figures.failures));
  page += "</tr>\n";
}

void add_table(std::string& page, const std::vector<BenchRow>& rows) {
  page += "<h2>All figures</h2>\n<div class=\"scroll\" tabindex=\"0\"><table>\n<tr>";
  for (const char* name : {"nodes", "in flight"}) {
    fmt::format_to(PageOut(page), "<th class=\"n\">{}</th>", name);
  }
  page += "<th></th>";
  for (const char* name :
       {"cycles/s", "ours / this", "acquire p50", "p90", "p99", "p99.9", "cycle p50", "p90", "p99",
        "p99.9", "client CPU", "nodes' CPU", "failures"}) {
    fmt::format_to(PageOut(page), "<th class=\"n\">{}</th>", name);
  }
  page += "</tr>\n";
  for (const BenchRow& row : rows) {
    bool first = true;
    for (const auto& sides : {sides_of(row), variants_of(row)}) {
      for (const Side& side : sides) {
        add_table_row(page, row, side, first);
        first = false;
      }
    }
  }
  page += "</table></div>\n";
}

void add_facts(std::string& page, const BenchFacts& facts) {
  page += "<h2>How it was measured</h2>\n<div class=\"scroll\"><table>\n";
  for (const auto& [name, text] : facts.about) {
    fmt::format_to(PageOut(page), "<tr><td>{}</td><td>{}</td></tr>\n", escaped(name),
                   escaped(text));
  }
  page += "</table></div>\n";
  for (const std::string& sentence : facts.left_out) {
    fmt::format_to(PageOut(page), "<p class=\"small\">{}</p>\n", escaped(sentence));
  }
  fmt::format_to(PageOut(page), "<h2>Again</h2>\n<pre><code>{}</code></pre>\n",
                 escaped(facts.command));
}

}  // namespace

std::string bench_page(const BenchFacts& facts, const std::vector<BenchRow>& rows) {
  std::string page;
  begin_page(page, "quorum-lock bench", std::string(plot_style) + std::string(bench_style));
  page +=
      "<header><h1>quorum-lock bench</h1></header>\n<p class=\"lead\">How quickly locks are "
      "acquired and released again over a quorum of Redis nodes, and what else does the same "
      "on the same nodes, in turn.</p>\n";
  if (rows.empty()) {
    page += "<p>Nothing was measured.</p>\n";
  } else {
    add_cards(page, rows);
    for (auto begin = rows.begin(); begin != rows.end();) {
      const auto end = std::find_if(
          begin, rows.end(), [begin](const BenchRow& row) { return row.nodes != begin->nodes; });
      Rows of_count;
      for (; begin != end; ++begin) of_count.push_back(&*begin);
      add_plots(page, of_count);
    }
    add_table(page, rows);
  }
  add_facts(page, facts);
  page += bench_explanation;
  end_page(page);
  return page;
}

}  // namespace redlock::cli
