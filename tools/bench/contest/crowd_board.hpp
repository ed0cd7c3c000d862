#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "bench/contest/shared_memory.hpp"

namespace redlock::bench {

/// Counters of a crowd's clients, in memory that their processes share.
class CrowdBoard {
 public:
  using Counter = std::atomic<std::uint64_t>;
  static_assert(Counter::is_always_lock_free, "otherwise processes cannot share it");

  /// The counters of all clients. They count only during the measurement, except for `inside` and
  /// `overlaps`.
  struct alignas(64) Head {
    Counter counting;  ///< 1 while it is measured
    Counter inside;    ///< clients that hold the lock
    Counter overlaps;  ///< grants while another client held it
    Counter failures;
  };
  /// The counters of one client. Times are those of handoff_now().
  struct alignas(64) Client {
    Counter grants;
    Counter longest_wait_ns;
    Counter waits_since;  ///< when its wait began; 0: it does not wait
  };

  /// Both throw std::runtime_error.
  static CrowdBoard create(const std::string& path, std::size_t clients) {
    return {SharedMemory::create(path, size_of(clients)), clients};
  }
  static CrowdBoard open(const std::string& path, std::size_t clients) {
    return {SharedMemory::open(path, size_of(clients)), clients};
  }

  // New memory is full of zeros, and so are the counters in it: nothing has to be constructed.
  [[nodiscard]] Head& head() const noexcept { return *static_cast<Head*>(memory_.data()); }
  [[nodiscard]] std::span<Client> clients() const noexcept {
    return {reinterpret_cast<Client*>(static_cast<char*>(memory_.data()) + sizeof(Head)), clients_};
  }

 private:
  CrowdBoard(SharedMemory memory, std::size_t clients) noexcept
      : memory_(std::move(memory)), clients_(clients) {}
  [[nodiscard]] static std::size_t size_of(std::size_t clients) noexcept {
    return sizeof(Head) + clients * sizeof(Client);
  }

  SharedMemory memory_;
  std::size_t clients_;
};

}  // namespace redlock::bench
