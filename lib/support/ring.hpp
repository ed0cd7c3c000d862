#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "support/assert.hpp"

namespace redlock::support {

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
  /// The element at `position`, counted from the front.
  [[nodiscard]] const T& operator[](std::size_t position) const noexcept {
    REDLOCK_ASSERT(position < count_);
    return slots_[(first_ + position) & (capacity_ - 1)];
  }

  void push(const T& item) {
    if (count_ == capacity_) grow();
    slots_[(first_ + count_) & (capacity_ - 1)] = item;
    ++count_;
  }

  void push(std::span<const T> items) {
    while (capacity_ - count_ < items.size()) grow();
    for (const T& item : items) slots_[(first_ + count_++) & (capacity_ - 1)] = item;
  }

  void pop() noexcept {
    REDLOCK_ASSERT(count_ > 0);
    first_ = (first_ + 1) & (capacity_ - 1);
    --count_;
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : slots_.size() * 2);
    for (std::size_t index = 0; index < count_; ++index) {
      larger[index] = slots_[(first_ + index) & (capacity_ - 1)];
    }
    slots_.swap(larger);
    capacity_ = slots_.size();
    first_ = 0;
  }

  std::vector<T> slots_;
  std::size_t capacity_ = 0;  // a power of two; the vector's own size is a division
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace redlock::support
