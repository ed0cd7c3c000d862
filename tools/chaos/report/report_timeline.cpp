#include "chaos/report/report_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "chaos/schedule.hpp"
#include "common/text/page.hpp"

namespace redlock::chaos {
namespace {

using cli::escaped;
using Out = std::back_insert_iterator<std::string>;

constexpr double lane_height = 24;
constexpr double lane_step = 30;
constexpr double group_gap = 22;
constexpr double top = 26;
constexpr double label_width = 104;
constexpr std::size_t colours = 8;
/// The width of the drawing of the whole run, in pixels: the room on the page in a wide window.
constexpr double whole_width = 1296;
/// The width of a second in the closer drawing, in pixels, and the largest width that browsers draw
/// well.
constexpr double closer_scale = 90;
constexpr double widest = 24'000;
/// Stripes distinguish the colour of a fault from that of a contender.
constexpr std::string_view stripes =
    "<defs><pattern id=\"stripes\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><line class=\"stripe\" x1=\"0\" y1=\"0\" x2=\"0\" "
    "y2=\"6\"/></pattern></defs>\n";

double seconds_of(const History& history) {
  BootTime last = history.finished.value_or(history.begin + history.duration);
  for (const LeaseRecord& lease : history.leases) last = std::max(last, lease.end());
  return static_cast<double>(last - history.begin) / 1e9 + 0.1;
}

std::string terms_of(const LeaseRecord& lease) {
  if (!lease.group.empty()) return "among " + lease.group;
  return lease.token == 0 ? "no token" : fmt::format("token {}", lease.token);
}

class Timeline {
 public:
  /// `scale`: pixels of a second.
  Timeline(const History& history, const Judgement& judgement, double seconds, double scale)
      : history_(history), judgement_(judgement), seconds_(seconds), scale_(scale) {}

  /// `definitions`: in the first drawing of the page, for all.
  std::string draw(std::string_view definitions) {
    group("LOCKS");
    for (const std::string& resource : lanes()) {
      lane(resource);
      leases_of(resource, y_);
      next_lane();
    }
    y_ += group_gap - (lane_step - lane_height);
    group("NODES");
    for (std::size_t node = 0; node < history_.nodes; ++node) {
      lane(fmt::format("node {}", node));
      for (const FaultRecord& fault : history_.faults) {
        if (fault.node == static_cast<int>(node)) draw_fault(fault);
      }
      next_lane();
    }
    lane("machine");
    for (const FaultRecord& fault : history_.faults) {
      if (fault.node < 0 && fault.contenders == 0) draw_fault(fault);
    }
    next_lane();
    y_ += group_gap - (lane_step - lane_height);
    group("CONTENDERS");
    for (std::size_t slot = 0; slot < history_.contenders; ++slot) {
      lane(fmt::format("contender {}", slot));
      fmt::format_to(Out(labels_),
                     "<rect class=\"c{}\" x=\"86\" y=\"{}\" width=\"10\" height=\"10\" "
                     "rx=\"2\"/>\n",
                     slot % colours, y_ + 7);
      for (const FaultRecord& fault : history_.faults) {
        if (fault.node < 0 && (fault.contenders >> slot & 1U) != 0) draw_fault(fault);
      }
      next_lane();
    }
    return assemble(definitions);
  }

 private:
  /// Each permit that a contender held has a lane of its own.
  [[nodiscard]] std::set<std::string> lanes() const {
    std::set<std::string> all(history_.resources.begin(), history_.resources.end());
    for (const LeaseRecord& lease : history_.leases) {
      if (permit_of(lease.resource)) all.insert(lease.resource);
    }
    return all;
  }

  void group(std::string_view name) {
    fmt::format_to(Out(labels_), "<text class=\"group\" x=\"10\" y=\"{}\">{}</text>\n", y_ - 7,
                   name);
  }

