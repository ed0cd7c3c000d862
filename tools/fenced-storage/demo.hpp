#pragma once

#include "fenced-storage/command_line.hpp"

namespace redlock::fenced {

/// Prints, line by line, how a holder that was paused past the end of its lease writes late. The
/// exit code is 0 only if the storage refused the write and kept the newer value. Throws
/// DemoFailure, and std::runtime_error when the servers cannot be started. Call it from the main
/// thread, before there is any other.
[[nodiscard]] int run_demo(const DemoRequest& request);

}  // namespace redlock::fenced
