#pragma once

#include "redlock/error.hpp"

namespace redlock::cli {

/// The exit codes. COMMAND's own codes pass through `run` unchanged; a signal that ends either is
/// 128 + its number.
enum class ExitCode : int {
  done = 0,
  failure = 1,
  usage = 64,
  unavailable = 69,
  lost = 74,
  taken = 75,
  not_holder = 76,
  not_executable = 126,
  not_found = 127,
};

[[nodiscard]] constexpr int code(ExitCode exit_code) noexcept {
  return static_cast<int>(exit_code);
}

[[nodiscard]] constexpr int code_of_signal(int signal) noexcept { return 128 + signal; }

[[nodiscard]] constexpr ExitCode exit_code_of(Errc errc) noexcept {
  switch (errc) {
    case Errc::held:
    case Errc::split:
      return ExitCode::taken;
    case Errc::unavailable:
    case Errc::excluded:
    case Errc::expired:
    case Errc::limit_reached:
      return ExitCode::unavailable;
    case Errc::not_holder:
      return ExitCode::not_holder;
    case Errc::invalid_argument:
      return ExitCode::usage;
    case Errc::cancelled:
    case Errc::closed:
    case Errc::forked:
    case Errc::would_block:
      return ExitCode::failure;
  }
  return ExitCode::failure;
}

}  // namespace redlock::cli
