#pragma once

#include <chrono>
#include <stop_token>

namespace redlock::cli {

/// Waits until `over` is requested, or until the time `limit` has passed. `forever` is allowed.
void wait_for_end(const std::stop_token& over, std::chrono::nanoseconds limit);

}  // namespace redlock::cli
