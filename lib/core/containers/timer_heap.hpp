#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// A binary heap of at most one instant per key, the earliest on top. It knows each key's position,
/// so moving or dropping an instant needs no search. Keys are small dense numbers in which the
/// kinds alternate; an unused kind needs no memory.
class TimerHeap {
 public:
  static constexpr std::uint32_t kinds = 4;  // a power of two: no division
  /// The owner of an instant.
  enum class Kind : std::uint8_t { claim, acquisition, observation };
  [[nodiscard]] static constexpr std::uint32_t key(Kind kind, std::uint32_t index) noexcept {
    return index * kinds + static_cast<std::uint32_t>(kind);
  }
  [[nodiscard]] static constexpr Kind kind_of(std::uint32_t key) noexcept {
    return static_cast<Kind>(key % kinds);
  }
  [[nodiscard]] static constexpr std::uint32_t index_of(std::uint32_t key) noexcept {
    return key / kinds;
  }
  struct Entry {
    Instant at;
    std::uint32_t key;
  };

  void set(std::uint32_t key, Instant at);
  /// Sets the key's instant; none: drops it.
  void set(std::uint32_t key, std::optional<Instant> at) {
    if (at) {
      set(key, *at);
    } else if (is_set(key)) {
      drop(where(key));
    }
  }
  [[nodiscard]] const Entry* top() const noexcept { return heap_.empty() ? nullptr : &heap_[0]; }

 private:
  static constexpr std::uint32_t nowhere = UINT32_MAX;
  [[nodiscard]] bool is_set(std::uint32_t key) const noexcept {
    const std::vector<std::uint32_t>& kind = where_[key % kinds];
    return key / kinds < kind.size() && kind[key / kinds] != nowhere;
  }
  void place(std::size_t index, const Entry& entry) noexcept;
  /// Places the entry at `index` or above.
  void rise(std::size_t index, const Entry& entry) noexcept;
  /// Places the entry at `index` or below; if it need not sink, at `index` or above.
  void settle(std::size_t index, const Entry& entry) noexcept;
  void drop(std::size_t index) noexcept;

  std::vector<Entry> heap_;
  [[nodiscard]] std::uint32_t& where(std::uint32_t key) noexcept {
    return where_[key % kinds][key / kinds];
  }
  std::array<std::vector<std::uint32_t>, kinds> where_;
};

}  // namespace redlock::core
