#include "support/secure_random.hpp"

#include <cstring>

#include "support/platform.hpp"

namespace redlock::support {

std::uint64_t SecureRandom::next() noexcept {
  static_assert(sizeof(block_) % sizeof(std::uint64_t) == 0);
  if (used_ == block_.size()) {
    fill_random(block_);
    used_ = 0;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, block_.data() + used_, sizeof value);
  used_ += sizeof value;
  return value;
}

}  // namespace redlock::support
