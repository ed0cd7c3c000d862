#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "redis/classify.hpp"

/// The parts of classify(). Nothing: no Redis server answers like this.
namespace redlock::redis {

/// PTTL's answer for a key that is not there.
inline constexpr std::int64_t no_key = -2;

// --- classify_values.cpp: what one value means -------------------------------------------------
/// Longer values are no token of any client and no group, so one byte more than a token can have is
/// enough to make sure that what is left of it equals none.
[[nodiscard]] std::string_view holder_of(const Value& value) noexcept;
[[nodiscard]] bool is_duration(const Value& value) noexcept;
[[nodiscard]] std::optional<core::Duration> duration_of(const Value& pttl) noexcept;
/// Redis refuses before it executes: every error to a SET, and every error our scripts can end
/// with, means that nothing was written.
[[nodiscard]] Classified error_of(const Value& value) noexcept;
[[nodiscard]] Classified error_of_script(const Value& value) noexcept;
/// Of a hold, one of several: how many there are.
[[nodiscard]] std::optional<core::Holds> holds_of(const Value& count) noexcept;
[[nodiscard]] Classified marker_and_quarantine(const Value& marker, const Value& left) noexcept;

// --- classify_commands.cpp: what commands answer -----------------------------------------------
[[nodiscard]] std::optional<Classified> classify_set(Dialect form, const Value& value) noexcept;
[[nodiscard]] std::optional<Classified> classify_set_and_ttl(Dialect form, const Value& set,
                                                             const Value& pttl) noexcept;
/// ZMSCORE of resource and floor; ZADD; GET.
[[nodiscard]] std::optional<Classified> classify_raise(
    std::span<const Value* const> values) noexcept;
/// SET, then as classify_raise(); for some also PTTL.
[[nodiscard]] std::optional<Classified> classify_numbered(
    Dialect form, std::span<const Value* const> values) noexcept;
/// SET; ZADD … GT CH; GET; for some also PTTL.
[[nodiscard]] std::optional<Classified> classify_exceeding(
    Dialect form, std::span<const Value* const> values) noexcept;
/// DELIFEQ or DELEX; EXISTS of the resource, and of its queue twice.
[[nodiscard]] std::optional<Classified> classify_plain_release(const Value& deleted,
                                                               const Value& left) noexcept;
/// SET … IFEQ … GET: whose key it was. The core compares that with the token.
[[nodiscard]] std::optional<Classified> classify_plain_extend(const Value& value) noexcept;
/// The same; SET … NX GET.
[[nodiscard]] std::optional<Classified> classify_plain_repair(Dialect form, const Value& extended,
                                                              const Value& set) noexcept;
/// MSETEX: 1 or 0; MGET: whose they are.
[[nodiscard]] std::optional<Classified> classify_set_all(const Value& set,
                                                         const Value& holders) noexcept;
[[nodiscard]] std::optional<Classified> classify_time(const Value& value) noexcept;
/// INFO of the section with the number of evicted keys.
[[nodiscard]] std::optional<Classified> classify_evictions(const Value& value) noexcept;
[[nodiscard]] std::optional<Classified> classify_marker(const Value& value) noexcept;
/// ZMSCORE of the floor; GET of the marker.
[[nodiscard]] std::optional<Classified> classify_floor_and_marker(const Value& scores,
                                                                  const Value& marker) noexcept;
/// MULTI; what six commands are queued with; EXEC: the last but one is the marker, the last the
/// quarantine that is left.
[[nodiscard]] std::optional<Classified> classify_marker_transaction(const Value& value) noexcept;
[[nodiscard]] std::optional<Classified> classify_kill(const Value& value) noexcept;
/// SET without a condition.
[[nodiscard]] std::optional<Classified> classify_written(const Value& value) noexcept;
[[nodiscard]] std::optional<Classified> classify_track(const Value& caching,
                                                       const Value& state) noexcept;

// --- classify_scripts.cpp: what scripts answer -------------------------------------------------
[[nodiscard]] std::optional<Classified> classify_extend(core::Verb verb,
                                                        const Value& value) noexcept;
[[nodiscard]] std::optional<Classified> classify_release(const Value& value) noexcept;
[[nodiscard]] std::optional<Classified> classify_inspect(const Value& value) noexcept;
/// {1, holds}, or {-1, whose, how long}.
[[nodiscard]] std::optional<Classified> classify_enter(const Value& value) noexcept;
/// {1, ''}, or {-1, which permits are free, how long until the next is}.
[[nodiscard]] std::optional<Classified> classify_place(const Value& value) noexcept;
/// {1 or 2, number}, or a refusal.
[[nodiscard]] std::optional<Classified> classify_fence(const Value& value) noexcept;
/// How much was changed.
[[nodiscard]] std::optional<Classified> classify_count(const Value& value) noexcept;
/// {1 if the resource is taken, where the client is queued}
[[nodiscard]] std::optional<Classified> classify_queued(const Value& value) noexcept;
/// {written, the marker, quarantine left}: who wrote it does not matter.
[[nodiscard]] std::optional<Classified> classify_marker_written(const Value& value) noexcept;

}  // namespace redlock::redis
