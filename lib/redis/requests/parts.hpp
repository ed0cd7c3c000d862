#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/claim/fencing.hpp"
#include "core/claim/permits.hpp"
#include "core/engine/messages.hpp"
#include "core/waiting/waited_keys.hpp"
#include "redis/keys.hpp"
#include "redis/requests/row.hpp"
#include "redis/wire/dialect.hpp"
#include "redis/wire/plain_yes.hpp"
#include "redlock/limits.hpp"

/// What the families of requests share.
namespace redlock::redis {

/// PTTL's answer for a key that is not there.
inline constexpr std::int64_t no_key = -2;

// --- values.cpp: what one value means -----------------------------------------------------------
/// Longer values are no token of any client and no group, so one byte more than a token can have is
/// enough to make sure that what is left of it equals none.
[[nodiscard]] std::string_view holder_of(const Value& value) noexcept;
[[nodiscard]] bool is_duration(const Value& value) noexcept;
[[nodiscard]] std::optional<core::Duration> duration_of(const Value& pttl) noexcept;
/// Redis refuses before it executes: every error to a SET, and every error our scripts can end
/// with, means that nothing was written.
[[nodiscard]] core::Answer error_of(const Value& value) noexcept;
[[nodiscard]] core::Answer error_of_script(const Value& value) noexcept;
/// What another command or a script may do all the same: the plain one is unknown here, forbidden,
/// or for another type of key.
[[nodiscard]] core::Answer error_of_plain(const Value& value) noexcept;
/// Of a hold, one of several: how many there are.
[[nodiscard]] std::optional<core::Holds> holds_of(const Value& count) noexcept;
[[nodiscard]] core::Answer marker_and_quarantine(const Value& marker, const Value& left) noexcept;
/// How much was changed.
[[nodiscard]] std::optional<core::Answer> count(Dialect dialect, Values values) noexcept;
/// {1, holds}
[[nodiscard]] std::optional<core::Answer> classify_hold(core::Reply reply,
                                                        const Value& value) noexcept;
/// {-1, holder, PTTL}
[[nodiscard]] std::optional<core::Answer> classify_refusal(const Value& value,
                                                           std::size_t size = 3) noexcept;
/// Where a client is queued: its ticket, and 1 if it is first.
[[nodiscard]] bool read_position(const Value& ticket, const Value& first,
                                 core::Answer& result) noexcept;
// --- release.cpp, take.cpp ----------------------------------------------------------------------
/// Of a release, or of one of several that are one call.
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

/// In which letters a script says that it did what it was asked.
[[nodiscard]] constexpr std::string_view one(Dialect, Protocol) noexcept { return ":1\r\n"; }

}  // namespace redlock::redis
