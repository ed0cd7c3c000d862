#include "support/secure_random.hpp"

#include <algorithm>
#include <cstring>

#include "support/platform.hpp"

namespace redlock::support {

void SecureRandom::refill() noexcept {
  fill_random(block_);
  used_ = 0;
}

void SecureRandom::fill(std::span<std::uint8_t> out) noexcept {
  while (!out.empty()) {
    if (used_ == block_.size()) refill();
    const std::size_t part = std::min(out.size(), block_.size() - used_);
    std::memcpy(out.data(), block_.data() + used_, part);
    // Bytes that were handed out must not stay in this process's memory.
    std::memset(block_.data() + used_, 0, part);
    used_ += part;
    out = out.subspan(part);
  }
}

std::uint64_t SecureRandom::next() noexcept {
  std::array<std::uint8_t, sizeof(std::uint64_t)> bytes{};
  fill(bytes);
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace redlock::support
