#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What a server says about its memory, and what changed since its marker was written.
namespace redlock::core {

/// A server's own statements, all from one answer.
struct NodeMemory {
  /// The replication id. If the server has evicted keys, "+" and their number follow. The marker
  /// holds this text.
  std::string history{};
  /// The process never loaded another server's data: it has no second replication id, and has
  /// received nothing as a replica. False if the server does not say so.
  bool own_data = false;
  /// The eviction policy is noeviction. False if the server does not say so.
  bool keeps_keys = false;

  friend bool operator==(const NodeMemory&, const NodeMemory&) = default;
};

/// The replication id of a history, as a marker holds it.
[[nodiscard]] std::string_view replication_id(std::string_view history) noexcept;
/// How many keys had been evicted, by the history in a marker.
[[nodiscard]] std::uint64_t evictions_in(std::string_view history) noexcept;

/// The meaning of two successive numbers of evicted keys of one process.
enum class Evictions : std::uint8_t {
  none,     ///< the number is the same
  some,     ///< keys were evicted in between
  unknown,  ///< an operator reset the number; the server does not evict now
};
/// A number that falls was reset by an operator (CONFIG RESETSTAT), which neither evicts a key nor
/// proves that none was evicted. The policy, read together with `now`, decides.
[[nodiscard]] Evictions evictions_between(std::uint64_t before, std::uint64_t now,
                                          bool keeps_keys) noexcept;

/// What happened to a server process since the marker with the history `marked` was written.
enum class MemoryChange : std::uint8_t {
  none,            ///< also if the replication id changed because somebody copied the data
  counters_reset,  ///< its number of evictions was reset; the marker is to be written again
  evicted,         ///< it has evicted keys
  role,            ///< it was a replica, and may have another server's data
};
[[nodiscard]] MemoryChange change_of_memory(std::string_view marked,
                                            const NodeMemory& now) noexcept;

/// Whether a server may have forgotten locks by the change.
[[nodiscard]] constexpr bool forgets(MemoryChange change) noexcept {
  return change == MemoryChange::evicted || change == MemoryChange::role;
}

}  // namespace redlock::core
