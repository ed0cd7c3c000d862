#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/membership/node_memory.hpp"

/// guard.lua for users who may not run scripts: the client reads, decides here, and writes in a
/// transaction under WATCH (lib/redis/handshake/handshake.cpp).
namespace redlock::core {

/// A node's own records, read while nobody else can write them.
struct GuardReading {
  std::string_view marker{};  ///< word for word; empty: there is none
  /// The rest of its quarantine; none: there is none; negative: it has no end.
  std::optional<std::chrono::milliseconds> quarantine{};
  std::optional<std::uint64_t> floor{};  ///< the floor of its fencing numbers
  std::chrono::microseconds time{};      ///< the node's clock
};

/// The client's knowledge of the node and of its own deployment.
struct GuardTerms {
  std::string_view run_id{};
  NodeMemory memory{};
  std::chrono::milliseconds max_ttl{};
  std::chrono::milliseconds quarantine{};
  bool durable = false;     ///< the node reports that it is durable, and the client trusts that
  std::string_view name{};  ///< the client's name for the node; empty: a marker cannot contain it
  std::string_view incarnation{};
};

/// Written in this order, so that a failure in between leaves no marker without its quarantine.
struct GuardWrites {
  std::optional<std::chrono::milliseconds> quarantine{};  ///< none: it stays as it is
  std::string_view why{};                                 ///< kept with the quarantine
  std::optional<std::uint64_t> floor{};                   ///< none: it stays as it is
  std::string marker{};
};

/// The writes that the node needs. None: the marker is of this process, and stays. A node whose
/// counters an operator has reset gets its marker with the new number, and keeps all that it is.
[[nodiscard]] std::optional<GuardWrites> guard_node(const GuardReading& reading,
                                                    const GuardTerms& terms);

}  // namespace redlock::core
