#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/vocabulary/settings.hpp"
#include "redis/connection/connection.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"

namespace redlock::runtime {

/// A client's options after they were checked and resolved. From here on, only the outside world
/// can be at fault.
struct Configuration {
  core::Settings settings;
  std::vector<redis::ConnectionTarget> targets;  ///< in the order of settings.nodes
  std::function<void(const NodeEvent&)> on_node_event;
  std::function<void(const NodeEvent&)> on_log;
  std::shared_ptr<Observer> observer;  ///< none: nothing is observed
  bool name_holders = false;           ///< see ClientOptions
  std::string prefix;                  ///< see ClientOptions
  /// The target of a member that the options do not name: configure_learned().
  std::function<redis::ConnectionTarget(const std::string& name)> reach;
};

/// Errors: invalid_argument, with one line that names the option and what is allowed.
[[nodiscard]] Result<Configuration> configure(ClientOptions options);

/// The URL without user and password: the name that a marker gives a node. Errors:
/// invalid_argument.
[[nodiscard]] Result<std::string> name_of_node(const std::string& url);

/// The target of a node that an operator names, with the options' credentials and TLS files.
[[nodiscard]] Result<redis::ConnectionTarget> configure_target(const std::string& url,
                                                               const ClientOptions& options);

/// The target of a learned member, under the name that the markers give it. The member gets the
/// user and the password that were given for all nodes, never those from another node's URL. The
/// target is refused if it offers less than the URLs of the options demand: TLS, Unix sockets.
/// `options` passed configure(); `tls` are their TLS files, if they have been read.
[[nodiscard]] redis::ConnectionTarget configure_learned(
    const std::string& name, const ClientOptions& options,
    const std::shared_ptr<uv::TlsStore>& tls = nullptr);

}  // namespace redlock::runtime
