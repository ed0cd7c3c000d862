#include "common/session/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/system/password_file.hpp"
#include "common/text/duration.hpp"
#include "common/text/log.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "redlock/detached_lease.hpp"

namespace redlock::cli {
namespace {

/// Each failover of a private service is followed by as long a time without new locks.
constexpr std::chrono::seconds max_ttl_of_service{5};

std::vector<std::string> split_nodes(const std::vector<std::string>& lists,
                                     std::string_view origin) {
  std::vector<std::string> nodes;
  for (const std::string& list : lists) {
    for (std::string& node : split_list(list)) {
      if (node.empty()) {
        throw UsageError(fmt::format("{}: has an empty entry: allowed is URL[,URL...]", origin));
      }
      nodes.push_back(std::move(node));
    }
  }
  if (nodes.size() > limits::nodes) {
    throw UsageError(
        fmt::format("{}: {} nodes: at most {} are allowed", origin, nodes.size(), limits::nodes));
  }
  return nodes;
}

void resolve_nodes(const Arguments& given, Settings& settings) {
  settings.local = given.number("local");
  if (given.flag("local-sentinel")) settings.service = LocalService::sentinel;
  if (settings.local && settings.service) {
    throw UsageError("--local-sentinel: not together with --local: one node or several");
  }
  if (given.nodes.empty()) return;
  if (settings.local) {
    throw UsageError("--local: not together with --nodes: private nodes or given ones");
  }
  if (settings.service) {
    throw UsageError("--local-sentinel: not together with --nodes: private nodes or given ones");
  }
  settings.nodes = split_nodes(given.nodes, given.nodes_origin.origin);
}

void check_readable(const Arguments& given, const std::string& name, const std::string& path) {
  if (path.empty()) return;
  errno = 0;
  if (!std::ifstream(path)) {
    throw UsageError(fmt::format("{}: '{}' cannot be read: {}", given.find(name)->origin,
                                 as_printable(path), std::strerror(errno)));
  }
}

void check_tls(const Arguments& given, const TlsOptions& tls) {
  check_readable(given, "cacert", tls.ca_file);
  check_readable(given, "cert", tls.certificate_file);
  check_readable(given, "key", tls.key_file);
  if (tls.certificate_file.empty() != tls.key_file.empty()) {
    throw UsageError(tls.key_file.empty() ? "--cert: needs --key" : "--key: needs --cert");
  }
}

// The option of the command line that a row of face.def names, into the member of ClientOptions.
void read(const Arguments& given, const std::string& flag, std::string& to) {
  to = given.text(flag).value_or(std::string());
}
void read(const Arguments& given, const std::string& flag, std::chrono::nanoseconds& to) {
  to = given.positive_duration(flag).value_or(to);
}
void read(const Arguments& given, const std::string& flag,
          std::optional<std::chrono::nanoseconds>& to) {
  to = given.positive_duration(flag);
}
void read(const Arguments& given, const std::string& flag, bool& to) { to = given.flag(flag); }
void read(const Arguments& given, const std::string& flag, std::optional<std::size_t>& to) {
  to = given.number(flag);
}
void read(const Arguments& /*given*/, const std::string& /*flag*/, CredentialsProvider& /*to*/) {}

void read_rows(const Arguments& given, ClientOptions& client) {
#define CLIENT(kind, member, c_member, preset, flag, ...) \
  if (*(flag) != '\0') read(given, flag, client.member);
#include "redlock/face.def"
}

std::optional<NodeEvent::Level> log_level_of(const Arguments& given) {
  const auto* value = given.find("log-level");
  if (value == nullptr) return std::nullopt;
  for (const auto level :
       {NodeEvent::Level::debug, NodeEvent::Level::info, NodeEvent::Level::warning}) {
    if (value->text == to_string(level)) return level;
  }
  throw UsageError(fmt::format("{}: '{}' is not allowed: debug, info or warning", value->origin,
                               as_printable(value->text)));
}

void resolve_output(const Arguments& given, Settings& settings) {
  settings.log_level = log_level_of(given);
  const bool verbose = given.flag("verbose");
  const bool logs = verbose || settings.log_level;
  if (given.flag("quiet") && logs) {
    throw UsageError(
        fmt::format("--quiet: not together with {}", verbose ? "--verbose" : "--log-level"));
  }
  if (given.flag("json")) settings.format = Settings::Format::json;
  if (given.flag("quiet")) settings.detail = Settings::Detail::quiet;
  if (verbose) settings.detail = Settings::Detail::verbose;
  if (verbose && !settings.log_level) settings.log_level = NodeEvent::Level::info;
}

bool is_control(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

Settings resolve_settings(const Arguments& given, NodesNeeded nodes_needed) {
  Settings settings;
  resolve_nodes(given, settings);

  if (nodes_needed == NodesNeeded::required && settings.nodes.empty() && !settings.local &&
      !settings.service) {
    throw UsageError(
        "--nodes: none given: name them with --nodes URL[,URL...], QUORUM_LOCK_NODES or --config "
        "FILE, or try --local N");
  }
  ClientOptions& client = settings.client;
  client.user = name_of(given, "user");
  if (const auto path = given.text("password-file")) {
    client.password = read_password_file(*path, given.find("password-file")->origin);
    // A pipe, as of <(pass show redis), gives its content once.
    std::error_code ignored;
    if (std::filesystem::is_regular_file(*path, ignored)) {
      client.password.clear();
      client.credentials = password_file(*path);
    }
  } else {
    client.password = given.text("password").value_or(std::string());
  }
  settings.ports = port_range_of(given);
  client.name = name_of(given, "name");
  if (std::any_of(client.name.begin(), client.name.end(), is_control)) {
    throw UsageError(
        fmt::format("{}: has a control character: none is allowed", given.find("name")->origin));
  }
  read_rows(given, client);
  check_tls(given, client.tls);
  static_cast<void>(prefix_of(given));
  if (const auto timeout = given.positive_duration("timeout")) {
    client.node.longest_timeout = *timeout;
    client.node.shortest_timeout = std::min(client.node.shortest_timeout, *timeout);
  }
  const auto* const restart = given.find("restart-guard");
  client.guards.restart = restart == nullptr || restart->text != "off";
  if (client.guards.restart) client.guards.quarantine = given.positive_duration("restart-guard");
  // A quarantine too short for any TTL is refused below, by its own name.
  if (given.find("max-ttl") == nullptr) {
    client.max_ttl = std::clamp<std::chrono::nanoseconds>(
        client.guards.quarantine.value_or(forever), limits::shortest_ttl,
        settings.service ? max_ttl_of_service : limits::default_max_ttl);
  }
  if (client.max_ttl < limits::shortest_ttl || client.max_ttl > limits::longest_max_ttl) {
    throw UsageError(fmt::format("{}: allowed is {}ms to {}h", given.find("max-ttl")->origin,
                                 limits::shortest_ttl.count(), limits::longest_max_ttl.count()));
  }
  if (client.guards.quarantine && (*client.guards.quarantine < client.max_ttl ||
                                   *client.guards.quarantine > limits::longest_max_ttl)) {
    throw UsageError(fmt::format("{}: {} is not allowed: {}, which is --max-ttl, to {}h, or off",
                                 given.find("restart-guard")->origin,
                                 format_duration(*client.guards.quarantine),
                                 format_duration(client.max_ttl), limits::longest_max_ttl.count()));
  }
  const std::size_t nodes = settings.service ? 1 : settings.local.value_or(settings.nodes.size());
  client.quorum = given.number("quorum", nodes / 2 + 1, std::max<std::size_t>(nodes, 1));
  resolve_output(given, settings);
  return settings;
}

ClientOptions client_options(const Settings& settings, std::vector<std::string> nodes) {
  ClientOptions options = settings.client;
  options.nodes = std::move(nodes);
  return options;
}

namespace {

void check_resource(const std::string& resource) {
  if (!resource.empty() && resource.size() <= limits::resource_bytes) return;
  throw UsageError(fmt::format("RESOURCE: has {} bytes: 1 to {} are allowed", resource.size(),
                               limits::resource_bytes));
}

}  // namespace

std::string resource_of(const Arguments& given) {
  if (given.words.empty()) throw UsageError("RESOURCE: none given: exactly one is allowed");
  if (given.words.size() > 1) {
    throw UsageError(fmt::format("RESOURCE: '{}' is one too many: exactly one is allowed",
                                 as_printable(given.words[1])));
  }
  check_resource(given.words.front());
  return given.words.front();
}

std::vector<std::string> resources_of(const Arguments& given) {
  if (given.words.empty()) throw UsageError("RESOURCE: none given: at least one is needed");
  if (given.words.size() > limits::resources) {
    throw UsageError(fmt::format("RESOURCE: {} are given: at most {} are allowed",
                                 given.words.size(), limits::resources));
  }
  for (const std::string& resource : given.words) check_resource(resource);
  return given.words;
}

std::string name_of(const Arguments& given, const std::string& option) {
  const auto* value = given.find(option);
  if (value == nullptr) return {};
  if (value->text.empty() || value->text.size() > limits::name_bytes) {
    throw UsageError(fmt::format("{}: has {} bytes: 1 to {} are allowed", value->origin,
                                 value->text.size(), limits::name_bytes));
  }
  return value->text;
}

std::string prefix_of(const Arguments& given) {
  const auto prefix = given.text("prefix");
  if (!prefix) return {};
  ClientOptions options;
  options.nodes = {"localhost"};
  options.prefix = *prefix;
  if (const auto mistake = find_mistake(options)) {
    const std::string& line = mistake->message;
    throw UsageError(given.find("prefix")->origin +
                     line.substr(std::min(line.find(':'), line.size())));
  }
  return *prefix;
}

Token token_of(const Arguments& given, const std::string& option) {
  const auto* value = given.find(option);
  if (value == nullptr) {
    throw UsageError(fmt::format("--{}: missing: the token that acquire printed", option));
  }
  if (DetachedLease::parse(value->text)) {
    throw UsageError(
        fmt::format("--{}: this is the text of a detached lease, which run --adopt takes; give its "
                    "token alone, the second of its fields",
                    option));
  }
  const auto token = Token::parse(value->text);
  if (!token) {
    throw UsageError(fmt::format("--{}: has {} bytes: 1 to {} are allowed", option,
                                 value->text.size(), limits::token_bytes));
  }
  if (std::any_of(value->text.begin(), value->text.end(), is_control)) {
    throw UsageError(fmt::format("--{}: has a control character: none is allowed", option));
  }
  // The name of a candidate, which follows the digits, may contain blanks.
  const bool is_named = !token->client_id().empty() && !token->name().empty();
  if (!is_named && value->text.find(' ') != std::string::npos) {
    throw UsageError(fmt::format("--{}: has a blank: none is allowed", option));
  }
  return *token;
}

std::optional<std::chrono::nanoseconds> wait_of(const Arguments& given) {
  const auto* value = given.find("wait");
  if (value != nullptr && value->text == "forever") return forever;
  try {
    return given.duration("wait");
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}, or forever", error.what()));
  }
}

std::optional<std::chrono::nanoseconds> ttl_of(const Arguments& given, const Settings& settings) {
  const auto ttl = given.duration("ttl");
  if (ttl && (*ttl < limits::shortest_ttl || *ttl > settings.client.max_ttl)) {
    throw UsageError(fmt::format("{}: {} is not allowed: {} to {}, which is --max-ttl",
                                 given.find("ttl")->origin, format_duration(*ttl),
                                 format_duration(limits::shortest_ttl),
                                 format_duration(settings.client.max_ttl)));
  }
  return ttl;
}

std::optional<std::chrono::nanoseconds> orphan_ttl_of(const Arguments& given,
                                                      const Settings& settings) {
  const auto ttl = given.duration("orphan-ttl");
  if (ttl && (*ttl < limits::shortest_ttl || *ttl > settings.client.max_ttl)) {
    throw UsageError(fmt::format("{}: {} is not allowed: {} to {}, which is --max-ttl",
                                 given.find("orphan-ttl")->origin, format_duration(*ttl),
                                 format_duration(limits::shortest_ttl),
                                 format_duration(settings.client.max_ttl)));
  }
  return ttl;
}

std::chrono::nanoseconds default_ttl(const Settings& settings) noexcept {
  return std::min<std::chrono::nanoseconds>(limits::default_ttl, settings.client.max_ttl);
}

}  // namespace redlock::cli