  void lane(std::string_view name) {
    fmt::format_to(Out(labels_), "<text x=\"10\" y=\"{}\">{}</text>\n", y_ + 16, escaped(name));
    fmt::format_to(Out(lanes_),
                   "<rect class=\"lane\" x=\"0\" y=\"{}\" width=\"{:.1f}\" "
                   "height=\"{}\"/>\n",
                   y_, width_, lane_height);
  }
  void next_lane() { y_ += lane_step; }

  [[nodiscard]] double x(BootTime at) const {
    return static_cast<double>(at - history_.begin) / 1e9 * scale_;
  }

  void leases_of(const std::string& resource, double y) {
    for (const LeaseRecord& lease : history_.leases) {
      const bool is_on =
          lease.resource == resource ||
          std::find(lease.also.begin(), lease.also.end(), resource) != lease.also.end();
      if (!is_on || lease.end() <= lease.granted) continue;
      const double from = x(lease.granted);
      fmt::format_to(
          Out(marks_),
          "<rect class=\"c{}{}\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" rx=\"1.5\">"
          "<title>{}: contender {}, {:.3f} s to {:.3f} s, {}, {}</title></rect>\n",
          lease.contender % colours, lease.group.empty() ? "" : " shared", from, y + 2,
          std::max(1.2, x(lease.end()) - from), lane_height - 4, escaped(lease.name),
          lease.contender, static_cast<double>(lease.granted - history_.begin) / 1e9,
          static_cast<double>(lease.end() - history_.begin) / 1e9, escaped(terms_of(lease)),
          lease.lost    ? "lost"
          : lease.ended ? "released"
                        : "ran out");
    }
    for (const Violation& violation : judgement_.violations) {
      if (violation.resource != resource || violation.at == 0) continue;
      const double at = x(violation.at);
      fmt::format_to(
          Out(marks_),
          "<g><title>{}: {}</title><line class=\"violation\" x1=\"{:.2f}\" y1=\"{}\" "
          "x2=\"{:.2f}\" y2=\"{}\"/><path class=\"violation-mark\" d=\"M{:.2f} {} l-5 -8 "
          "h10 z\"/></g>\n",
          violation.kind, escaped(violation.what), at, y - 2, at, y + lane_height + 2, at, y + 2);
    }
  }

  /// A fault of a node itself fills the node's lane; a fault of its links is a thinner bar at the
  /// bottom.
  void draw_fault(const FaultRecord& fault) {
    const bool link = fault.node >= 0 && fault.contenders != 0;
    const double from = x(fault.begin);
    const double wide = std::max(3.0, x(fault.end) - from);
    const double high = link ? lane_height / 2 - 3 : lane_height - 4;
    const double y = link ? y_ + lane_height / 2 + 1 : y_ + 2;
    const std::string met = contenders_of(fault, history_.contenders);
    fmt::format_to(Out(marks_),
                   "<rect class=\"{}{}\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" "
                   "rx=\"2\"/><rect fill=\"url(#stripes)\" x=\"{:.2f}\" y=\"{}\" "
                   "width=\"{:.2f}\" height=\"{}\" rx=\"2\">"
                   "<title>{}: {}{}{}, {:.3f} s to {:.3f} s</title></rect>\n",
                   escaped(fault.kind), link ? " link" : "", from, y, wide, high, from, y, wide,
                   high, escaped(fault.kind), escaped(fault.what), link ? ", contenders " : "",
                   link ? met : "", static_cast<double>(fault.begin - history_.begin) / 1e9,
                   static_cast<double>(fault.end - history_.begin) / 1e9);
    if (!link && wide > 8 + 6.4 * static_cast<double>(fault.what.size())) {
      fmt::format_to(Out(words_), "<text class=\"in\" x=\"{:.2f}\" y=\"{}\">{}</text>\n", from + 4,
                     y_ + 15.5, escaped(fault.what));
    }
  }

