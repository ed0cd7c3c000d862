#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/servers/local_nodes.hpp"
#include "common/servers/loopback_ports.hpp"
#include "common/text/arguments.hpp"
#include "redlock/limits.hpp"
#include "redlock/options.hpp"
#include "redlock/token.hpp"

namespace redlock::cli {

/// The settings from the global options, whichever layer they come from (see layers.hpp).
struct Settings {
  std::vector<std::string> nodes{};
  /// Number of private servers that are used instead of `nodes`.
  std::optional<std::size_t> local{};
  /// A private service that is used instead of `nodes`.
  std::optional<LocalService> service{};
  std::optional<PortRange> ports{};  ///< where private servers may listen; none: anywhere
  ClientOptions client{};            ///< without nodes
  enum class Format { people, json } format = Format::people;
  enum class Detail { quiet, normal, verbose } detail = Detail::normal;
  /// Standard error gets node events of this level and above; none: only events that no result
  /// reports.
  std::optional<NodeEvent::Level> log_level{};
};

enum class NodesNeeded { required, optional };

/// From here on, standard error has the form that they ask for. Throws UsageError.
[[nodiscard]] Settings resolve_settings(const Arguments& given, NodesNeeded nodes_needed);

/// The options of a client for these nodes.
[[nodiscard]] ClientOptions client_options(const Settings& settings,
                                           std::vector<std::string> nodes);

/// The one resource that a verb works on. Throws UsageError.
[[nodiscard]] std::string resource_of(const Arguments& given);

/// At least one, at most `limits::resources`. Throws UsageError.
[[nodiscard]] std::vector<std::string> resources_of(const Arguments& given);

/// The value of an option that names somebody; empty: not given. Throws UsageError.
[[nodiscard]] std::string name_of(const Arguments& given, const std::string& option);

/// --prefix; empty: not given. Throws UsageError.
[[nodiscard]] std::string prefix_of(const Arguments& given);

/// --token, or another option that names one: 1 to `limits::token_bytes` bytes without blanks and
/// control characters. Throws UsageError.
[[nodiscard]] Token token_of(const Arguments& given, const std::string& option = "token");

/// --ttl, checked against the limits, so that a wrong one is refused before anything is sent.
[[nodiscard]] std::optional<std::chrono::nanoseconds> ttl_of(const Arguments& given,
                                                             const Settings& settings);

/// --wait; `forever` is redlock::forever. Throws UsageError.
[[nodiscard]] std::optional<std::chrono::nanoseconds> wait_of(const Arguments& given);

/// --orphan-ttl, checked in the same way as --ttl.
[[nodiscard]] std::optional<std::chrono::nanoseconds> orphan_ttl_of(const Arguments& given,
                                                                    const Settings& settings);

/// The TTL if no --ttl is given.
[[nodiscard]] std::chrono::nanoseconds default_ttl(const Settings& settings) noexcept;

}  // namespace redlock::cli
