#include "redis/values/score.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

namespace redlock::redis {

std::optional<double> score_in(std::string_view text) noexcept {
  double number = 0;
#if defined(__cpp_lib_to_chars) && !defined(REDLOCK_OLD_LIBC)
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
#else
  // libc++ has no such function for doubles before LLVM 20. strtod needs a zero at the end, and
  // accepts leading blanks.
  std::array<char, 64> copy{};
  if (text.empty() || text.front() <= ' ' || text.size() >= copy.size()) return std::nullopt;
  std::ranges::copy(text, copy.begin());
  char* end = nullptr;
  number = std::strtod(copy.data(), &end);
  if (end != copy.data() + text.size()) return std::nullopt;
#endif
  return number;
}

}  // namespace redlock::redis
