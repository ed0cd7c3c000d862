#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/containers/pool.hpp"

namespace redlock::core {

/// A slot's link in a PoolIndex, with as many low bits of the number as `Key` has room for.
template <typename Key = std::uint64_t>
struct PoolIndexHook {
  static constexpr std::uint32_t nowhere = UINT32_MAX;
  Key key = 0;
  std::uint32_t next = nowhere;  ///< the next slot of the bucket, as its index + 1; 0: none;
                                 ///< `nowhere`: this slot is not in the PoolIndex

  [[nodiscard]] bool taken() const noexcept { return next != nowhere; }
};

/// Finds the slots of a pool by a number that several slots can share. The chains run through the
/// slots, so the index allocates only when it holds more slots than ever before. If `Key` is
/// narrower than the number, slots with another number can be visited as well.
template <typename T, auto hook>
class PoolIndex {
 public:
  explicit PoolIndex(Pool<T>& pool) : pool_(pool), buckets_(std::size_t{1} << bits_) {}

  void add(T& slot, std::uint64_t key) {
    if ((slot.*hook).taken()) return;
    if (size_ == buckets_.size()) grow();
    ++size_;
    (slot.*hook).key = static_cast<Key>(key);
    link(slot);
  }

  void remove(T& slot) {
    if (!(slot.*hook).taken()) return;
    --size_;
    std::uint32_t* at = &bucket((slot.*hook).key);
    while (*at != slot.index + 1) at = &(pool_.at(*at - 1).*hook).next;
    *at = std::exchange((slot.*hook).next, nowhere);
  }

  /// `visit` may remove the slot that it is given.
  template <typename Visit>
  void each(std::uint64_t key, Visit&& visit) {
    const auto kept = static_cast<Key>(key);
    for (std::uint32_t at = bucket(kept); at != 0;) {
      T& slot = pool_.at(at - 1);
      at = (slot.*hook).next;
      if ((slot.*hook).key == kept) visit(slot);
    }
  }

 private:
  using Key = decltype((std::declval<T&>().*hook).key);
  static constexpr std::uint32_t nowhere = PoolIndexHook<Key>::nowhere;

  std::uint32_t& bucket(std::uint64_t key) {
    // Fibonacci hashing: names are small numbers, dense in their lower bits.
    return buckets_[static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> (64U - bits_))];
  }
  void link(T& slot) {
    std::uint32_t& first = bucket((slot.*hook).key);
    (slot.*hook).next = first;
    first = slot.index + 1;
  }
  void grow() {
    const std::vector<std::uint32_t> old = std::move(buckets_);
    buckets_.assign(std::size_t{1} << ++bits_, 0);
    for (std::uint32_t at : old) {
      while (at != 0) {
        T& slot = pool_.at(at - 1);
        at = (slot.*hook).next;
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
