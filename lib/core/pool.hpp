#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace redlock::core {

/// Slots that are reused, so that a lock cycle allocates nothing in steady state. `T` has `index`,
/// `generation` and `live`; a reused slot keeps what its members have allocated and gets a new
/// generation, which is how a stale name is recognised. Addresses are stable.
template <typename T>
class Pool {
 public:
  [[nodiscard]] T& take() {
    if (free_.empty()) {
      slots_.push_back(std::make_unique<T>());
      slots_.back()->index = static_cast<std::uint32_t>(slots_.size() - 1);
      free_.push_back(slots_.back()->index);
    }
    T& slot = *slots_[free_.back()];
    free_.pop_back();
    if (++slot.generation == 0) slot.generation = 1;  // 0 names none
    slot.live = true;
    ++size_;
    return slot;
  }

  void give_back(T& slot) {
    slot.live = false;
    free_.push_back(slot.index);
    --size_;
  }

  [[nodiscard]] T* find(std::uint32_t index, std::uint32_t generation) noexcept {
    if (index >= slots_.size()) return nullptr;
    T& slot = *slots_[index];
    return slot.live && slot.generation == generation ? &slot : nullptr;
  }
  [[nodiscard]] const T* find(std::uint32_t index, std::uint32_t generation) const noexcept {
    return const_cast<Pool*>(this)->find(index, generation);
  }
  [[nodiscard]] T& at(std::uint32_t index) noexcept { return *slots_[index]; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Slots that were visited one by one: what a test counts where a clock would be in its way.
  [[nodiscard]] std::uint64_t walked() const noexcept { return walked_; }

  /// In the order of the slots. `visit` may take and give back slots: new ones may or may not be
  /// visited.
  template <typename Visit>
  void each(Visit&& visit) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      ++walked_;
      if (slots_[i]->live) visit(*slots_[i]);
    }
  }
  template <typename Visit>
  void each(Visit&& visit) const {
    for (const std::unique_ptr<T>& slot : slots_) {
      if (slot->live) visit(static_cast<const T&>(*slot));
    }
  }

 private:
  // A deque's index is a division, and a slot is looked up for every answer.
  std::vector<std::unique_ptr<T>> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
  std::uint64_t walked_ = 0;
};

}  // namespace redlock::core
