#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "core/fencing.hpp"
#include "redis/classify_parts.hpp"
#include "redlock/limits.hpp"

namespace redlock::redis {

namespace {

using core::Reply;
using Type = Value::Type;

constexpr std::int64_t no_expiry = -1;  ///< what PTTL answers for a key without one

}  // namespace

std::string_view holder_of(const Value& value) noexcept {
  return std::string_view(value.text).substr(0, limits::token_bytes + 1);
}

bool is_duration(const Value& value) noexcept {
  return value.type == Type::integer && value.integer >= no_key;
}

std::optional<core::Duration> duration_of(const Value& pttl) noexcept {
  using std::chrono::milliseconds;
  if (pttl.integer == no_expiry) return std::nullopt;
  if (pttl.integer == no_key) return core::Duration::zero();
  // Expiries reach further than 64-bit nanoseconds do.
  constexpr auto longest = std::chrono::floor<milliseconds>(core::Duration::max()).count();
  if (pttl.integer > longest) return core::Duration::max();
  return milliseconds(pttl.integer);
}

Classified error_of(const Value& value) noexcept {
  return {.reply = Reply::error, .text = value.text};
}

Classified error_of_script(const Value& value) noexcept {
  if (value.text.starts_with("NOSCRIPT")) {
    return {.reply = Reply::script_missing, .text = value.text};
  }
  return error_of(value);
}

std::optional<core::Holds> holds_of(const Value& count) noexcept {
  if (count.type != Type::integer || count.integer < 0 || count.integer > UINT32_MAX) {
    return std::nullopt;
  }
  return core::Holds{.count = static_cast<std::uint32_t>(count.integer)};
}

Classified marker_and_quarantine(const Value& marker, const Value& left) noexcept {
  // A quarantine without an end, which no client begins, is as long as any.
  constexpr std::int64_t longest = std::chrono::milliseconds(limits::longest_max_ttl).count() * 2;
  std::int64_t milliseconds = left.integer < 0 ? longest : std::min(left.integer, longest);
  if (left.integer == no_key) milliseconds = 0;
  return {
      .reply = Reply::marker, .text = marker.text, .time = std::chrono::milliseconds(milliseconds)};
}

std::uint64_t fencing_number_of(const Value& score) noexcept {
  constexpr std::uint64_t highest = core::fence_limit - 1;
  double number = 0;
  const char* end = score.text.data() + score.text.size();
  const auto parsed = std::from_chars(score.text.data(), end, number);
  const bool fits = parsed.ec == std::errc{} && parsed.ptr == end && number >= 0 &&
                    number < static_cast<double>(highest);
  return fits ? static_cast<std::uint64_t>(number) : highest;
}

/// {seconds, microseconds} since 1970, both as text.
std::optional<core::Duration> time_of(const Value& value) noexcept {
  if (value.type != Type::array || value.elements.size() != 2) return std::nullopt;
  std::array<std::int64_t, 2> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Value& part = *value.elements[i];
    if (part.type != Type::bulk) return std::nullopt;
    const char* end = part.text.data() + part.text.size();
    const auto parsed = std::from_chars(part.text.data(), end, parts[i]);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  }
  // Past the year 2255 nanoseconds do not fit.
  constexpr std::int64_t longest = 9'000'000'000;
  if (parts[0] < 0 || parts[0] > longest || parts[1] < 0 || parts[1] > 999'999) {
    return std::nullopt;
  }
  return std::chrono::seconds(parts[0]) + std::chrono::microseconds(parts[1]);
}

}  // namespace redlock::redis
