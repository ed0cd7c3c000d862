#pragma once

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "common/system/child_signals.hpp"
#include "common/system/platform.hpp"

namespace redlock::cli {

/// Takes the signals of the process into a descriptor. Made by main() before any thread starts, so
/// that all threads inherit the mask and no signal is ever handled in the midst of anything.
/// Signals that were ignored at the start (nohup, background jobs) stay ignored.
class Signals {
 public:
  /// Throws std::system_error.
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Readable when a signal is waiting.
  [[nodiscard]] int fd() const noexcept { return queue_->fd(); }
  [[nodiscard]] std::optional<int> take() const noexcept { return queue_->take(); }

  /// Those with which this process was started.
  [[nodiscard]] const ChildSignals& for_children() const noexcept { return original_; }

 private:
  ChildSignals original_{};
  std::optional<platform::SignalQueue> queue_;
};

/// Whether a signal asks this process to end (and not to stop, to go on, or to redraw).
[[nodiscard]] bool ends_process(int signal) noexcept;

/// Thrown when a signal comes while something is being started: everything is undone on the way to
/// main().
struct EndedBySignal {
  int signal;
};

/// "SIGTERM"; "signal 40" for one that has no name on every system. (sigabbrev_np() is not in musl,
/// and in glibc from 2.32 on.)
[[nodiscard]] std::string name_of_signal(int signal);

/// Watches for signals while the main thread is busy in a blocking call. At the first one that ends
/// a process it calls `on_end` with its number, from its own thread, once; a request to stop
/// (Ctrl-Z) stops the process.
class SignalWatcher {
 public:
  SignalWatcher(const Signals& signals, std::function<void(int)> on_end);
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  /// Ends the watching; the signals that come later stay for others. The one that was seen, or 0.
  int finish();

 private:
  void watch();

  const Signals& signals_;
  std::function<void(int)> on_end_;
  platform::Wakeup finish_;
  int seen_ = 0;
  std::thread thread_;
};

}  // namespace redlock::cli
