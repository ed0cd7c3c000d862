#pragma once

#include <cstdint>

namespace redlock::support {

/// A number that is another one in the child after every `fork()`. Read without a system call, so
/// that it can be compared at each call of the library (`getpid()` is one).
[[nodiscard]] std::uint64_t fork_generation() noexcept;

}  // namespace redlock::support
