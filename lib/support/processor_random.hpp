#pragma once

#include <array>
#include <cstdint>

namespace redlock::support {

/// Random bits that no copy of this machine's memory contains.
using Mask = std::array<std::uint64_t, 2>;

/// Draws from the processor's own generator, without a system call. False: the processor has none
/// that we know (x86-64: RDRAND), or it failed; `mask` is then undefined.
[[nodiscard]] bool draw_from_processor(Mask& mask) noexcept;

}  // namespace redlock::support
