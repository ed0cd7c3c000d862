#pragma once

#include <uv.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>

#include "uv/blocked_threads.hpp"
#include "uv/callback.hpp"
#include "uv/loop_thread.hpp"

namespace redlock::api {

/// The loop of a client, and the callers that wait for it: a thread of its own, which can lend the
/// loop to blocked callers, or a loop of the caller's.
class ClientLoop {
 public:
  /// `loop` null: a thread of its own, which ends with `on_stop` (see uv::LoopThread). Returns the
  /// loop.
  uv_loop_t* open(uv_loop_t* loop, uv::Callback on_stop, uv::LoopThread::Lending lending);
  void start();
  /// Waits for the thread, if there is one.
  void stop() noexcept;
  [[nodiscard]] bool has_thread() const noexcept { return thread_.has_value(); }

  /// Whether this thread runs the loop: its own thread, a borrower, or the caller's.
  [[nodiscard]] bool is_mine() const noexcept;
  /// On a loop of the caller's: this thread runs it.
  void note_turn() noexcept;
  /// The thread is to take the loop up: there is a job.
  void want() noexcept {
    if (thread_) thread_->want();
  }

  // --- loans: see uv::LoopThread ---
  [[nodiscard]] bool lends() const noexcept { return thread_ && thread_->lends(); }
  [[nodiscard]] bool is_borrowed() const noexcept { return thread_ && thread_->is_borrowed(); }
  [[nodiscard]] bool try_borrow() noexcept { return thread_ && thread_->try_borrow(); }
  [[nodiscard]] bool is_wanted_back() const noexcept { return thread_->is_wanted_back(); }
  void turn() noexcept { thread_->turn(); }
  void give_back(bool at_once) noexcept { thread_->give_back(at_once); }

  // --- callers that wait without turning the loop ---
  void begin_waiting() noexcept {
    if (thread_) thread_->begin_waiting();
  }
  void wait(const uv::BlockedThreads::Wait& wait) noexcept { callers_.block(wait); }
  /// The caller is answered, and wakes together with all that are answered in this turn.
  void end_waiting(uv::BlockedThreads::Wait& wait) noexcept;
  void wake_answered() noexcept { answered_ += callers_.wake(); }
  /// At the end of a turn: how many callers were answered since the last call.
  [[nodiscard]] std::size_t take_answered() noexcept;
  /// After the turn of answered callers: if nobody waits, the thread leaves the loop to borrowers.
  void leave_to_borrowers() noexcept {
    if (thread_) thread_->leave_to_borrowers();
  }

 private:
  std::optional<uv::LoopThread> thread_;  // none: the caller's loop
  std::atomic<std::thread::id> caller_thread_{};
  uv::BlockedThreads callers_;
  std::size_t answered_ = 0;
};

}  // namespace redlock::api
