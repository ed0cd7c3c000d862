#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redlock::core {

/// A set of slots of a pool, visited in their order. Two levels of bits find a few slots among many
/// without a walk over all. The set never shrinks its memory.
class SlotSet {
 public:
  void add(std::uint32_t slot) {
    const std::size_t word = slot / bits;
    if (word >= words_.size()) {
      words_.resize(word + 1);
      summary_.resize(word / bits + 1);
    }
    words_[word] |= bit(slot);
    summary_[word / bits] |= bit(word);
  }
  void remove(std::uint32_t slot) noexcept {
    const std::size_t word = slot / bits;
    if (word >= words_.size()) return;
    words_[word] &= ~bit(slot);
    if (words_[word] == 0) summary_[word / bits] &= ~bit(word);
  }

  /// `visit` may add and remove slots: a change after the current slot takes effect at once.
  template <typename Visit>
  void each(Visit&& visit) const {
    for (std::size_t slot = next(0); slot != none; slot = next(slot + 1)) {
      ++visited_;
      visit(static_cast<std::uint32_t>(slot));
    }
  }
  [[nodiscard]] std::uint64_t visited() const noexcept { return visited_; }

 private:
  static constexpr std::size_t bits = 64;
  static constexpr std::size_t none = SIZE_MAX;
  static constexpr std::uint64_t bit(std::size_t at) noexcept {
    return std::uint64_t{1} << (at % bits);
  }
  static constexpr std::uint64_t from(std::size_t at) noexcept { return ~(bit(at) - 1); }

  /// The first slot of the set that is not below `slot`; `none`: there is none.
  [[nodiscard]] std::size_t next(std::size_t slot) const noexcept {
    std::size_t word = slot / bits;
    if (word >= words_.size()) return none;
    if (const std::uint64_t rest = words_[word] & from(slot); rest != 0) return first(word, rest);
    if (++word >= words_.size()) return none;
    std::uint64_t full = summary_[word / bits] & from(word);
    for (std::size_t at = word / bits;; full = summary_[at]) {
      if (full != 0) {
        word = first(at, full);
        return first(word, words_[word]);
      }
      if (++at == summary_.size()) return none;
    }
  }
  static std::size_t first(std::size_t word, std::uint64_t set) noexcept {
    return word * bits + static_cast<std::size_t>(std::countr_zero(set));
  }

  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> summary_;  ///< which words are not empty
  mutable std::uint64_t visited_ = 0;
};

}  // namespace redlock::core
