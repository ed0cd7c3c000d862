#pragma once

#include <cstddef>
#include <vector>

#include "support/assert.hpp"

namespace redlock::redis {

/// A queue that keeps its memory: once it has grown, nothing is allocated. (std::deque allocates
/// and frees a block every few dozen elements, however short the queue is.)
template <typename T>
class Ring {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  [[nodiscard]] const T& front() const noexcept {
    REDLOCK_ASSERT(count_ > 0);
    return slots_[first_];
  }

  void push(const T& item) {
    if (count_ == slots_.size()) grow();
    slots_[(first_ + count_) & (slots_.size() - 1)] = item;
    ++count_;
  }

  void pop() noexcept {
    REDLOCK_ASSERT(count_ > 0);
    first_ = (first_ + 1) & (slots_.size() - 1);
    --count_;
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : slots_.size() * 2);
    for (std::size_t index = 0; index < count_; ++index) {
      larger[index] = slots_[(first_ + index) & (slots_.size() - 1)];
    }
    slots_.swap(larger);
    first_ = 0;
  }

  std::vector<T> slots_;  // a power of two
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace redlock::redis
