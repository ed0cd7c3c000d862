#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/pool.hpp"

namespace redlock::core {

/// A slot's place in a PoolIndex.
struct PoolIndexPlace {
  std::uint64_t key = 0;
  std::uint32_t next = 0;  ///< of those with the same bucket: an index, and 1
  bool taken = false;
};

/// Finds the slots of a pool by a number that several of them may have. The chains go through the
/// slots, so it allocates only when it holds more of them than ever before.
template <typename T, PoolIndexPlace T::*place>
class PoolIndex {
 public:
  explicit PoolIndex(Pool<T>& pool) : pool_(pool), buckets_(std::size_t{1} << bits_) {}

  void add(T& slot, std::uint64_t key) {
    if ((slot.*place).taken) return;
    if (size_ == buckets_.size()) grow();
    ++size_;
    (slot.*place).key = key;
    (slot.*place).taken = true;
    link(slot);
  }

  void remove(T& slot) {
    if (!(slot.*place).taken) return;
    (slot.*place).taken = false;
    --size_;
    std::uint32_t* at = &bucket((slot.*place).key);
    while (*at != slot.index + 1) at = &(pool_.at(*at - 1).*place).next;
    *at = (slot.*place).next;
  }

  /// `visit` may remove the slot that it is given.
  template <typename Visit>
  void each(std::uint64_t key, Visit&& visit) {
    for (std::uint32_t at = bucket(key); at != 0;) {
      T& slot = pool_.at(at - 1);
      at = (slot.*place).next;
      if ((slot.*place).key == key) visit(slot);
    }
  }

 private:
  std::uint32_t& bucket(std::uint64_t key) {
    // Fibonacci hashing: names are small numbers, dense in their lower bits.
    return buckets_[static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> (64U - bits_))];
  }
  void link(T& slot) {
    std::uint32_t& first = bucket((slot.*place).key);
    (slot.*place).next = first;
    first = slot.index + 1;
  }
  void grow() {
    const std::vector<std::uint32_t> old = std::move(buckets_);
    buckets_.assign(std::size_t{1} << ++bits_, 0);
    for (std::uint32_t at : old) {
      while (at != 0) {
        T& slot = pool_.at(at - 1);
        at = (slot.*place).next;
        link(slot);
      }
    }
  }

  Pool<T>& pool_;
  unsigned bits_ = 6;
  std::vector<std::uint32_t> buckets_;
  std::size_t size_ = 0;
};

}  // namespace redlock::core
