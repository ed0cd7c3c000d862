#pragma once

#include <cstdint>
#include <string_view>

namespace redlock::core {

/// The answer of a replicated node's primary after a write: its record, and the replicas that
/// follow.
struct ReignReading {
  std::string_view record{};       ///< word for word; empty: there is none
  std::uint64_t acknowledged = 0;  ///< replicas that have acknowledged the write
  std::uint64_t attachments = 0;   ///< how often a replica has attached, read after that
  std::uint64_t attached = 0;      ///< replicas that are attached and in step, read after that
  std::string_view refused{};      ///< instead of all that: the command that the server refused
};

}  // namespace redlock::core
