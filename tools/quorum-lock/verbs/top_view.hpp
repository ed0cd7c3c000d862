#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/session/output.hpp"
#include "redlock/deployment.hpp"
#include "redlock/listing.hpp"

namespace redlock::cli {

/// The content of `top`.
struct TopFacts {
  admin::DeploymentCheck check{};
  admin::LockList list{};
  std::vector<std::string> warnings{};  ///< see list_warnings()
};

/// The screen of `top`: at most `height` lines of at most `width` characters. Rows that have no
/// room are counted in a line. Pure.
[[nodiscard]] std::vector<std::string> top_lines(const Style& style, const TopFacts& facts,
                                                 std::size_t width, std::size_t height);

/// The first lines that fit, followed by the number of those that do not.
[[nodiscard]] std::vector<std::string> fitting_lines(std::vector<std::string> lines,
                                                     std::size_t width, std::size_t height);

/// "1.5 MiB".
[[nodiscard]] std::string memory_text(std::uint64_t bytes);

}  // namespace redlock::cli
