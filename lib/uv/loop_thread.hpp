#pragma once

#include <uv.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "uv/callback.hpp"
#include "uv/loop.hpp"
#include "uv/wakeup.hpp"

namespace redlock::uv {

/// A loop and the thread that runs it. Handles are created on loop() before start(), or later by
/// callbacks of the loop.
///
/// The thread is named "redlock" and blocks every signal: signals are the application's, and a
/// write to a dead peer must not raise SIGPIPE here.
///
/// A loop that may be lent is also turned by other threads, one at a time. A thread that would only
/// wait for the loop's next callback borrows the loop and waits in the kernel itself, which saves
/// two changes of threads. "The loop's thread" is the thread that turns it.
class LoopThread {
 public:
  enum class Lending : std::uint8_t { never, when_idle };

  /// `on_stop` runs once, on the loop's thread (or in stop() if the thread was never started), and
  /// destroys everything that keeps the loop alive. A notify() that was not served may be lost with
  /// its Wakeup, so `on_stop` checks by itself whatever a notify() would have announced. The
  /// destructor may call `on_stop`, so everything that it uses is declared before this object.
  explicit LoopThread(Callback on_stop, Lending lending = Lending::never);
  /// Calls stop().
  ~LoopThread();
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  [[nodiscard]] uv_loop_t* loop() noexcept { return loop_.get(); }

  /// Called once. Throws std::system_error when no thread can be created.
  void start();

  /// Waits until every handle is closed and the thread is gone; harmless when repeated. Must not be
  /// called from the loop's thread, which cannot wait for itself.
  void stop() noexcept;

  [[nodiscard]] bool is_loop_thread() const noexcept {
    return std::this_thread::get_id() == turned_by_.load(std::memory_order_acquire);
  }
  /// Whether the thread that turns the loop at this moment has borrowed it.
  [[nodiscard]] bool is_borrowed() const noexcept { return borrowed_; }

  [[nodiscard]] bool lends() const noexcept { return lending_ == Lending::when_idle; }

  // --- lending; any thread ---

  /// Borrows the loop for this thread if nobody turns it and nobody waits for another thread to
  /// turn it. Returns whether it did.
  [[nodiscard]] bool try_borrow() noexcept;
  /// For the borrower: one turn, which waits until something happens.
  void turn() noexcept { uv_run(loop_.get(), UV_RUN_ONCE); }
  /// For the borrower: whether to give the loop back now.
  [[nodiscard]] bool is_wanted_back() const noexcept { return stopping_; }
  /// Ends the loan. The loop's own thread takes the loop up again at once if `at_once`, if
  /// something is due, or if somebody waits. Otherwise it does so when no other loan has followed
  /// for a millisecond or two: waking it after every loan would cost what borrowing saves.
  void give_back(bool at_once) noexcept;
  /// The thread takes the loop up as soon as it is free: called when a Wakeup was notified.
  void want() noexcept;

  /// The loop is not lent while a thread waits for it without turning it. The wait is ended by the
  /// waiting thread, or by the loop's callback that answers it.
  void begin_waiting() noexcept;
  void end_waiting() noexcept { --waiting_; }
  /// Called after `end_waiting()`, once for any number of calls: if nobody waits, the thread leaves
  /// the loop to borrowers.
  void leave_to_borrowers() noexcept;

 private:
  void run() noexcept;
  void run_and_lend() noexcept;
  void on_woken() noexcept;
  void wake(std::unique_lock<std::mutex> lock) noexcept;

  Callback on_stop_;
  const Lending lending_;
  Loop loop_;
  std::optional<Wakeup> wakeup_;  // reset under mutex_ after the stop
  std::atomic<bool> stopping_{false};
  std::atomic<std::thread::id> turned_by_{};
  bool borrowed_ = false;  // belongs to the loop's thread
  /// Number of waiting threads. The first one makes the thread take the loop up, under mutex_; for
  /// all others the thread already has the loop.
  std::atomic<std::uint64_t> waiting_{0};

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool turning_ = false;
  bool watching_ = false;  // the thread waits for the loop without turning it
  bool wanted_ = false;    // the thread is to take the loop up
  bool sleeping_ = false;  // the thread sleeps until this loan ends
  std::uint64_t loans_ = 0;

  std::thread thread_;
};

}  // namespace redlock::uv
