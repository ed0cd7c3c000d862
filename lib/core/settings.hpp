#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// The configuration of an engine. The driver has checked it.
struct Settings {
  std::vector<std::string> nodes;  ///< names for messages, without passwords
  std::size_t quorum = 1;
  Duration shortest_limit = std::chrono::milliseconds(250);
  Duration longest_limit = std::chrono::seconds(1);
  Duration max_ttl = limits::default_max_ttl;
  /// How long a node whose clock stepped has no vote.
  Duration quarantine = limits::default_max_ttl;
  /// Votes count only with the membership record that the handshake saw (marker.hpp).
  bool restart_guard = false;
  bool clock_guard = false;
  Duration clock_bound = std::chrono::seconds(1);
  /// Plain commands in the place of scripts where both would do.
  bool plain_commands = true;
  std::size_t max_unanswered = limits::unanswered_per_node;
  std::size_t max_operations = limits::operations;
};

}  // namespace redlock::core
