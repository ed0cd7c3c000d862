#pragma once

#include "redlock/language.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <version>

#if defined(__cpp_lib_format)
#include <format>
#endif

#include "redlock/export.hpp"
#include "redlock/limits.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// The value that a node stores under the resource: it identifies the holder.
///
/// The library's own tokens are 40 hexadecimal digits, optionally with a colon and a name after
/// them. The first 16 digits name the client, which draws them once. The other 24 digits are 96
/// random bits, fresh for every attempt. Tokens of other Redlock clients are any 1 to 128 bytes and
/// are taken as they are.
///
/// A separate type, so that passing a token as a resource does not compile. Thread safety: a value.
class REDLOCK_EXPORT Token {
 public:
  /// The digits of one of the library's own tokens, without a name.
  static constexpr std::size_t digits = 40;
  /// The first of these digits, which name the client.
  static constexpr std::size_t client_id_digits = 16;

  /// No token: `empty()`.
  Token() noexcept = default;

  /// Takes 1 to `limits::token_bytes` bytes; anything else is not a token.
  [[nodiscard]] static std::optional<Token> parse(std::string_view text) noexcept {
    if (text.empty() || text.size() > limits::token_bytes) return std::nullopt;
    Token token;
    std::copy(text.begin(), text.end(), token.bytes_.begin());
    token.size_ = static_cast<std::uint8_t>(text.size());
    return token;
  }

  /// The token's bytes.
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), size_}; }
  [[nodiscard]] std::string str() const { return std::string(view()); }
  /// The id of the client that made it: the first 16 digits of the library's own tokens. Empty for
  /// all others.
  [[nodiscard]] std::string_view client_id() const noexcept {
    const bool own = size_ == digits || (size_ > digits && bytes_[digits] == ':');
    const std::string_view number = view().substr(0, own ? digits : 0);
    const bool hexadecimal = std::all_of(number.begin(), number.end(), [](char letter) {
      return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
    });
    return hexadecimal ? number.substr(0, client_id_digits) : std::string_view();
  }
  /// The `AcquireOptions::name` after the 40 digits and a colon. Empty if there is none.
  [[nodiscard]] std::string_view name() const noexcept {
    const bool named = size_ > digits && bytes_[digits] == ':';
    return named ? view().substr(digits + 1) : std::string_view();
  }
  /// Whether the token is not a lease's, but keeps everybody from a resource for a while after an
  /// operator broke its lock (`BreakOptions::delay`). The digits after the client's id are then all
  /// 0, and `name()` is the name of that operator's client.
  [[nodiscard]] bool is_delay() const noexcept {
    const std::string_view random = view().substr(0, digits).substr(client_id().size());
    return !client_id().empty() && random.find_first_not_of('0') == std::string_view::npos;
  }
  /// Whether there is no token.
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                                      const Token& token) {
    return out << token.view();
  }
  friend bool operator==(const Token& a, const Token& b) noexcept { return a.view() == b.view(); }
  friend std::strong_ordering operator<=>(const Token& a, const Token& b) noexcept {
    return a.view() <=> b.view();
  }

 private:
  std::array<char, limits::token_bytes> bytes_{};
  std::uint8_t size_ = 0;
};

/// The number to send along with every write that a lock protects, so that the storage can refuse
/// a holder whose lease is over. A later lease on the resource has a larger one. Below 2^53, so
/// that every storage can compare it. (Kleppmann, How to do distributed locking, 2016.)
///
/// A separate type, so that no other number is taken for one. By default it is zero, which is less
/// than the token of every lease.
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

}  // namespace REDLOCK_ABI
}  // namespace redlock

template <>
struct std::hash<redlock::Token> {
  std::size_t operator()(const redlock::Token& token) const noexcept {
    return std::hash<std::string_view>()(token.view());
  }
};
template <>
struct std::hash<redlock::FencingToken> {
  std::size_t operator()(redlock::FencingToken token) const noexcept {
    return std::hash<std::uint64_t>()(token.value());
  }
};

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
