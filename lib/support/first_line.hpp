#pragma once

#include <string>

namespace redlock::support {

/// The first line of a file without its end, or why there is none: "cannot be read: …".
struct FirstLine {
  std::string text{};
  std::string problem{};
};
[[nodiscard]] FirstLine first_line_of(const std::string& path);

}  // namespace redlock::support
