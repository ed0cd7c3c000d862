#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace redlock::support {

/// Random numbers from the kernel, fetched a block at a time: for pauses, not for values that must
/// be unique in the world. A copy of the process, by fork() or of a whole virtual machine, repeats
/// the block. Thread safety: one thread at a time.
class SecureRandom {
 public:
  [[nodiscard]] std::uint64_t next() noexcept;

 private:
  std::array<std::uint8_t, 2048> block_{};
  std::size_t used_ = block_.size();
};

}  // namespace redlock::support
