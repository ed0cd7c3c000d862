#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace redlock::core {

/// Owns slots and reuses them, so that a lock cycle allocates nothing in steady state. `T` has
/// `index`, `generation` and `live`. A reused slot keeps the memory that its members have allocated
/// and gets a new generation, by which a stale name is recognised. A slot never moves.
template <typename T>
class Pool {
 public:
  [[nodiscard]] T& take() {
    if (free_.empty()) {
      if (made_ % per_chunk == 0) chunks_.push_back(std::make_unique<T[]>(per_chunk));
      const auto index = static_cast<std::uint32_t>(made_++);
      at(index).index = index;
      free_.push_back(index);
    }
    T& slot = at(free_.back());
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
    if (index >= made_) return nullptr;
    T& slot = at(index);
    return slot.live && slot.generation == generation ? &slot : nullptr;
  }
  [[nodiscard]] const T* find(std::uint32_t index, std::uint32_t generation) const noexcept {
    return const_cast<Pool*>(this)->find(index, generation);
  }
  [[nodiscard]] T& at(std::size_t index) noexcept {
    return chunks_[index / per_chunk][index % per_chunk];
  }
  [[nodiscard]] const T& at(std::size_t index) const noexcept {
    return chunks_[index / per_chunk][index % per_chunk];
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The number of slots that were visited one by one: tests count them instead of measuring time.
  [[nodiscard]] std::uint64_t visited() const noexcept { return visited_; }

  /// Visits the live slots in order. `visit` may take and give back slots; whether a slot that it
  /// takes is visited is not specified.
  template <typename Visit>
  void each(Visit&& visit) {
    for (std::size_t i = 0; i < made_; ++i) {
      ++visited_;
      if (at(i).live) visit(at(i));
    }
  }
  template <typename Visit>
  void each(Visit&& visit) const {
    for (std::size_t i = 0; i < made_; ++i) {
      ++visited_;
      if (at(i).live) visit(at(i));
    }
  }

 private:
  // Slots are allocated in chunks: a million single allocations would cost 16 MB of bookkeeping.
  static constexpr std::size_t per_chunk = 16;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t made_ = 0;
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
  mutable std::uint64_t visited_ = 0;
};

}  // namespace redlock::core
