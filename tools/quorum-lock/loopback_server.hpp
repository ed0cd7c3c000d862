#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::cli {

/// What is needed to run private servers on loopback.

/// A port that is free now. Throws std::runtime_error.
[[nodiscard]] std::uint16_t pick_loopback_port();

/// In TMPDIR or /tmp. Throws std::runtime_error.
[[nodiscard]] std::string make_temporary_directory();

/// What the server on this port answers to a line, up to a line of the answer that has `wanted` in
/// it; empty when nobody answers within a second.
[[nodiscard]] std::string ask_loopback_server(std::uint16_t port, std::string_view line,
                                              std::string_view wanted);

/// Whether the server on this port is this process: another one that was quicker to take the port
/// would answer too.
[[nodiscard]] bool answers_as(std::uint16_t port, pid_t pid);

/// Whether a child has ended; it is left to be reaped, so that its number stays ours.
[[nodiscard]] bool has_ended(pid_t pid);

void kill_and_reap(pid_t pid) noexcept;

}  // namespace redlock::cli
