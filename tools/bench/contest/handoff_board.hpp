#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/contest/handoff_figures.hpp"
#include "bench/contest/shared_memory.hpp"

namespace redlock::bench {

/// Records of the contenders of a hand-over measurement, in memory that they share.
class HandoffBoard {
 public:
  /// Both throw std::runtime_error.
  static HandoffBoard create(const std::string& path, std::size_t contenders, std::size_t records);
  static HandoffBoard open(const std::string& path, std::size_t contenders, std::size_t records);

  /// Grants until now; a contender counts its own while it holds the lock.
  [[nodiscard]] std::atomic<std::uint64_t>& granted() const noexcept { return head().granted; }
  /// Contenders that finished their work.
  [[nodiscard]] std::atomic<std::uint64_t>& finished() const noexcept { return head().finished; }

  /// Adds a record of one contender; only that contender calls it. Drops the record if there are
  /// already as many as create() was given.
  void add(const HandoffRecord& record) const noexcept;
  /// The records of all, after they have finished.
  [[nodiscard]] std::vector<HandoffRecord> records() const;

 private:
  using Counter = std::atomic<std::uint64_t>;
  static_assert(Counter::is_always_lock_free, "otherwise processes cannot share it");
  struct alignas(64) Head {
    Counter granted;
    Counter finished;
  };
  struct alignas(8) Column {
    Counter count;
  };

  HandoffBoard(SharedMemory memory, std::size_t contenders, std::size_t records) noexcept;
  [[nodiscard]] static std::size_t size_of(std::size_t contenders, std::size_t records) noexcept;
  [[nodiscard]] Head& head() const noexcept;
  [[nodiscard]] Column& column(std::size_t contender) const noexcept;

  std::size_t contenders_;
  std::size_t capacity_;
  SharedMemory memory_;
};

}  // namespace redlock::bench
