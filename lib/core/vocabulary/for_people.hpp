#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/vocabulary/texts.hpp"

namespace redlock::core {

/// The part of an answer to an inspection that only people read: see inspect.lua. The views point
/// into the answer. `audit` and `names` are well-formed lists.
struct ForPeople {
  std::uint32_t waiters = 0;
  std::string_view next{};  ///< the id of the successor, the first client in the queue
  std::string_view next_name{};
  std::string_view holder_name{};
  std::string_view audit{};  ///< the last locks that operators broke: see take_audit()
  std::string_view names{};  ///< the names of the first holds: see take_text()
};

/// A lock that an operator broke.
struct AuditEntry {
  std::int64_t milliseconds = 0;  ///< when the lock was broken: since 1970, by the node's clock
  std::string_view token{};
  std::string_view name{};
};

[[nodiscard]] inline std::optional<std::int64_t> take_number(std::string_view& texts) noexcept {
  const std::optional<std::string_view> digits = take_text(texts);
  if (!digits) return std::nullopt;
  std::int64_t number = 0;
  const char* end = digits->data() + digits->size();
  const auto parsed = std::from_chars(digits->data(), end, number);
  const bool good = parsed.ec == std::errc{} && parsed.ptr == end && number >= 0;
  return good ? std::optional(number) : std::nullopt;
}

/// Removes and returns the first entry. None: there is no well-formed one, and `audit` stays
/// unchanged.
[[nodiscard]] inline std::optional<AuditEntry> take_audit(std::string_view& audit) noexcept {
  // Nanoseconds since 1970 fit up to the year 2255.
  constexpr std::int64_t latest = 9'000'000'000'000;
  std::string_view rest = audit;
  const auto milliseconds = take_number(rest);
  if (!milliseconds || *milliseconds > latest) return std::nullopt;
  const auto token = take_text(rest);
  if (!token) return std::nullopt;
  const auto name = take_text(rest);
  if (!name) return std::nullopt;
  audit = rest;
  return AuditEntry{*milliseconds, *token, *name};
}

/// Parses the part for people. None: the text is malformed; inspect.lua never answers like this.
[[nodiscard]] inline std::optional<ForPeople> parse_for_people(std::string_view text) noexcept {
  constexpr std::int64_t most_waiters = UINT32_MAX;
  const auto waiters = take_number(text);
  if (!waiters || *waiters > most_waiters) return std::nullopt;
  ForPeople result;
  result.waiters = static_cast<std::uint32_t>(*waiters);
  for (std::string_view* const part :
       {&result.next, &result.next_name, &result.holder_name, &result.audit, &result.names}) {
    const auto taken = take_text(text);
    if (!taken) return std::nullopt;
    *part = *taken;
  }
  std::string_view audit = result.audit;
  while (take_audit(audit)) continue;
  std::string_view names = result.names;
  while (take_text(names)) continue;
  if (!text.empty() || !audit.empty() || !names.empty()) return std::nullopt;
  return result;
}

}  // namespace redlock::core
