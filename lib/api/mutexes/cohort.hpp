#pragma once

#include <cstdint>

#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::api {

/// The threads of one process that share one lock. Decides which of them has the *local lock*, and
/// whether a holder that unlocks passes its lease on to the next thread or releases it at the
/// nodes.
///
/// Fairness is that of Go's sync.Mutex. A free local lock belongs to the first thread that asks,
/// even while others wait: a running thread costs no change of threads, which takes a hundred times
/// as long as a short turn. A thread that has waited for `patience` gets the lock by direct
/// hand-over, the longest waiting thread first, and no other thread gets it before. Between two
/// hand-overs, running threads have one `slice`: without it, as soon as all have waited for
/// `patience`, every turn would cost a change of threads. So the k-th thread in the queue has the
/// lock no later than after `patience` and k slices and turns.
///
/// Has no threads and no clock: the caller guards it with a mutex and passes the time.
class Cohort {
 public:
  static constexpr std::uint32_t most_passes = 16;
  static constexpr core::Duration patience = std::chrono::milliseconds(1);
  static constexpr core::Duration slice = std::chrono::microseconds(100);

  struct Terms {
    core::Duration ttl{};
    bool passes = true;  ///< whether leases are passed on; if not, each thread acquires its own
  };

  /// The current lease. Without a live lease, nothing is passed.
  struct LeaseState {
    bool live = false;
    core::Instant valid_until{};
    core::OtherClients others = core::OtherClients::unknown;
  };

  /// A thread that waits. It must not move until the thread has the local lock or cancels.
  class Waiter {
   public:
    Waiter() = default;
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

   private:
    friend class Cohort;
    core::Instant since_{};
    Waiter* next_ = nullptr;
    Waiter* previous_ = nullptr;
    bool handed_over_ = false;
  };

  explicit Cohort(Terms terms) noexcept : terms_(terms) {}

  /// For a running thread: takes the local lock if it is free, and returns whether it did.
  [[nodiscard]] bool enter() noexcept;
  void queue(Waiter& waiter, core::Instant now) noexcept;
  /// For a queued thread that runs, for whatever reason: returns whether it has the local lock now,
  /// and is thus no longer queued.
  [[nodiscard]] bool enter(Waiter& waiter, core::Instant now) noexcept;
  /// For a queued thread that did not get the lock from `enter`.
  void cancel(Waiter& waiter) noexcept;
  /// The holder gives the local lock up. Returns the thread to wake; null: none.
  [[nodiscard]] Waiter* leave(core::Instant now) noexcept;

  /// The holder of the local lock has acquired a lease at the nodes.
  void granted(core::Instant now, core::Instant valid_until) noexcept;
  /// Whether a holder that unlocks leaves its lease to the next thread.
  [[nodiscard]] bool passes(const LeaseState& lease, core::Instant now) const noexcept;
  /// For the thread that enters after a lease was passed: whether the lease is still good enough.
  [[nodiscard]] bool takes(const LeaseState& lease, core::Instant now) noexcept;
  /// Whether the caller is to find out about `core::OtherClients`: true at most once for each
  /// lease, as soon as a thread waits for it.
  [[nodiscard]] bool asks(const LeaseState& lease) noexcept;

 private:
  [[nodiscard]] bool is_good(const LeaseState& lease, core::Instant now) const noexcept;
  void remove(Waiter& waiter) noexcept;

  Terms terms_;
  bool taken_ = false;
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  Waiter* awake_ = nullptr;  // woken, and has not run since: no need to wake another one
  core::Instant slice_began_ = core::Instant::min();

  // Facts about the current lease.
  core::Instant granted_{};
  std::uint32_t passed_ = 0;
  bool asked_ = false;
};

}  // namespace redlock::api
