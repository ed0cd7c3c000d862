#include "bench/page/bench_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "common/text/page.hpp"

namespace redlock::cli {
namespace {

using SvgOut = std::back_insert_iterator<std::string>;

constexpr double plot_width = 380;
constexpr double curve_height = 235;
constexpr double curve_left = 50;
constexpr double curve_right = 14;
constexpr double curve_top = 12;
constexpr double curve_bottom = 42;
constexpr double bar_step = 24;
constexpr double bar_left = 104;
constexpr double bar_right = 62;

void begin_figure(std::string& out, std::string_view title, std::string_view note, double height) {
  fmt::format_to(SvgOut(out),
                 "<figure><figcaption>{} <span>{}</span></figcaption>\n<svg viewBox=\"0 0 {} {}\" "
                 "role=\"img\" aria-label=\"{} {}\">\n",
                 escaped(title), escaped(note), plot_width, height, escaped(title), escaped(note));
}
void end_figure(std::string& out) { out += "</svg></figure>\n"; }

/// 1, 2 or 5 times a power of ten.
double step_for(double most) {
  const double rough = most / 4;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
}

std::string tick_text(PlotUnit unit, double value) {
  if (unit == PlotUnit::microseconds) {
    if (value < 1e3) return fmt::format("{:g} µs", value);
    if (value < 1e6) return fmt::format("{:g} ms", value / 1e3);
    return fmt::format("{:g} s", value / 1e6);
  }
  if (unit == PlotUnit::times) return fmt::format("{:g} ×", value);
  return value < 1e3 ? fmt::format("{:g}", value) : fmt::format("{:g}k", value / 1e3);
}

std::string value_text(PlotUnit unit, double value) {
  if (unit == PlotUnit::microseconds) return microseconds_text(value);
  if (unit == PlotUnit::times) return fmt::format("{:.2f} ×", value);
  return fmt::format("{}/s", grouped(value));
}

class CurveDrawing {
 public:
  explicit CurveDrawing(const CurvePlot& plot) : plot_(plot) {
    for (const PlotCurve& curve : plot.curves) {
      for (const PlotPoint& point : curve.points) {
        most_ = std::max(most_, point.value);
        if (point.value > 0) least_ = least_ == 0 ? point.value : std::min(least_, point.value);
      }
    }
    if (logarithmic()) {
      low_ = std::floor(std::log10(std::max(least_, 1e-3)));
      high_ = std::max(low_ + 1, std::ceil(std::log10(std::max(most_, 1e-3))));
    } else {
      step_ = step_for(std::max(most_, 1e-3));
      high_ = step_ * std::ceil(std::max(most_, 1e-3) / step_ * 1.02);
    }
  }

