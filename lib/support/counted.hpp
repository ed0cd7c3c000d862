#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::support {

/// "1 node", "3 nodes".
[[nodiscard]] inline std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace redlock::support
