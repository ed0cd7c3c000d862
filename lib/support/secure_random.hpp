#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace redlock::support {

/// Random bytes from the kernel, fetched a block at a time: a system call for every
/// token would be one more in each lock cycle.
///
/// Not for use on both sides of a `fork()`: the child would repeat the parent's block. A client is
/// unusable in the child for this reason among others. Thread safety: one thread at a time.
class SecureRandom {
 public:
  void fill(std::span<std::uint8_t> out) noexcept;
  [[nodiscard]] std::uint64_t next() noexcept;

 private:
  void refill() noexcept;

  std::array<std::uint8_t, 2048> block_{};
  std::size_t used_ = block_.size();
};

}  // namespace redlock::support
