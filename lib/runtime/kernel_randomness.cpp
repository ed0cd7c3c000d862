#include "runtime/kernel_randomness.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "support/assert.hpp"

namespace redlock::runtime {

namespace {

/// The two hexadecimal digits of each byte.
constexpr auto digits_of_bytes = [] {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<std::array<char, 2>, 256> all{};
  for (std::size_t byte = 0; byte < all.size(); ++byte) {
    all[byte] = {digits[byte >> 4U], digits[byte & 15U]};
  }
  return all;
}();

}  // namespace

Token KernelRandomness::token() {
  constexpr std::size_t bytes = Token::digits / 2;
  std::array<std::uint64_t, (bytes + 7) / 8> words{};
  random_.fill(words);
  std::array<std::uint8_t, bytes> drawn{};
  std::memcpy(drawn.data(), words.data(), drawn.size());
  std::array<char, Token::digits> text{};
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    std::memcpy(&text[2 * i], digits_of_bytes[drawn[i]].data(), 2);
  }
  return *Token::parse({text.data(), text.size()});
}

core::Duration KernelRandomness::between(core::Duration from, core::Duration to) {
  REDLOCK_ASSERT(from <= to);
  const auto span = static_cast<std::uint64_t>((to - from).count()) + 1;
  // The bias of the remainder is below 2^-30 for pauses of seconds; jitter needs no better.
  std::array<std::uint64_t, 1> word{};
  random_.fill(word);
  return from + core::Duration(static_cast<core::Duration::rep>(word[0] % span));
}

}  // namespace redlock::runtime
