#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "redis/wire/reply.hpp"

namespace redlock::redis {

/// Reads the value that `bytes` begin with, if it is complete and what almost every request is
/// answered with: `+OK`, a number, a short bulk, the null bulk, in RESP3 also its null and a
/// double, each in the one form in which Redis writes it. Answers how many bytes it took; 0 says
/// nothing: something else, incomplete, or malformed, and then `value` is as it was. `value` is to
/// be fresh.
[[nodiscard]] std::size_t read_short_value(std::string_view bytes, Value& value,
                                           Protocol protocol = Protocol::resp2);

/// How many elements the array has that `bytes` begin with: 1 to 9, which are announced by
/// `short_array_header` bytes; else 0.
[[nodiscard]] std::size_t read_short_array(std::string_view bytes) noexcept;
inline constexpr std::size_t short_array_header = 4;

/// Reads the answer to TIME that `bytes` begin with, if it is complete and of a year from 2001 to
/// 2255. Answers as read_short_value().
[[nodiscard]] std::size_t read_time(std::string_view bytes,
                                    std::chrono::microseconds& time) noexcept;

}  // namespace redlock::redis
