#include "support/secure_random.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "support/assert.hpp"

namespace redlock::support {

void SecureRandom::refill() noexcept {
  std::size_t have = 0;
  while (have < block_.size()) {
    const ssize_t got = getrandom(block_.data() + have, block_.size() - have, 0);
    if (got < 0) {
      // Weaker randomness is no alternative: a token that can repeat deletes somebody else's lock.
      REDLOCK_ASSERT(errno == EINTR);
      continue;
    }
    have += static_cast<std::size_t>(got);
  }
  used_ = 0;
}

void SecureRandom::fill(std::span<std::uint8_t> out) noexcept {
  while (!out.empty()) {
    if (used_ == block_.size()) refill();
    const std::size_t part = std::min(out.size(), block_.size() - used_);
    std::memcpy(out.data(), block_.data() + used_, part);
    // What was handed out must not be found in this process's memory again.
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
