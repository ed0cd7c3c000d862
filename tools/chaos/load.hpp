#pragma once

#include <sys/types.h>

#include "quorum-lock/signals.hpp"

namespace redlock::chaos {

/// The verb of the process that keeps the machine busy; no help names it.
inline constexpr const char* load_verb = "chaos-load";

/// While it lives, a process of many threads wants all the time that the machine has. They are
/// nicer than servers and contenders, so that these get some.
class Load {
 public:
  /// From the main thread. Throws std::runtime_error.
  explicit Load(const cli::Signals& signals);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  pid_t pid_;
};

/// That process: it ends when it is killed, with its parent at the latest.
[[noreturn]] void run_load();

}  // namespace redlock::chaos
