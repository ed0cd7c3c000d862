#pragma once

#include <cstdint>

namespace redlock::support {

/// A number that changes in the child after every `fork()`. Reading it needs no system call, unlike
/// `getpid()`, so each call of the library can compare it.
[[nodiscard]] std::uint64_t fork_generation() noexcept;

}  // namespace redlock::support
