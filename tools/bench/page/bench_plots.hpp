#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace redlock::cli {

/// The styles of the plots: `s0` to `s5` for the sides of a comparison, `p0` to `p2` for the parts
/// of a bar.
inline constexpr std::string_view plot_style = R"css(
:root { --s0: #2563c9; --s1: #6b7280; --s2: #c26a00; --s3: #a8327e; --s4: #22855c; --s5: #7b5cc8;
  --p0: #2563c9; --p1: #86a9e6; --p2: #c9a227; }
@media (prefers-color-scheme: dark) { :root { --s0: #79a7ff; --s1: #9aa3b2; --s2: #f0a04b;
  --s3: #e57cc0; --s4: #4cc493; --s5: #b39bf0; --p0: #79a7ff; --p1: #3f64a8; --p2: #d9b84a; } }
.plots { display: grid; gap: 0.8rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 330px), 1fr)); }
.plots figure { margin: 0; background: var(--sheet); border: 1px solid var(--line);
  border-radius: 8px; padding: 0.6rem 0.7rem 0.4rem; }
.plots figcaption { font-size: 0.9rem; font-weight: 600; }
.plots figcaption span { color: var(--pale); font-weight: 400; }
.plots svg { width: 100%; height: auto; }
svg text.y { fill: var(--pale); text-anchor: end; font-variant-numeric: tabular-nums; }
svg text.axis { fill: var(--pale); text-anchor: middle; }
svg text.value { font-variant-numeric: tabular-nums; }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; } .curve.s1 { stroke-dasharray: 5 3; }
.s0 { stroke: var(--s0); } .s1 { stroke: var(--s1); } .s2 { stroke: var(--s2); }
.s3 { stroke: var(--s3); } .s4 { stroke: var(--s4); } .s5 { stroke: var(--s5); }
.dot { fill: var(--sheet); stroke-width: 2; }
.dot.s0 { fill: var(--s0); } .dot.s1 { fill: var(--s1); } .dot.s2 { fill: var(--s2); }
.dot.s3 { fill: var(--s3); } .dot.s4 { fill: var(--s4); } .dot.s5 { fill: var(--s5); }
.p0 { fill: var(--p0); } .p1 { fill: var(--p1); } .p2 { fill: var(--p2); }
.minor { stroke: var(--line); stroke-opacity: 0.5; }
)css";

/// A place on an axis.
struct PlotTick {
  double at = 0;  ///< the position, from 0 at the beginning of the axis to 1
  std::string label{};
};

struct PlotPoint {
  double at = 0;  ///< as PlotTick::at
  double value = 0;
};

struct PlotCurve {
  std::string name{};
  std::size_t style = 0;
  std::vector<PlotPoint> points{};
};

enum class PlotUnit { per_second, microseconds, times };

/// Curves over one axis.
struct CurvePlot {
  std::string title{};
  std::string note{};  ///< after the title, paler
  std::string axis{};  ///< the name of the axis, below it
  PlotUnit unit = PlotUnit::per_second;
  enum class Scale { linear, logarithmic } scale = Scale::linear;
  std::vector<PlotTick> ticks{};
  std::vector<PlotCurve> curves{};
};

struct PlotBar {
  std::string name{};
  std::vector<double> parts{};  ///< in microseconds, one after the other
};

/// Bars that lie below each other, on one scale.
struct BarPlot {
  std::string title{};
  std::string note{};
  std::vector<std::string> parts{};  ///< the names of the parts
  std::vector<PlotBar> bars{};
};

/// Draws the plot as a `<figure>` that contains an SVG.
[[nodiscard]] std::string draw(const CurvePlot& plot);
[[nodiscard]] std::string draw(const BarPlot& plot);

struct LegendEntry {
  std::string name{};
  std::string style{};  ///< the class: "s0", "p1"
};
[[nodiscard]] std::string draw_legend(const std::vector<LegendEntry>& entries);

/// The time in three digits, for people: "12.3 µs", "4.56 ms".
[[nodiscard]] std::string microseconds_text(double microseconds);
/// "1,234,567".
[[nodiscard]] std::string grouped(double number);

}  // namespace redlock::cli
