#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/system/descriptor.hpp"

namespace redlock::chaos {

/// The counter that the contenders guard with their locks: a number in a file that all increase,
/// and the largest fencing token of any read or write. A smaller token is refused, so that an
/// update can only be lost if the lock failed: a holder that was stopped between its check of the
/// lease and its write finds the token of its successor, which has read before.
///
/// A foreign contender has no token, and leaves the one it finds. Its updates are compare-and-set
/// on both numbers, and ours on the value: a late writer is refused.
class CounterFile {
 public:
  /// Throws std::system_error.
  explicit CounterFile(const std::filesystem::path& file);

  /// None: refused.
  [[nodiscard]] std::optional<std::uint64_t> read(std::uint64_t token);
  enum class Written { yes, refused };
  /// Also refused if the value is no longer `from`.
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
