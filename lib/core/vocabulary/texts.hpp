#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

namespace redlock::core {

/// Removes and returns the first of several texts in one value of an answer, each after its length
/// and a colon: "6:shared3:abc". None: there is no well-formed one, and `texts` stays unchanged.
[[nodiscard]] inline std::optional<std::string_view> take_text(std::string_view& texts) noexcept {
  const char* end = texts.data() + texts.size();
  std::size_t size = 0;
  const auto [colon, error] = std::from_chars(texts.data(), end, size);
  if (error != std::errc{} || colon == end || *colon != ':') return std::nullopt;
  const std::string_view rest(colon + 1, static_cast<std::size_t>(end - colon) - 1);
  if (rest.size() < size) return std::nullopt;
  texts = rest.substr(size);
  return rest.substr(0, size);
}

}  // namespace redlock::core
