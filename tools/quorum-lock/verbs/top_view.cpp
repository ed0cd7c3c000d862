#include "quorum-lock/verbs/top_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "common/session/table.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"
#include "quorum-lock/locks/lock_table.hpp"
#include "quorum-lock/verbs/deployment_check.hpp"

namespace redlock::cli {
namespace {

using Colour = Style::Colour;

constexpr std::array<Column, 6> node_columns{
    {{"NODE", 16}, {"STATE", 12}, {"RTT"}, {"SERVER", 8}, {"MEMORY"}, {"QUARANTINE"}}};

/// Lines that are always shown: a head, an empty line between the tables, a foot.
constexpr std::size_t frame_lines = 3;

std::string quarantine_text(std::chrono::nanoseconds quarantine) {
  if (quarantine == forever) return "without end";
  return quarantine.count() > 0 ? format_duration(quarantine) : "-";
}

std::string memory_of(const admin::NodeCheck& node) {
  if (!node.used_memory) return "-";
  const std::uint64_t most = node.max_memory.value_or(0);
  return memory_text(*node.used_memory) + (most > 0 ? " of " + memory_text(most) : "");
}

std::vector<Cell> node_row(const admin::NodeCheck& node) {
  admin::NodeCheck rest = node;
  rest.quarantine = {};
  const std::string server = server_text(node);
  std::string state = state_of(rest);
  if (node.reign && !node.reign->seen.empty() && !node.reign->seen.front().address.empty()) {
    state += ", primary " + node.reign->seen.front().address;
  }
  return {{as_printable(node.url)},
          {as_printable(state), node.reachable ? Colour::plain : Colour::bad},
          {node.round_trip.count() > 0 ? format_duration(node.round_trip) : "-"},
          {server.empty() ? "-" : as_printable(server)},
          {memory_of(node)},
          {quarantine_text(node.quarantine),
           node.quarantine.count() > 0 ? Colour::warning : Colour::plain}};
}

std::vector<std::string> node_lines(const Style& style, const admin::DeploymentCheck& check,
                                    std::size_t width) {
  std::vector<std::vector<Cell>> rows;
  for (const admin::NodeCheck& node : check.nodes) rows.push_back(node_row(node));
  return table_lines(style, node_columns, rows, width);
}

std::string head_of(const admin::LockList& list) {
  return fmt::format("quorum-lock top  {} of {} answer{}, quorum {}  {}", list.answered,
                     counted(list.nodes.size(), "node"),
                     list.answered == 1 || list.nodes.size() == 1 ? "s" : "", list.quorum,
                     lock_summary(list));
}

std::string cut(const Style& style, Colour colour, std::string_view text, std::size_t width) {
  return style.paint(colour, shortened(text, width));
}

void append_lines(std::vector<std::string>& lines, std::vector<std::string> more) {
  std::move(more.begin(), more.end(), std::back_inserter(lines));
}

}  // namespace

std::string memory_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> units{"KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::string_view unit = "B";
  for (const std::string_view larger : units) {
    if (amount < 1024) break;
    amount /= 1024;
    unit = larger;
  }
  return unit == "B" ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", amount, unit);
}

std::vector<std::string> fitting_lines(std::vector<std::string> lines, std::size_t width,
                                       std::size_t height) {
  if (lines.size() <= height) return lines;
  if (height == 0) return {};
  const std::size_t hidden = lines.size() - (height - 1);
  lines.resize(height - 1);
  lines.push_back(shortened(fmt::format("… {} more", hidden), width));
  return lines;
}

std::vector<std::string> top_lines(const Style& style, const TopFacts& facts, std::size_t width,
                                   std::size_t height) {
  const bool short_of_nodes = facts.list.answered < facts.list.quorum;
  std::vector<std::string> lines{
      cut(style, short_of_nodes ? Colour::bad : Colour::plain, head_of(facts.list), width)};
  // The nodes and the warnings take at most half of the room for tables: `top` is for the locks.
  const std::size_t room = height > frame_lines ? height - frame_lines : 0;
  append_lines(lines, fitting_lines(node_lines(style, facts.check, width), width, (room + 1) / 2));
  std::vector<std::string> warnings;
  for (const std::string& warning : facts.warnings) {
    warnings.push_back(cut(style, Colour::warning, as_printable(warning), width));
  }
  append_lines(lines, fitting_lines(std::move(warnings), width, room / 4));
  lines.emplace_back();
  const std::size_t used = lines.size() + 1;
  append_lines(lines, fitting_lines(lock_lines(style, facts.list, width), width,
                                    height - std::min(height, used)));
  lines.push_back(cut(style, Colour::faint, "q quits", width));
  if (lines.size() > height) lines.resize(height);
  return lines;
}

}  // namespace redlock::cli
