#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/system/descriptor.hpp"

namespace redlock::chaos {

/// The counter that the contenders guard with their locks: a number in a file, which all of them
/// increase, and the largest fencing token of any read or write. A smaller token is refused, so an
/// update is lost only if the lock failed. A holder that was stopped between its check of the lease
/// and its write is refused, because its successor has already read with a larger token.
///
/// A foreign contender has no token, and leaves the one it finds. Its updates are compare-and-set
/// on both numbers, and ours on the value: a late writer is refused.
class CounterFile {
 public:
  /// Throws std::system_error.
  explicit CounterFile(const std::filesystem::path& file);

  /// The value; none: the token was refused.
  [[nodiscard]] std::optional<std::uint64_t> read(std::uint64_t token);
  enum class Written { yes, refused };
  /// Refuses a smaller token, and a value that is no longer `from`.
  [[nodiscard]] Written write(std::uint64_t from, std::uint64_t to, std::uint64_t token);

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
