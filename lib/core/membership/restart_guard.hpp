#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What guard.lua does, for a user who may not run scripts: the client reads, decides here, and
/// writes in a transaction under WATCH (lib/redis/handshake/handshake.cpp).
namespace redlock::core {

/// What a node keeps about itself, read while nobody else may write it.
struct GuardReading {
  std::string_view marker{};  ///< word for word; empty: there is none
  /// What is left of its quarantine; none: it has none; negative: it has no end.
  std::optional<std::chrono::milliseconds> quarantine{};
  std::optional<std::uint64_t> floor{};  ///< of its fencing numbers
  std::chrono::microseconds time{};      ///< the node's clock
};

/// What the client knows of the node and of its own deployment.
struct GuardTerms {
  std::string_view run_id{};
  std::string_view replid{};
  std::chrono::milliseconds max_ttl{};
  std::chrono::milliseconds quarantine{};
  bool durable = false;     ///< the node says that it loses nothing, and the client trusts it
  std::string_view name{};  ///< by which the client reaches it; empty: none that fits a marker
  std::string_view incarnation{};
};

/// In this order, so that a failure in between leaves no marker without its quarantine.
struct GuardWrites {
  std::optional<std::chrono::milliseconds> quarantine{};  ///< none: it stays as it is
  std::string_view why{};                                 ///< kept with the quarantine
  std::optional<std::uint64_t> floor{};                   ///< none: it stays as it is
  std::string marker{};
};

/// None: the marker is of this process in this role, and stays.
[[nodiscard]] std::optional<GuardWrites> guard_node(const GuardReading& reading,
                                                    const GuardTerms& terms);

}  // namespace redlock::core