  std::string draw() {
    begin_figure(out_, plot_.title, plot_.note, curve_height);
    draw_values();
    for (const PlotTick& tick : plot_.ticks) {
      fmt::format_to(SvgOut(out_), "<text class=\"tick\" x=\"{:.1f}\" y=\"{}\">{}</text>\n",
                     x(tick.at), curve_height - curve_bottom + 16, escaped(tick.label));
    }
    fmt::format_to(SvgOut(out_), "<text class=\"axis\" x=\"{:.1f}\" y=\"{}\">{}</text>\n", x(0.5),
                   curve_height - 8, escaped(plot_.axis));
    // In reverse order, so that our curve, the first one, is on top of the others.
    std::for_each(plot_.curves.rbegin(), plot_.curves.rend(),
                  [this](const PlotCurve& curve) { draw_curve(curve); });
    end_figure(out_);
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool logarithmic() const { return plot_.scale == CurvePlot::Scale::logarithmic; }
  [[nodiscard]] static double x(double at) {
    return curve_left + 8 + at * (plot_width - curve_left - curve_right - 16);
  }
  [[nodiscard]] double y(double value) const {
    const double place =
        logarithmic() ? (std::log10(std::max(value, std::pow(10, low_))) - low_) / (high_ - low_)
                      : value / high_;
    return curve_height - curve_bottom - place * (curve_height - curve_bottom - curve_top);
  }

  void draw_line(double value, std::string_view style) {
    fmt::format_to(SvgOut(out_),
                   "<line class=\"{}\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/>\n", style,
                   curve_left, y(value), plot_width - curve_right, y(value));
  }
  void draw_value(double value) {
    draw_line(value, "grid");
    fmt::format_to(SvgOut(out_), "<text class=\"y\" x=\"{}\" y=\"{:.1f}\">{}</text>\n",
                   curve_left - 6, y(value) + 4, tick_text(plot_.unit, value));
  }
  void draw_values() {
    if (!logarithmic()) {
      for (int i = 0; i * step_ <= high_ * 1.001; ++i) draw_value(i * step_);
      return;
    }
    const auto last = static_cast<int>(high_);
    for (auto power = static_cast<int>(low_); power <= last; ++power) {
      draw_value(std::pow(10, power));
      if (power == last) break;
      for (const double factor : {2.0, 5.0}) draw_line(factor * std::pow(10, power), "minor");
    }
  }

  void draw_curve(const PlotCurve& curve) {
    if (curve.points.empty()) return;
    fmt::format_to(SvgOut(out_), R"(<polyline class="curve s{}" points=")", curve.style);
    for (const PlotPoint& point : curve.points) {
      fmt::format_to(SvgOut(out_), "{:.1f},{:.1f} ", x(point.at), y(point.value));
    }
    out_ += "\"/>\n";
    for (const PlotPoint& point : curve.points) {
      const auto named = std::find_if(plot_.ticks.begin(), plot_.ticks.end(),
                                      [&](const PlotTick& tick) { return tick.at == point.at; });
      if (named == plot_.ticks.end()) continue;
      fmt::format_to(SvgOut(out_),
                     "<circle class=\"dot s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"><title>{}, "
                     "{}: {}</title></circle>\n",
                     curve.style, x(point.at), y(point.value), escaped(curve.name),
                     escaped(named->label), value_text(plot_.unit, point.value));
    }
  }

  const CurvePlot& plot_;
  double least_ = 0;
  double most_ = 0;
  double low_ = 0;   ///< the exponent of the lowest value of a logarithmic scale
  double high_ = 0;  ///< the highest value; of a logarithmic scale, its exponent
  double step_ = 0;
  std::string out_{};
};

double sum_of(const PlotBar& bar) {
  return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0);
}

}  // namespace

std::string microseconds_text(double microseconds) {
  const auto digits = [](double value) { return value < 9.995 ? 2 : value < 99.95 ? 1 : 0; };
  if (microseconds < 999.5) return fmt::format("{:.{}f} µs", microseconds, digits(microseconds));
  if (microseconds < 999.5e3) {
    return fmt::format("{:.{}f} ms", microseconds / 1e3, digits(microseconds / 1e3));
  }
  return fmt::format("{:.{}f} s", microseconds / 1e6, digits(microseconds / 1e6));
}

std::string grouped(double number) {
  const std::string digits = fmt::format("{:.0f}", number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string draw(const CurvePlot& plot) { return CurveDrawing(plot).draw(); }

std::string draw(const BarPlot& plot) {
  std::string out;
  begin_figure(out, plot.title, plot.note, bar_step * static_cast<double>(plot.bars.size()) + 10);
  double most = 1e-9;
  for (const PlotBar& bar : plot.bars) most = std::max(most, sum_of(bar));
  double y = 4;
  for (const PlotBar& bar : plot.bars) {
    fmt::format_to(SvgOut(out), "<text x=\"0\" y=\"{}\">{}</text>\n", y + 15, escaped(bar.name));
    double x = bar_left;
    for (std::size_t i = 0; i < bar.parts.size(); ++i) {
      const double width = bar.parts[i] / most * (plot_width - bar_left - bar_right);
      fmt::format_to(SvgOut(out),
                     "<rect class=\"p{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"16\">"
                     "<title>{}, {}: {}</title></rect>\n",
                     i, x, y + 3, width, escaped(bar.name), escaped(plot.parts.at(i)),
                     microseconds_text(bar.parts[i]));
      x += width;
    }
    fmt::format_to(SvgOut(out), "<text class=\"value\" x=\"{:.1f}\" y=\"{}\">{}</text>\n", x + 6,
                   y + 15, microseconds_text(sum_of(bar)));
    y += bar_step;
  }
  end_figure(out);
  return out;
}

std::string draw_legend(const std::vector<LegendEntry>& entries) {
  std::string out = "<p class=\"legend\">";
  for (const LegendEntry& entry : entries) {
    const bool is_part = entry.style.starts_with('p');
    fmt::format_to(
        SvgOut(out),
        "<span><svg width=\"22\" height=\"12\" aria-hidden=\"true\">{}</svg>{}</span>\n",
        is_part ? fmt::format(R"(<rect class="{}" width="22" height="12" rx="2"/>)", entry.style)
                : fmt::format("<line class=\"curve {0}\" x1=\"0\" y1=\"6\" x2=\"22\" y2=\"6\"/>"
                              "<circle class=\"dot {0}\" cx=\"11\" cy=\"6\" r=\"2.6\"/>",
                              entry.style),
        escaped(entry.name));
  }
  return out + "</p>\n";
}

}  // namespace redlock::cli
