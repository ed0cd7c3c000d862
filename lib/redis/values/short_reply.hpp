#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "redis/values/reply.hpp"

namespace redlock::redis {

/// Reads the value at the beginning of `bytes` if it is complete and a usual answer. The usual
/// answers are `+OK`, a number, a short bulk and the null bulk, in RESP3 also its null and a
/// double, each in the one form that Redis writes. Returns how many bytes it took. 0: the value is
/// another one, incomplete, or malformed, and `value` is unchanged. `value` must be fresh.
[[nodiscard]] std::size_t read_short_value(std::string_view bytes, Value& value,
                                           Protocol protocol = Protocol::resp2);

/// The number of elements of the array at the beginning of `bytes`: 1 to 9, which
/// `short_array_header` bytes announce; else 0.
[[nodiscard]] std::size_t read_short_array(std::string_view bytes) noexcept;
inline constexpr std::size_t short_array_header = 4;

/// Reads the answer to TIME at the beginning of `bytes` if it is complete and of a year from 2001
/// to 2255. Returns the same as read_short_value().
[[nodiscard]] std::size_t read_time(std::string_view bytes,
                                    std::chrono::microseconds& time) noexcept;

}  // namespace redlock::redis
