#pragma once

#include <csignal>

namespace redlock::cli {

/// The signal mask and the dispositions with which children begin. As it is here: nothing is
/// blocked, and both have the default.
struct ChildSignals {
  sigset_t mask{};
  struct sigaction pipe {};
  struct sigaction child {};

  /// For a forked child; false with errno when it fails. Async-signal-safe.
  [[nodiscard]] bool restore() const noexcept {
    return ::sigaction(SIGPIPE, &pipe, nullptr) == 0 &&
           ::sigaction(SIGCHLD, &child, nullptr) == 0 &&
           ::sigprocmask(SIG_SETMASK, &mask, nullptr) == 0;
  }
};

}  // namespace redlock::cli
