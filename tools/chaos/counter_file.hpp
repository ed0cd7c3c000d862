#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "quorum-lock/descriptor.hpp"

namespace redlock::chaos {

/// What the contenders guard with their locks: a number in a file that all increase, and the
/// largest fencing token that came with a read or a write. Whoever comes with a smaller one is
/// refused, so that an update can only be lost if the lock failed: a holder that was stopped
/// between its look at the lease and its write finds the token of its successor, who has read
/// before.
class CounterFile {
 public:
  /// Throws std::system_error.
  explicit CounterFile(const std::filesystem::path& file);

  /// None: refused.
  [[nodiscard]] std::optional<std::uint64_t> read(std::uint64_t token);
  enum class Written { yes, refused };
  [[nodiscard]] Written write(std::uint64_t value, std::uint64_t token);

 private:
  struct Content {
    std::uint64_t value = 0;
    std::uint64_t token = 0;
  };
  [[nodiscard]] Content load() const;
  void store(Content content) const;

  cli::Descriptor file_;
};

}  // namespace redlock::chaos
