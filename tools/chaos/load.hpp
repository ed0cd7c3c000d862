#pragma once

#include <sys/types.h>

#include "common/system/signals.hpp"

namespace redlock::chaos {

/// The verb of the process that keeps the machine busy; no help names it.
inline constexpr const char* load_verb = "chaos-load";

/// While it lives, a process of many threads keeps all processors busy, at a lower priority than
/// servers and contenders.
class Load {
 public:
  /// Starts the process. Called from the main thread. Throws std::runtime_error.
  explicit Load(const cli::Signals& signals);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  pid_t pid_;
};

/// The main function of that process, which ends when it is killed, at the latest with its parent.
[[noreturn]] void run_load();

}  // namespace redlock::chaos
