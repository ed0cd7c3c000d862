#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/time.hpp"

namespace redlock::core {

/// At most one instant per key, the earliest on top. Keys are small dense numbers. A binary heap
/// that knows each key's place, so that moving or dropping one does not search.
class TimerHeap {
 public:
  struct Entry {
    Instant at;
    std::uint32_t key;
  };

  void set(std::uint32_t key, std::optional<Instant> at);
  [[nodiscard]] const Entry* top() const noexcept { return heap_.empty() ? nullptr : &heap_[0]; }

 private:
  static constexpr std::uint32_t nowhere = UINT32_MAX;
  void place(std::size_t index, const Entry& entry) noexcept;
  void rise(std::size_t index) noexcept;
  void sink(std::size_t index) noexcept;
  void drop(std::size_t index) noexcept;

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> where_;
};

}  // namespace redlock::core
