#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "support/sockets.hpp"

namespace redlock::test {

/// A thread that repeats one turn of a poll loop. State that only turns and calls touch needs no
/// lock. The effect of a call is in force when it returns.
class LoopThread {
 public:
  /// `turn` waits in poll() for its own descriptors and for `wake_fd()`.
  explicit LoopThread(std::function<void()> turn);
  /// Returns when the thread has ended.
  ~LoopThread();
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  void start();
  /// Runs `task` on the thread between two turns and waits for it; not to be used from a turn.
  void call(const std::function<void()>& task);
  [[nodiscard]] int wake_fd() const noexcept { return wake_.fd(); }

 private:
  void run();

  std::function<void()> turn_;
  const pid_t owner_;
  WakeUp wake_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::deque<const std::function<void()>*> tasks_;
  std::size_t accepted_ = 0;
  std::size_t completed_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace redlock::test
