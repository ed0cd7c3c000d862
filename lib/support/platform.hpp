#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <span>
#include <string_view>

#include "support/assert.hpp"

/// Differences between systems that need no event loop: platform_linux.cpp is for Linux,
/// platform_posix.cpp for all others (REDLOCK_PORTABLE=ON compiles the latter on Linux too).
namespace redlock::support {

/// The clock of every deadline: monotonic, the same in all processes, and it counts suspend.
extern const clockid_t boot_clock;

/// One clock_gettime(). Async-signal-safe.
[[nodiscard]] inline std::chrono::nanoseconds boot_time() noexcept {
  timespec now{};
  REDLOCK_ASSERT(clock_gettime(boot_clock, &now) == 0);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// Fills `out` from the kernel, and blocks until the kernel's source has been seeded. Ends the
/// program if that fails: weaker randomness is not an alternative, as a token that repeats can
/// delete somebody else's lock.
void fill_random(std::span<std::uint8_t> out) noexcept;

/// No SIGPIPE for writes to a socket whose peer is gone: the flag for every send(), and a setting
/// for each socket on systems without such a flag.
extern const int send_without_sigpipe;
void prevent_sigpipe(int socket) noexcept;

/// Keeps an idle TCP connection alive in the devices on its way, and ends one whose peer is gone.
/// After a minute of silence the kernel sends probes. It gives up when three probes, or sent data,
/// went unanswered for `silence_allowed`. Systems that support less do what they can.
inline constexpr std::chrono::seconds silence_allowed{90};
void keep_alive(int socket) noexcept;

/// How this program was called, without its folder.
[[nodiscard]] std::string_view program_name() noexcept;

/// For debuggers. Does nothing on systems that cannot name threads.
void name_this_thread(const char* name) noexcept;

}  // namespace redlock::support
