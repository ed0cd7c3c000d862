#include "common/session/table.hpp"

#include <algorithm>
#include <numeric>

#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

constexpr std::size_t gap = 2;

std::size_t sum_of(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
}

/// Takes from the widest of the columns that may become narrower, one at a time.
void narrow(std::vector<std::size_t>& widths, std::span<const Column> columns, std::size_t width) {
  while (sum_of(widths) > width) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool can = columns[i].narrowest > 0 && widths[i] > columns[i].narrowest;
      if (can && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

std::string line_of(const Style& style, const std::vector<Cell>& row,
                    const std::vector<std::size_t>& widths, std::size_t room) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string text = shortened(row[i].text, std::min(widths[i], room));
    line += style.paint(row[i].colour, text);
    room -= width_of(text);
    if (i + 1 == row.size()) break;
    const std::size_t padding = std::min(widths[i] + gap - width_of(text), room);
    line.append(padding, ' ');
    room -= padding;
  }
  return line;
}

}  // namespace

std::vector<std::string> table_lines(const Style& style, std::span<const Column> columns,
                                     const std::vector<std::vector<Cell>>& rows,
                                     std::optional<std::size_t> width) {
  std::vector<Cell> titles;
  std::vector<std::size_t> widths;
  for (const Column& column : columns) {
    titles.push_back({std::string(column.title), Style::Colour::faint});
    widths.push_back(width_of(column.title));
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i].text));
    }
  }
  if (width) narrow(widths, columns, *width);
  const std::size_t room = width.value_or(SIZE_MAX);
  std::vector<std::string> lines{line_of(style, titles, widths, room)};
  for (const auto& row : rows) lines.push_back(line_of(style, row, widths, room));
  return lines;
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

}  // namespace redlock::cli
