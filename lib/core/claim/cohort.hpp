#pragma once

#include <cstdint>

#include "core/engine/messages.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// The threads of one process that share one lock: which of them has the *local lock*, and whether
/// a holder that unlocks passes its lease on to the next one or releases it at the nodes.
///
/// Fairness is that of Go's sync.Mutex. A free local lock belongs to the first thread that asks,
/// also ahead of those that wait: a thread that runs costs no change of threads, which takes a
/// hundred times as long as a short turn. A thread that has waited for `patience` gets the lock by
/// direct hand-over, the longest waiting first, and nobody is ahead of it. Between two hand-overs,
/// running threads have one `slice`: without it, once all have waited for so long, every turn would
/// cost a change of threads. So the k-th in the queue has the lock no later than after `patience`
/// and k slices and turns.
///
/// No threads, no clock: the caller guards it with a mutex and says what time it is.
class Cohort {
 public:
  static constexpr std::uint32_t most_passes = 16;
  static constexpr Duration patience = std::chrono::milliseconds(1);
  static constexpr Duration slice = std::chrono::microseconds(100);

  struct Terms {
    Duration ttl{};
    bool passes = true;  ///< no: each thread acquires a lease of its own
  };

  /// The lease as it is now. Without one, nothing is passed.
  struct LeaseState {
    bool live = false;
    Instant valid_until{};
    OtherClients others = OtherClients::unknown;
  };

  /// A thread that waits. It stays where it is until the thread has the local lock or cancels.
  class Waiter {
   public:
    Waiter() = default;
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

   private:
    friend class Cohort;
    Instant since_{};
    Waiter* next_ = nullptr;
    Waiter* previous_ = nullptr;
    bool handed_over_ = false;
  };

  explicit Cohort(Terms terms) noexcept : terms_(terms) {}

  /// Of a running thread: whether the local lock was free, and is its own now.
  [[nodiscard]] bool enter() noexcept;
  void queue(Waiter& waiter, Instant now) noexcept;
  /// Of a queued thread that runs, for whatever reason: whether it has the local lock. It is then
  /// no longer queued.
  [[nodiscard]] bool enter(Waiter& waiter, Instant now) noexcept;
  /// Of a queued thread that does not have the lock after `enter`.
  void cancel(Waiter& waiter) noexcept;
  /// The holder gives the local lock up. The thread to wake, if there is one.
  [[nodiscard]] Waiter* leave(Instant now) noexcept;

  /// The holder of the local lock has acquired a lease at the nodes.
  void granted(Instant now, Instant valid_until) noexcept;
  /// Whether a holder that unlocks leaves its lease to the next thread.
  [[nodiscard]] bool passes(const LeaseState& lease, Instant now) const noexcept;
  /// Of the thread that enters after that: whether the lease is still good enough.
  [[nodiscard]] bool takes(const LeaseState& lease, Instant now) noexcept;
  /// Whether the caller is to find out about `OtherClients`: true at most once for a lease, as soon
  /// as a thread waits for it.
  [[nodiscard]] bool asks(const LeaseState& lease) noexcept;

 private:
  [[nodiscard]] bool is_good(const LeaseState& lease, Instant now) const noexcept;
  void remove(Waiter& waiter) noexcept;

  Terms terms_;
  bool taken_ = false;
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  Waiter* awake_ = nullptr;  // it was woken and did not run yet: no need to wake another one
  Instant slice_began_ = Instant::min();

  // Of the lease:
  Instant granted_{};
  std::uint32_t passed_ = 0;
  bool asked_ = false;
};

}  // namespace redlock::core
