#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/session/output.hpp"

namespace redlock::cli {

struct Column {
  std::string_view title;
  /// The least width of the column in a table that is too wide; 0: it does not shrink.
  std::size_t narrowest = 0;
};

struct Cell {
  std::string text{};  ///< printable
  Style::Colour colour = Style::Colour::plain;
};

/// A line of titles and one for each row, without line ends. The columns are as wide as their
/// contents; with `width` columns are narrowed and lines cut so that none is wider.
[[nodiscard]] std::vector<std::string> table_lines(const Style& style,
                                                   std::span<const Column> columns,
                                                   const std::vector<std::vector<Cell>>& rows,
                                                   std::optional<std::size_t> width = std::nullopt);

/// The lines as one text, each with a line end.
[[nodiscard]] std::string joined_lines(const std::vector<std::string>& lines);

}  // namespace redlock::cli