  [[nodiscard]] std::string assemble(std::string_view definitions) const {
    const double height = y_ + 4;
    std::string page = R"(<div class="timeline"><div class="labels">)";
    fmt::format_to(Out(page),
                   "<svg width=\"{}\" height=\"{}\">\n{}</svg></div><div class=\"scroll\">",
                   label_width, height, labels_);
    fmt::format_to(Out(page),
                   "<svg width=\"{:.0f}\" height=\"{}\" role=\"img\" aria-label=\"Timeline "
                   "of leases and faults\">\n{}{}",
                   width_, height, definitions, lanes_);
    constexpr int steps[] = {1, 5, 10, 30, 60, 300, 600, 3600};
    const int step = *std::find_if(std::begin(steps), std::end(steps) - 1,
                                   [this](int each) { return each * scale_ >= 40; });
    for (int second = 0; second <= static_cast<int>(seconds_); second += step) {
      const double at = second * scale_;
      fmt::format_to(Out(page),
                     "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/>"
                     "<text class=\"tick\" x=\"{3:.1f}\" y=\"11\">{4} s</text>\n",
                     at, top - 10, height, std::max(at, 10.0), second);
    }
    if (history_.healed) {
      const double at = x(*history_.healed);
      const bool has_room = width_ - at > 50;
      fmt::format_to(Out(page),
                     "<rect class=\"healed\" x=\"{0:.1f}\" y=\"{1}\" width=\"{2:.1f}\" "
                     "height=\"{3}\"/><line class=\"healed-line\" "
                     "x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{4}\"/><text x=\"{5:.1f}\" "
                     "y=\"{6}\" text-anchor=\"{7}\">healed</text>\n",
                     at, top - 10, std::max(0.0, width_ - at), height - top + 10, height,
                     has_room ? at + 4 : at - 4, top - 1, has_room ? "start" : "end");
    }
    page += marks_;
    page += words_;
    return page + "</svg></div></div>\n";
  }

  const History& history_;
  const Judgement& judgement_;
  double seconds_;
  double scale_;
  double width_ = seconds_ * scale_;
  double y_ = top + 14;
  std::string labels_{};
  std::string lanes_{};
  std::string marks_{};
  std::string words_{};  ///< over the marks
};

std::string legend() {
  std::string page = "<p class=\"legend\">";
  for (const FaultKind kind : all_fault_kinds) {
    fmt::format_to(
        Out(page),
        "<span><svg width=\"12\" height=\"12\"><rect class=\"{0}\" width=\"12\" "
        "height=\"12\" rx=\"2\"/><rect fill=\"url(#stripes)\" width=\"12\" height=\"12\" "
        "rx=\"2\"/></svg>{0}</span>",
        to_string(kind));
  }
  return page +
         "<span>Faults are striped. Thin bars: the links between a node and some contenders. "
         "Leases have the "
         "colour of their contender, a paler one if others may hold it too; rest the pointer "
         "on anything to read more.</span></p>\n";
}

}  // namespace

std::string contenders_of(const FaultRecord& fault, std::size_t contenders) {
  const std::uint64_t everybody = (std::uint64_t{1} << contenders) - 1;
  if (fault.contenders == everybody && contenders > 1) return "all";
  std::string text;
  for (std::size_t slot = 0; slot < contenders; ++slot) {
    if ((fault.contenders >> slot & 1U) == 0) continue;
    fmt::format_to(Out(text), "{}{}", text.empty() ? "" : ", ", slot);
  }
  return text;
}

std::string timeline(const History& history, const Judgement& judgement) {
  const double seconds = seconds_of(history);
  const double whole = whole_width / seconds;
  const double closer = std::min(closer_scale, widest / seconds);
  std::string page = Timeline(history, judgement, seconds, whole).draw(stripes);
  if (closer > whole) {
    page += "<details><summary>Second by second</summary>\n" +
            Timeline(history, judgement, seconds, closer).draw({}) + "</details>\n";
  }
  return page + legend();
}

}  // namespace redlock::chaos
