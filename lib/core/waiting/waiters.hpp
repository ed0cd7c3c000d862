#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/assert.hpp"

namespace redlock::core {

/// Acquisitions in the order in which they came. One that leaves is only crossed out, so that the
/// others need not move; the list is rewritten when most of it is crossed out.
class Waiters {
 public:
  /// `arrival` must be above that of all others.
  void add(std::uint64_t arrival, std::uint32_t acquisition) {
    list_.push_back({arrival, acquisition});
    ++size_;
  }
  void remove(std::uint64_t arrival) {
    const auto at =
        std::lower_bound(list_.begin() + static_cast<std::ptrdiff_t>(begin_), list_.end(), arrival,
                         [](const Waiter& one, std::uint64_t than) { return one.arrival < than; });
    REDLOCK_ASSERT(at != list_.end() && at->arrival == arrival && at->acquisition != left);
    at->acquisition = left;
    --size_;
    while (begin_ < list_.size() && list_[begin_].acquisition == left) ++begin_;
    if (list_.size() > 2 * size_ + 8) rewrite();
  }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Visits the acquisitions in order until `visit` returns false.
  template <typename Visit>
  void each_while(Visit&& visit) const {
    for (std::size_t i = begin_; i < list_.size(); ++i) {
      if (list_[i].acquisition != left && !visit(list_[i].acquisition)) return;
    }
  }

 private:
  static constexpr std::uint32_t left = UINT32_MAX;
  struct Waiter {
    std::uint64_t arrival = 0;
    std::uint32_t acquisition = left;
  };
  void rewrite() {
    std::erase_if(list_, [](const Waiter& one) { return one.acquisition == left; });
    begin_ = 0;
  }

  std::vector<Waiter> list_;
  std::size_t begin_ = 0;  ///< all entries before this one have left
  std::size_t size_ = 0;
};

}  // namespace redlock::core
