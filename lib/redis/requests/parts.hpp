#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/permits.hpp"
#include "core/votes/fencing.hpp"
#include "core/waiting/waited_keys.hpp"
#include "redis/requests/plain_yes.hpp"
#include "redis/requests/row.hpp"
#include "redis/values/dialect.hpp"
#include "redis/values/keys.hpp"
#include "redlock/limits.hpp"

/// The functions that the families of requests share.
namespace redlock::redis {

/// PTTL's answer for a key that is not there.
inline constexpr std::int64_t no_key = -2;

// --- values.cpp: what one value means -----------------------------------------------------------
/// The holder that a value names, cut to one byte more than a token can have. A longer value is
/// neither a token nor a group, and the cut one equals none of them.
[[nodiscard]] std::string_view holder_of(const Value& value) noexcept;
[[nodiscard]] bool is_duration(const Value& value) noexcept;
[[nodiscard]] std::optional<core::Duration> duration_of(const Value& pttl) noexcept;
/// Redis refuses before it executes: every error to a SET, and every error our scripts can end
/// with, means that nothing was written.
[[nodiscard]] core::Answer error_of(const Value& value) noexcept;
[[nodiscard]] core::Answer error_of_script(const Value& value) noexcept;
/// The error of a plain command that is unknown here, forbidden, or for another type of key:
/// another command or a script may still succeed.
[[nodiscard]] core::Answer error_of_plain(const Value& value) noexcept;
/// The number of holds on a shared resource.
[[nodiscard]] std::optional<core::Holds> holds_of(const Value& count) noexcept;
[[nodiscard]] core::Answer marker_and_quarantine(const Value& marker, const Value& left) noexcept;
/// The number of changes that the answer reports.
[[nodiscard]] std::optional<core::Answer> count(Dialect dialect, Values values) noexcept;
/// {1, holds}
[[nodiscard]] std::optional<core::Answer> classify_hold(core::Reply reply,
                                                        const Value& value) noexcept;
/// {-1, holder, PTTL}
[[nodiscard]] std::optional<core::Answer> classify_refusal(const Value& value,
                                                           std::size_t size = 3) noexcept;
/// A client's queue position: its ticket, and 1 if it is first.
[[nodiscard]] bool read_position(const Value& ticket, const Value& first,
                                 core::Answer& result) noexcept;
// --- marker.cpp ---------------------------------------------------------------------------------
/// ZMSCORE of the floor; GET of the marker.
[[nodiscard]] std::optional<core::Answer> classify_floor_and_marker(const Value& scores,
                                                                    const Value& marker) noexcept;
// --- release.cpp, take.cpp ----------------------------------------------------------------------
/// The answer to a release, or to one of several in a shared call.
[[nodiscard]] std::optional<core::Answer> classify_release(const Value& value) noexcept;
/// {1 or 2, number}, or a refusal.
[[nodiscard]] std::optional<core::Answer> classify_fence(const Value& value) noexcept;

// --- sets.cpp -----------------------------------------------------------------------------------
void append_set(Writer& out);
[[nodiscard]] std::optional<core::Answer> classify_set(Dialect dialect,
                                                       const Value& value) noexcept;
[[nodiscard]] std::optional<core::Answer> classify_set_and_ttl(Dialect dialect, const Value& set,
                                                               const Value& pttl) noexcept;

// --- fencing.cpp --------------------------------------------------------------------------------
/// SET; ZADD … GT CH; GET; for some also PTTL.
[[nodiscard]] std::optional<core::Answer> classify_exceeding(Dialect dialect,
                                                             Values values) noexcept;

/// The letters with which a script reports success.
[[nodiscard]] constexpr std::string_view one(Dialect, Protocol) noexcept { return ":1\r\n"; }

}  // namespace redlock::redis
