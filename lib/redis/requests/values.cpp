#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "core/votes/fencing.hpp"
#include "redis/requests/parts.hpp"
#include "redis/values/classify.hpp"
#include "redis/values/score.hpp"
#include "redlock/limits.hpp"

namespace redlock::redis {

namespace {

using core::Reply;
using Type = Value::Type;

constexpr std::int64_t no_expiry = -1;  ///< PTTL's answer for a key without an expiry

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

core::Answer error_of(const Value& value) noexcept {
  return {.reply = Reply::error, .text = value.text};
}

core::Answer error_of_script(const Value& value) noexcept {
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

core::Answer marker_and_quarantine(const Value& marker, const Value& left) noexcept {
  // A quarantine without an end, which no client begins, counts as the longest.
  constexpr std::int64_t longest = std::chrono::milliseconds(limits::longest_max_ttl).count() * 2;
  std::int64_t milliseconds = left.integer < 0 ? longest : std::min(left.integer, longest);
  if (left.integer == no_key) milliseconds = 0;
  return {
      .reply = Reply::marker, .text = marker.text, .time = std::chrono::milliseconds(milliseconds)};
}

std::uint64_t fencing_number_of(const Value& score) noexcept {
  constexpr std::uint64_t highest = core::fence_limit - 1;
  const std::optional<double> number = score_in(score.text);
  const bool fits = number && *number >= 0 && *number < static_cast<double>(highest);
  return fits ? static_cast<std::uint64_t>(*number) : highest;
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

core::Answer error_of_plain(const Value& value) noexcept {
  for (const std::string_view prefix : {"WRONGTYPE ", "NOPERM ", "OOM ", "ERR unknown command"}) {
    if (value.text.starts_with(prefix)) return {.reply = Reply::script_needed, .text = value.text};
  }
  return error_of(value);
}

std::optional<core::Answer> count(Dialect /*dialect*/, Values values) noexcept {
  const Value& value = *values[0];
  if (value.type == Type::error) return error_of_script(value);
  if (value.type != Type::integer) return std::nullopt;
  return core::Answer{.reply = Reply::done};
}

std::optional<core::Answer> classify_hold(Reply reply, const Value& value) noexcept {
  if (value.elements.size() != 2) return std::nullopt;
  const Value& what = *value.elements[0];
  core::Answer result{.reply = reply};
  result.holds = holds_of(*value.elements[1]);
  const bool done = what.type == Type::integer && what.integer == 1 && result.holds;
  return done ? std::optional(result) : std::nullopt;
}

std::optional<core::Answer> classify_refusal(const Value& value, std::size_t size) noexcept {
  if (value.elements.size() != size || value.elements[1]->type != Type::bulk) return std::nullopt;
  const Value& pttl = *value.elements[2];
  if (!is_duration(pttl)) return std::nullopt;
  return core::Answer{
      .reply = Reply::taken, .text = holder_of(*value.elements[1]), .remaining = duration_of(pttl)};
}

bool read_position(const Value& ticket, const Value& first, core::Answer& result) noexcept {
  constexpr std::int64_t highest = std::int64_t{1} << 53;
  if (ticket.type != Type::integer || ticket.integer < 0 || ticket.integer > highest) return false;
  if (first.type != Type::integer || first.integer < 0 || first.integer > 1) return false;
  result.ticket = ticket.integer;
  result.is_first = first.integer == 1;
  return true;
}

}  // namespace redlock::redis
