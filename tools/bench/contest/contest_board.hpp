#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/contest/contest_figures.hpp"

namespace redlock::bench {

/// Counters and records of all contenders, in a file that their processes map into memory: a
/// contender must not wake the parent while others are measured.
class ContestBoard {
 public:
  using Counter = std::atomic<std::uint64_t>;
  static_assert(Counter::is_always_lock_free, "otherwise processes cannot share it");

  struct alignas(64) Head {
    Counter granted;   ///< grants until now; a contender counts its own while it holds the lock
    Counter finished;  ///< contenders that have obeyed the last order
    Counter failures;  ///< acquires that failed
    Counter records;   ///< records until now, even those without room
  };

  /// With room for `records`. Both throw std::runtime_error.
  static ContestBoard create(const std::string& path, std::size_t records);
  static ContestBoard open(const std::string& path, std::size_t records);
  ContestBoard(ContestBoard&& other) noexcept;
  ContestBoard& operator=(ContestBoard&&) = delete;
  ContestBoard(const ContestBoard&) = delete;
  ContestBoard& operator=(const ContestBoard&) = delete;
  ~ContestBoard();

  [[nodiscard]] Head& head() const noexcept { return *static_cast<Head*>(data_); }
  /// Drops the record if there is no room.
  void add(const ContestRecord& record) const noexcept;
  /// The records of all contenders, after they have finished.
  [[nodiscard]] std::vector<ContestRecord> records() const;

 private:
  ContestBoard(const std::string& path, int flags, std::size_t records);
  [[nodiscard]] std::size_t size() const noexcept {
    return sizeof(Head) + room_ * sizeof(ContestRecord);
  }

  std::size_t room_;
  void* data_;
};

}  // namespace redlock::bench
