#pragma once

#include <stdexcept>
#include <string>

#include "bench/contest/handoff_contender.hpp"
#include "bench/contest/handoff_figures.hpp"
#include "bench/contest/handoff_report.hpp"
#include "common/system/signals.hpp"

namespace redlock::cli {

/// Two contenders held the lock at once.
struct HandoffViolation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One run: new contenders, a lap to warm up, and then as many acquisitions as the request says.
/// Throws HandoffViolation, other std::runtime_error, and ContendersInterrupted.
[[nodiscard]] HandoffFigures run_handoff(HandoffRequest request, bench::HandoffPattern pattern,
                                         const std::string& folder, const Signals& signals);

}  // namespace redlock::cli
