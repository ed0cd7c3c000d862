#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "support/processor_random.hpp"

namespace redlock::support {

/// Where random bits come from: this machine, or a test.
class EntropySource {
 public:
  virtual void fill_from_kernel(std::span<std::uint64_t> out) noexcept = 0;
  [[nodiscard]] virtual bool draw_from_processor(Mask& mask) noexcept = 0;

 protected:
  ~EntropySource() = default;
};

[[nodiscard]] EntropySource& entropy_of_this_machine() noexcept;

/// Random numbers that are unique in the world, also if the virtual machine is copied or the
/// process forks, and that seldom need a system call.
///
/// The rule: **what is kept from one turn to the next yields nothing without a draw that copies do
/// not share.** Each turn that needs numbers begins with that draw, and only the turn's own numbers
/// use it. (A copy that is made in the middle of a turn shares what the turn has drawn, as it
/// shares the requests that wait to be sent.)
///
/// - If the processor can draw, it draws a mask for the turn. A number is the XOR of the mask and
/// of
///   bits from the kernel, which are fetched a block at a time and used once. The kernel's bits
///   make the numbers of one copy different; the mask makes those of two copies different. The mask
///   also protects against a kernel that does not notice that its machine was copied, and whose
///   copies repeat its numbers for a while.
/// - Otherwise the kernel's bits are fetched anew: as many as the last turn needed.
///
/// Thread safety: one thread at a time.
class SecureRandom {
 public:
  explicit SecureRandom(EntropySource& source = entropy_of_this_machine()) noexcept
      : source_(source) {}

  void fill(std::span<std::uint64_t> out) noexcept;

  /// To be called before anybody waits for anything: the next number begins another turn.
  void end_turn() noexcept { in_turn_ = false; }

 private:
  void begin_turn() noexcept;
  void fetch() noexcept;

  EntropySource& source_;
  bool in_turn_ = false;
  std::uint64_t fork_generation_ = 0;
  Mask mask_{};
  bool masked_ = false;
  // The words between next_ and end_ are unused.
  std::array<std::uint64_t, 300> block_{};
  std::size_t next_ = 0;
  std::size_t end_ = 0;
  std::size_t drawn_ = 0;   // words of this turn
  std::size_t needed_ = 0;  // words of the last turn that needed any
};

}  // namespace redlock::support
