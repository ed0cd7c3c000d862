#include "runtime/kernel_randomness.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "support/assert.hpp"
#include "support/platform.hpp"

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
  std::array<std::uint8_t, 20> bytes{};
  // From the kernel each time: bytes kept in memory would be used twice by a copied virtual
  // machine.
  support::fill_random(bytes);
  std::array<char, 2 * bytes.size()> text{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::memcpy(&text[2 * i], digits_of_bytes[bytes[i]].data(), 2);
  }
  return *Token::parse({text.data(), text.size()});
}

core::Duration KernelRandomness::between(core::Duration from, core::Duration to) {
  REDLOCK_ASSERT(from <= to);
  const auto span = static_cast<std::uint64_t>((to - from).count()) + 1;
  // The bias of the remainder is below 2^-30 for pauses of seconds; jitter needs no better.
  return from + core::Duration(static_cast<core::Duration::rep>(random_.next() % span));
}

}  // namespace redlock::runtime
