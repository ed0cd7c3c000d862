#pragma once

namespace redlock::cli {

/// The whole program. Never throws; gives the exit code.
[[nodiscard]] int run_program(int argc, char** argv) noexcept;

}  // namespace redlock::cli
