#pragma once

#include <uv.h>

#include <atomic>
#include <optional>
#include <thread>

#include "uv/callback.hpp"
#include "uv/loop.hpp"
#include "uv/wakeup.hpp"

namespace redlock::uv {

/// A loop and the thread that runs it. Handles are created on loop() before start(), or later by
/// callbacks on the loop's thread.
///
/// The thread is named "redlock" and blocks every signal: signals are the application's, and a
/// write to a dead peer must not raise SIGPIPE here.
class LoopThread {
 public:
  /// `on_stop` runs once, on the loop's thread (or in stop() if the thread was never started), and
  /// destroys everything that keeps the loop alive. A notify() not served yet may be lost with its
  /// Wakeup, so it looks itself at whatever those announce. Since the destructor may call it, what
  /// it touches is declared before this object.
  explicit LoopThread(Callback on_stop);
  /// Calls stop().
  ~LoopThread();
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  [[nodiscard]] uv_loop_t* loop() noexcept { return loop_.get(); }

  /// Once. Throws std::system_error when no thread can be created.
  void start();

  /// Waits until every handle is closed and the thread is gone; harmless when repeated. Not from
  /// the loop's thread, which cannot wait for itself. A name lookup that the system's resolver is
  /// busy with cannot be interrupted and is waited for.
  void stop() noexcept;

  [[nodiscard]] bool is_loop_thread() const noexcept {
    return std::this_thread::get_id() == running_on_.load();
  }

 private:
  void on_stop_requested() noexcept;

  Callback on_stop_;
  Loop loop_;
  std::optional<Wakeup> stop_;
  std::atomic<std::thread::id> running_on_{};
  std::thread thread_;
};

}  // namespace redlock::uv
