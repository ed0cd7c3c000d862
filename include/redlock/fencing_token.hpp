#pragma once

#include "redlock/language.hpp"

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <version>

#if defined(__cpp_lib_format)
#include <format>
#endif

#include "redlock/export.hpp"

namespace redlock {

/// The number to send along with every write that a lock protects, so that the storage can refuse
/// a holder whose lease is over. A later lease on the resource has a larger one. Below 2^53, so
/// that every storage can compare it. (Kleppmann, How to do distributed locking, 2016.)
///
/// A type of its own, so that no other number can take its place. A default one is zero, which no
/// lease has and which is less than that of every lease.
///
/// Thread safety: a value.
class REDLOCK_EXPORT FencingToken {
 public:
  /// Zero, or a number that was stored.
  constexpr FencingToken() noexcept = default;
  explicit constexpr FencingToken(std::uint64_t value) noexcept : value_(value) {}

  /// The number, to be stored.
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

  friend constexpr bool operator==(FencingToken, FencingToken) noexcept = default;
  friend constexpr std::strong_ordering operator<=>(FencingToken, FencingToken) noexcept = default;

  [[nodiscard]] friend std::string to_string(FencingToken token) {
    return std::to_string(token.value_);
  }
  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                                      FencingToken token) {
    return out << token.value_;
  }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace redlock

#if defined(__cpp_lib_format)
/// Takes the format of an integer.
template <>
struct std::formatter<redlock::FencingToken> : std::formatter<std::uint64_t> {
  template <typename Context>
  auto format(redlock::FencingToken token, Context& context) const {
    return std::formatter<std::uint64_t>::format(token.value(), context);
  }
};
#endif
