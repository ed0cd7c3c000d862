#include "runtime/kernel_randomness.hpp"

#include <array>
#include <cstdint>
#include <string_view>

#include "support/assert.hpp"

namespace redlock::runtime {

Token KernelRandomness::token() {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::array<std::uint8_t, 20> bytes{};
  random_.fill(bytes);
  std::array<char, 2 * bytes.size()> text{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text[2 * i] = digits[bytes[i] >> 4U];
    text[2 * i + 1] = digits[bytes[i] & 15U];
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
