#include "support/secure_random.hpp"

#include <algorithm>

#include "support/fork_guard.hpp"
#include "support/platform.hpp"

namespace redlock::support {
namespace {

class Machine final : public EntropySource {
 public:
  void fill_from_kernel(std::span<std::uint64_t> out) noexcept override {
    fill_random({reinterpret_cast<std::uint8_t*>(out.data()), out.size_bytes()});
  }
  bool draw_from_processor(Mask& mask) noexcept override {
    return support::draw_from_processor(mask);
  }
};

}  // namespace

EntropySource& entropy_of_this_machine() noexcept {
  static Machine machine;
  return machine;
}

void SecureRandom::fill(std::span<std::uint64_t> out) noexcept {
  if (!in_turn_ || fork_generation_ != fork_generation()) begin_turn();
  drawn_ += out.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (next_ == end_) fetch();
    out[i] = block_[next_++] ^ mask_[i % mask_.size()];
  }
}

void SecureRandom::begin_turn() noexcept {
  in_turn_ = true;
  fork_generation_ = fork_generation();
  needed_ = drawn_;
  drawn_ = 0;
  // A generator that repeats itself is broken: some answer with ones only after a suspend.
  masked_ = source_.draw_from_processor(mask_) && mask_[0] != mask_[1];
  if (masked_) return;
  mask_ = {};
  next_ = end_ = 0;
}

void SecureRandom::fetch() noexcept {
  // Without a mask, the next turn cannot use what this one leaves.
  const std::size_t words = masked_ ? block_.size() : std::max(needed_, drawn_);
  next_ = 0;
  end_ = std::min(words, block_.size());
  source_.fill_from_kernel({block_.data(), end_});
}

}  // namespace redlock::support
