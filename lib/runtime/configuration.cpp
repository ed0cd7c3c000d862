#include "runtime/configuration.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "core/membership/reign.hpp"
#include "core/vocabulary/durations.hpp"
#include "core/votes/quorum.hpp"
#include "core/votes/validity.hpp"
#include "redis/values/node_url.hpp"
#include "runtime/client_name.hpp"
#include "runtime/kernel_randomness.hpp"
#include "runtime/prefix.hpp"
#include "support/counted.hpp"
#include "uv/tls_store.hpp"

namespace redlock::runtime {
namespace {

using TlsShared = std::shared_ptr<uv::TlsStore>;

Error refuse(std::string why) { return Error{Errc::invalid_argument, std::move(why), {}}; }

std::optional<std::string> refuse_limits(const ClientOptions& options) {
  if (options.node.shortest_timeout < std::chrono::milliseconds(1) ||
      options.node.longest_timeout < options.node.shortest_timeout ||
      options.node.longest_timeout > std::chrono::hours(1)) {
    return "node timeouts: " + core::format_duration(options.node.shortest_timeout) + " to " +
           core::format_duration(options.node.longest_timeout) +
           "; 1 ms to 1 h is allowed, the shortest not above the longest";
  }
  if (options.node.connect_timeout &&
      (*options.node.connect_timeout < std::chrono::milliseconds(1) ||
       *options.node.connect_timeout > std::chrono::hours(1))) {
    return "connect timeout: " + core::format_duration(*options.node.connect_timeout) +
           "; 1 ms to 1 h is allowed";
  }
  if (options.max_ttl < limits::shortest_ttl || options.max_ttl > limits::longest_max_ttl) {
    return "max TTL: " + core::format_duration(options.max_ttl) + "; " +
           core::format_duration(limits::shortest_ttl) + " to " +
           core::format_duration(limits::longest_max_ttl) + " is allowed";
  }
  return std::nullopt;
}

Result<std::vector<redis::NodeUrl>> parse_nodes(const std::vector<std::string>& texts,
                                                bool restart_guard) {
  if (texts.empty() || texts.size() > limits::nodes) {
    return refuse("nodes: " + std::to_string(texts.size()) + " given; 1 to " +
                  std::to_string(limits::nodes) + " are allowed");
  }
  std::vector<redis::NodeUrl> urls;
  for (const std::string& text : texts) {
    auto url = redis::parse_node_url(text);
    if (!url) return std::move(url).error();
    for (const redis::NodeUrl& other : urls) {
      if (redis::same_server(other, *url)) {
        return refuse("nodes: " + other.display() + " and " + url->display() +
                      " are the same server, which has one vote");
      }
    }
    urls.push_back(*std::move(url));
  }
  for (const redis::NodeUrl& url : urls) {
    if (url.servers == 1 || restart_guard) continue;
    return refuse("nodes: " + url.display() +
                  " has replicas, and without the restart guard a failover makes two holders");
  }
  return urls;
}

Result<TlsShared> make_tls(const ClientOptions& all, const std::vector<redis::NodeUrl>& urls) {
  const TlsOptions& options = all.tls;
  bool wanted = false;
  for (const redis::NodeUrl& url : urls) wanted = wanted || url.tls;
  const bool given =
      !options.ca_file.empty() || !options.certificate_file.empty() || !options.key_file.empty();
  if (!wanted && given) {
    // Without this check, data that its owner believes to be encrypted would be sent in the clear.
    return refuse("tls: certificate files are given, but no node's URL is rediss://");
  }
  if (!all.tls.server_name.empty()) {
    if (!wanted) return refuse("tls: a server name is given, but no node's URL is rediss://");
    if (const auto why = redis::refuse_server_name(all.tls.server_name)) {
      return refuse("tls: the server name: " + *why);
    }
  }
  if (!wanted) return TlsShared();
  auto store = uv::TlsStore::create({options.ca_file, options.certificate_file, options.key_file});
  if (auto* why = std::get_if<std::string>(&store)) return refuse("tls: " + *why);
  return std::get<TlsShared>(std::move(store));
}

/// Why we do not connect to a member that only other nodes name; none: we do. A learned member
/// never lowers what the operator's own list demands: encryption, and that nothing leaves the
/// machine.
std::optional<std::string> refuse_learned(const std::string& name, const redis::NodeUrl& url,
                                          const std::vector<redis::NodeUrl>& configured,
                                          bool restart_guard) {
  const auto any = [&configured](auto&& which) {
    return std::any_of(configured.begin(), configured.end(), which);
  };
  const auto is_socket = [](const redis::NodeUrl& other) {
    return other.kind == redis::NodeUrl::Kind::unix_socket;
  };
  if (url.display() != name) return "its name is no URL as members have it";
  if (url.servers > 1 && !restart_guard) return "it has replicas, and the restart guard is off";
  if (is_socket(url) && !any(is_socket)) return "no URL of the list is a unix:// one";
  if (is_socket(url) || url.tls) return std::nullopt;
  if (any([](const redis::NodeUrl& other) { return other.tls; })) {
    return "it is not reached through TLS, and the list has rediss:// URLs";
  }
  if (!any([&](const redis::NodeUrl& other) { return !is_socket(other); })) {
    return "it is not on this machine, and all URLs of the list are";
  }
  return std::nullopt;
}

/// The guides of a service that is found by them; null: it has none.
std::shared_ptr<redis::Guides> guides_of(const redis::NodeUrl& url, const redis::HashTag* tag,
                                         std::chrono::milliseconds connect_limit) {
  if (url.guides.empty()) return nullptr;
  auto guides = std::make_shared<redis::Guides>();
  guides->service = url.service;
  guides->user = url.sentinel_user;
  guides->password = url.sentinel_password;
  if (tag != nullptr) guides->slot = tag->slot();
  for (const auto& [host, port] : url.guides) {
    uv::Endpoint& guide = guides->endpoints.emplace_back();
    guide.host = host;
    guide.port = port;
    guide.connect_limit = connect_limit / 2;
  }
  return guides;
}

redis::ConnectionTarget make_target(const redis::NodeUrl& url, const ClientOptions& options,
                                    std::string_view prefix, const TlsShared& tls) {
  redis::ConnectionTarget target;
  target.endpoint.kind = url.kind == redis::NodeUrl::Kind::unix_socket
                             ? uv::Endpoint::Kind::unix_socket
                             : uv::Endpoint::Kind::tcp;
  target.endpoint.host = url.host;
  target.endpoint.port = url.port;
  target.endpoint.path = url.path;
  target.endpoint.connect_limit = std::chrono::ceil<std::chrono::milliseconds>(
      options.node.connect_timeout.value_or(options.node.longest_timeout));
  if (url.kind == redis::NodeUrl::Kind::cluster) {
    target.tag = std::make_shared<redis::HashTag>(redis::hash_tag_of(prefix));
  }
  target.guides = guides_of(url, target.tag.get(), target.endpoint.connect_limit);
  if (url.tls) {
    target.tls_files = tls;
    target.endpoint.tls = tls->current();
    target.endpoint.server_name =
        url.server_name.empty() ? options.tls.server_name : url.server_name;
  }
  const bool own_credentials = !url.user.empty() || !url.password.empty();
  target.user = own_credentials ? url.user : options.user;
  target.password = url.password.empty() ? options.password : url.password;
  if (url.password.empty()) target.credentials = options.credentials;
  target.name = url.display();
  target.db = url.db;
  return target;
}

Result<core::Duration> quarantine_of(const ClientOptions& options) {
  // Our clock and the servers' clocks can drift apart while the quarantine lasts.
  const core::Duration shortest = options.max_ttl + core::drift(options.max_ttl);
  if (!options.guards.quarantine) return shortest;
  if (*options.guards.quarantine < options.max_ttl ||
      *options.guards.quarantine > limits::longest_max_ttl) {
    return refuse("restart guard: " + core::format_duration(*options.guards.quarantine) +
                  "; the max TTL of " + core::format_duration(options.max_ttl) + " to " +
                  core::format_duration(limits::longest_max_ttl) + " is allowed, or off");
  }
  return std::max(shortest, *options.guards.quarantine);
}

}  // namespace

Result<Configuration> configure(ClientOptions options) {
  auto urls = parse_nodes(options.nodes, options.guards.restart);
  if (!urls) return std::move(urls).error();
  if (auto why = refuse_limits(options)) return refuse(*std::move(why));

  const std::size_t majority = core::majority(urls->size());
  const std::size_t quorum = options.quorum.value_or(majority);
  if (quorum < majority || quorum > urls->size()) {
    return refuse("quorum: " + std::to_string(quorum) + " of " +
                  support::counted(urls->size(), "node") + "; " + std::to_string(majority) +
                  " to " + std::to_string(urls->size()) + " is allowed");
  }
  if (options.guards.clock_bound < std::chrono::milliseconds(1)) {
    return refuse("clock bound: " + core::format_duration(options.guards.clock_bound) +
                  "; 1 ms or more is allowed");
  }
  if (auto why = refuse_client_name(options.name)) return refuse(*std::move(why));
  auto prefix = choose_prefix(options.prefix, *urls);
  if (!prefix) return std::move(prefix).error();
  if (options.credentials && !options.password.empty()) {
    return refuse("credentials: not together with a password");
  }
  auto quarantine = quarantine_of(options);
  if (!quarantine) return std::move(quarantine).error();
  auto tls = make_tls(options, *urls);
  if (!tls) return std::move(tls).error();

  Configuration configuration;
  const auto guard_of = [options, quarantine = *quarantine](const std::string& name) {
    std::optional<redis::RestartGuard> guard;
    if (options.guards.restart) {
      guard =
          redis::RestartGuard{options.max_ttl, quarantine, options.guards.trust_durable, name, {}};
      guard->replicated = core::servers_of(name) > 1;
    }
    return guard;
  };
  for (const redis::NodeUrl& url : *urls) {
    configuration.settings.nodes.push_back(url.display());
    configuration.targets.push_back(make_target(url, options, *prefix, *tls));
    configuration.targets.back().guard = guard_of(url.display());
  }
  configuration.reach = [options, guard_of, tls = *tls](const std::string& name) {
    redis::ConnectionTarget target = configure_learned(name, options, tls);
    target.guard = guard_of(name);
    return target;
  };
  configuration.settings.client_id =
      KernelRandomness().token().str().substr(0, Token::client_id_digits);
  configuration.settings.name = options.name.empty() ? default_client_name() : options.name;
  configuration.settings.quarantine = *quarantine;
  configuration.settings.restart_guard = options.guards.restart;
  configuration.settings.plain_commands = options.node.plain_commands;
  configuration.settings.clock_guard = options.guards.clock;
  configuration.settings.clock_bound = options.guards.clock_bound;
  configuration.settings.quorum = quorum;
  configuration.settings.shortest_limit = options.node.shortest_timeout;
  configuration.settings.longest_limit = options.node.longest_timeout;
  configuration.settings.connect_timeout = options.node.connect_timeout;
  configuration.settings.max_ttl = options.max_ttl;
  configuration.on_node_event = std::move(options.on_node_event);
  configuration.on_log = std::move(options.on_log);
  configuration.observer = std::move(options.observer);
  configuration.name_holders = options.name_holders;
  configuration.settings.longest_name -= prefix->size();
  configuration.prefix = *std::move(prefix);
  return configuration;
}

Result<std::string> name_of_node(const std::string& url) {
  const auto parsed = redis::parse_node_url(url);
  if (!parsed) return parsed.error();
  return parsed->display();
}

Result<redis::ConnectionTarget> configure_target(const std::string& url,
                                                 const ClientOptions& options) {
  const auto parsed = redis::parse_node_url(url);
  if (!parsed) return parsed.error();
  auto urls = parse_nodes(options.nodes, options.guards.restart);
  if (!urls) return std::move(urls).error();
  // Its own prefix, if it has one, is that of all nodes.
  if (!parsed->prefix.empty()) urls->push_back(*parsed);
  const auto prefix = choose_prefix(options.prefix, *urls);
  if (!prefix) return prefix.error();
  if (auto why = refuse_untagged(*parsed, *prefix)) return refuse(*std::move(why));
  TlsShared shared;
  if (parsed->tls) {
    auto tls = make_tls(options, {*parsed});
    if (!tls) return std::move(tls).error();
    shared = *std::move(tls);
  }
  return make_target(*parsed, options, *prefix, shared);
}

redis::ConnectionTarget configure_learned(const std::string& name, const ClientOptions& options,
                                          const TlsShared& tls) {
  const auto refused = [](const std::string& why) {
    redis::ConnectionTarget target;
    target.endpoint.refused = "it is not connected to: " + why;
    return target;
  };
  const auto url = redis::parse_node_url(name);
  if (!url) return refused(url.error().message);
  const auto configured = parse_nodes(options.nodes, options.guards.restart);
  if (!configured) return refused(configured.error().message);
  if (const auto why = refuse_learned(name, *url, *configured, options.guards.restart))
    return refused(*why);
  const auto prefix = choose_prefix(options.prefix, *configured);
  if (!prefix) return refused(prefix.error().message);
  if (const auto why = refuse_untagged(*url, *prefix)) return refused(*why);
  if (tls != nullptr) return make_target(*url, options, *prefix, tls);
  auto target = configure_target(name, options);
  return target ? *std::move(target) : refused(target.error().message);
}

}  // namespace redlock::runtime
