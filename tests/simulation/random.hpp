#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/vocabulary/randomness.hpp"

namespace redlock::simulation {

/// SplitMix64: the same numbers from the same seed with every compiler and library, which the
/// distributions of <random> do not promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// In [0, end); 0 for an end of 0.
  std::int64_t below(std::int64_t end) noexcept {
    return end <= 0 ? 0 : static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(end));
  }
  /// In [from, to].
  std::int64_t between(std::int64_t from, std::int64_t to) noexcept {
    return from + below(to - from + 1);
  }
  bool per_mille(std::int64_t chance) noexcept { return below(1000) < chance; }

 private:
  std::uint64_t state_;
};

/// The bit of the token of a delay (see core::delay_token), next to the id of the operator's
/// client.
inline constexpr std::uint64_t delay = std::uint64_t{1} << 62;
[[nodiscard]] constexpr bool is_delay(std::uint64_t token) noexcept { return token >> 62 == 1; }

/// A token of the simulation, as long as a real one. Model nodes store only its number, which is in
/// the last digits; the first digits repeat it, because some ids are made of them.
using Digits = std::array<char, 40>;
[[nodiscard]] inline Digits digits_of(std::uint64_t token) {
  constexpr std::size_t of_a_number = 16;
  Digits digits{};
  digits.fill('0');
  const bool only_id = is_delay(token);
  if (only_id) token &= ~delay;
  for (std::size_t i = of_a_number; i-- > 0; token /= 16) {
    digits[i] = "0123456789abcdef"[token % 16];
    if (!only_id) digits[digits.size() - of_a_number + i] = digits[i];
  }
  return digits;
}
[[nodiscard]] inline std::uint64_t number_of(std::string_view digits) {
  constexpr std::size_t of_an_id = 16;
  const bool only_id = digits.find_first_not_of('0', of_an_id) == std::string_view::npos;
  if (only_id) digits = digits.substr(0, of_an_id);
  std::uint64_t number = 0;  // the last 16 digits; higher ones are shifted out
  for (const char digit : digits) {
    number =
        number * 16 + static_cast<std::uint64_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  }
  return only_id ? number | delay : number;
}

class SeededRandomness final : public core::Randomness {
 public:
  explicit SeededRandomness(std::uint64_t seed) : random_(seed) {}
  [[nodiscard]] Token token() override {
    // The upper bits mark other kinds of keys: see model_node.hpp.
    if (!repeat_tokens_ || !random_.per_mille(300)) last_ = random_.next() >> 4U;
    const Digits digits = digits_of(last_);
    return *Token::parse({digits.data(), digits.size()});
  }
  void repeat_tokens(bool yes) noexcept { repeat_tokens_ = yes; }
  [[nodiscard]] core::Duration between(core::Duration from, core::Duration to) override {
    return core::Duration(random_.between(from.count(), to.count()));
  }

 private:
  Random random_;
  std::uint64_t last_ = 1;
  bool repeat_tokens_ = false;
};

}  // namespace redlock::simulation
