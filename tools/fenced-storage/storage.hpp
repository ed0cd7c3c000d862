#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "fenced-storage/storage_url.hpp"

struct redisContext;

namespace redlock::fenced {

/// Fencing tokens stay below this: beyond it Lua's numbers are no longer all integers.
inline constexpr std::uint64_t fencing_token_end = std::uint64_t{1} << 53;

/// The storage cannot be reached, or it answered with an error. One line.
class StorageError : public std::runtime_error {
 public:
  explicit StorageError(const std::string& line) : std::runtime_error(line) {}
};

/// A key-value storage that refuses stale writers: the half of fencing that no lock can do.
///
/// A lease ends by time. Its holder can be paused for longer than that (SIGSTOP, swap, a suspended
/// machine), and its write can be under way for longer than that. Then somebody else holds the
/// lock, and the old holder does not know. Asking `lease.valid()` before the write narrows the gap
/// and does not close it: the pause may come between the check and the write. Only the storage sees
/// the writes in the order in which they happen, and the fencing tokens show which lease is the
/// older one (Kleppmann, How to do distributed locking, 2016). So it remembers the largest token
/// that it has seen for each key, and refuses a write with a smaller one.
///
/// Throws StorageError. Thread safety: for one thread at a time.
class Storage {
 public:
  struct Record {
    std::string value{};
    std::string token{};  ///< of the lease that wrote it; empty: it was written without one
  };

  /// Connects.
  explicit Storage(const StorageUrl& url);

  /// None: written. Otherwise nothing was changed, and this is the larger token that was there
  /// before. Safe to repeat with the same token when an answer was lost.
  [[nodiscard]] std::optional<std::uint64_t> write(const std::string& key, const std::string& value,
                                                   std::uint64_t token);

  /// The write of a storage without fencing: the last writer wins, however stale.
  void write_unfenced(const std::string& key, const std::string& value, std::uint64_t token);

  [[nodiscard]] std::optional<Record> read(const std::string& key);

 private:
  struct Close {
    void operator()(redisContext* context) const noexcept;
  };
  std::unique_ptr<redisContext, Close> context_;
};

/// The message for a refused writer, one line.
[[nodiscard]] std::string refusal(std::uint64_t token, std::uint64_t newer);

}  // namespace redlock::fenced
