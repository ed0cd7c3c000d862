#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/engine/settings.hpp"
#include "redis/wire/connection.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"

namespace redlock::runtime {

/// A client's options after they were checked and resolved; nothing in it can be wrong any more but
/// the world.
struct Configuration {
  core::Settings settings;
  std::vector<redis::ConnectionTarget> targets;  ///< in the order of settings.nodes
  std::function<void(const NodeEvent&)> on_node_event;
  std::function<void(const NodeEvent&)> on_log;
  std::shared_ptr<Observer> observer;  ///< none: nothing is observed
  bool name_holders = false;           ///< see ClientOptions
  std::string prefix;                  ///< see ClientOptions
  /// How to reach a member that the options do not name: configure_learned().
  std::function<redis::ConnectionTarget(const std::string& name)> reach;
};

/// Errors: invalid_argument, with one line that names the option and what is allowed.
[[nodiscard]] Result<Configuration> configure(ClientOptions options);

/// The URL without user and password, as a marker names a node. Errors: invalid_argument.
[[nodiscard]] Result<std::string> name_of_node(const std::string& url);

/// How to reach a node that an operator names, with the options' credentials and TLS files.
[[nodiscard]] Result<redis::ConnectionTarget> configure_target(const std::string& url,
                                                               const ClientOptions& options);

/// The same for a learned member, under the name that the markers give it. It gets the user and the
/// password that were given for all nodes, and none that a URL gave for another node. It is not
/// connected to if that would be by less than what the URLs of the options ask for: TLS, Unix
/// sockets. `options` passed configure(); `tls` are their TLS files, if they have been read.
[[nodiscard]] redis::ConnectionTarget configure_learned(
    const std::string& name, const ClientOptions& options,
    const std::shared_ptr<uv::TlsStore>& tls = nullptr);

}  // namespace redlock::runtime
