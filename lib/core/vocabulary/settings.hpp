#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/vocabulary/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// The configuration of an engine. The driver has checked it.
struct Settings {
  std::vector<std::string> nodes;  ///< names for messages, without passwords
  /// Names the client on the nodes: its tokens begin with it. `Token::client_id_digits` hexadecimal
  /// digits; empty: tokens are as they were drawn.
  std::string client_id;
  /// The client's name for people; empty: the nodes store none.
  std::string name;
  std::size_t quorum = 1;
  Duration shortest_limit = std::chrono::milliseconds(250);
  Duration longest_limit = std::chrono::seconds(1);
  std::optional<Duration> connect_timeout{};  ///< none: longest_limit
  Duration max_ttl = limits::default_max_ttl;
  /// How long a node whose clock stepped has no vote.
  Duration quarantine = limits::default_max_ttl;
  /// Votes count only with the membership record that the handshake saw (marker.hpp).
  bool restart_guard = false;
  bool clock_guard = false;
  Duration clock_bound = std::chrono::seconds(1);
  /// Use plain commands instead of scripts if both suffice.
  bool plain_commands = true;
  /// Limit of a resource's name in bytes; callers with a prefix allow less.
  std::size_t longest_name = limits::resource_bytes;
  std::size_t max_unanswered = limits::unanswered_per_node;
  std::size_t max_operations = limits::operations;
  /// Idle leases that keep round memory: a lease that is released soon needs it again.
  std::size_t most_idle = 64;
  /// Up to this number of leases, each is renewed after a third of its TTL. Renewals of more leases
  /// are spread over time.
  std::size_t most_in_step = 256;

  /// How long the first attempt to connect may take.
  [[nodiscard]] Duration connect_limit() const noexcept {
    return connect_timeout.value_or(longest_limit);
  }
};

/// How long a node keeps the name of a client whose longest lease is this long. A lease that a
/// client was renewing when it died ends before that.
[[nodiscard]] constexpr Duration name_kept_for(Duration longest_lease) noexcept {
  return std::max<Duration>(2 * longest_lease, std::chrono::minutes(1));
}

}  // namespace redlock::core
