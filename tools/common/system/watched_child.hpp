#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "common/system/child_process.hpp"

namespace redlock::cli {

struct WatchedChild {
  ChildRequest request{};                  ///< its streams are set by the call
  std::string input{};                     ///< on its standard input; a few kilobytes at most
  std::chrono::milliseconds limit{0};      ///< it is killed after this time
  const std::atomic<int>* stop = nullptr;  ///< not zero: it is killed at once
  /// Of its standard output, without the line end.
  std::function<void(std::string_view line)> on_line{};
};

enum class ChildEnd { by_itself, stopped, too_late };

struct ChildOutcome {
  ChildEnd end = ChildEnd::by_itself;
  int status = 0;  ///< as of waitpid(); of one that ended by itself
};

/// Runs a program until it has closed its standard output; nothing of its process group is left
/// then. From the main thread. The other value is the errno of what failed.
[[nodiscard]] std::variant<ChildOutcome, int> run_watched(const WatchedChild& child,
                                                          const Signals& signals);

}  // namespace redlock::cli
