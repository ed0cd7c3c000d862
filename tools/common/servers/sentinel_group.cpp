#include "common/servers/sentinel_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace redlock::cli {
namespace {

/// The value after a name in a reply of names and values; empty: it is not there.
std::string_view value_after(std::string_view reply, std::string_view name) {
  const std::size_t at = reply.find(fmt::format("\r\n{}\r\n$", name));
  if (at == std::string_view::npos) return {};
  const std::size_t size = reply.find("\r\n", at + 2) + 2;
  const std::size_t begin = reply.find("\r\n", size) + 2;
  return reply.substr(begin, reply.find("\r\n", begin) - begin);
}

/// A reply of several lines ends before that of a PING after it.
std::string ask_sentinel(const ServerAddress& sentinel, std::string_view line) {
  return ask_server(sentinel, fmt::format("{}\r\nPING", line), "PONG");
}

}  // namespace

std::string url_of(const SentinelGroup& group) {
  std::string hosts;
  for (const ServerAddress& sentinel : group.sentinels) {
    hosts += fmt::format("{}127.0.0.1:{}", hosts.empty() ? "" : ";", sentinel.port);
  }
  const std::string& password = group.sentinels.front().password;
  return password.empty()
             ? fmt::format("redis+sentinel://{}/{}?servers={}", hosts, group.service,
                           group.sentinels.size())
             : fmt::format("redis+sentinel://:{}@{}/{}?servers={}&sentinel_password={}", password,
                           hosts, group.service, group.sentinels.size(), password);
}

void watch_primary(const SentinelGroup& group, std::uint16_t primary, std::string_view password,
                   std::string_view settings) {
  for (const ServerAddress& sentinel : group.sentinels) {
    static_cast<void>(
        ask_sentinel(sentinel, fmt::format("SENTINEL MONITOR {} 127.0.0.1 {} {}", group.service,
                                           primary, group.sentinels.size() / 2 + 1)));
    if (!password.empty()) {
      static_cast<void>(ask_sentinel(
          sentinel, fmt::format("SENTINEL SET {} auth-pass {}", group.service, password)));
    }
    static_cast<void>(
        ask_sentinel(sentinel, fmt::format("SENTINEL SET {} {}", group.service, settings)));
  }
}

bool is_complete(const SentinelGroup& group, const ServerAddress& primary) {
  const std::string others = std::to_string(group.sentinels.size() - 1);
  const std::string followed = fmt::format("connected_slaves:{}\r\n", others);
  if (ask_server(primary, "INFO replication\r\nPING", "PONG").find(followed) == std::string::npos) {
    return false;
  }
  return std::all_of(group.sentinels.begin(), group.sentinels.end(),
                     [&](const ServerAddress& sentinel) {
                       const std::string reply =
                           ask_sentinel(sentinel, fmt::format("SENTINEL MASTER {}", group.service));
                       return value_after(reply, "num-slaves") == others &&
                              value_after(reply, "num-other-sentinels") == others;
                     });
}

std::optional<std::uint16_t> named_primary(const ServerAddress& sentinel,
                                           std::string_view service) {
  const std::string reply =
      ask_sentinel(sentinel, fmt::format("SENTINEL GET-MASTER-ADDR-BY-NAME {}", service));
  const std::string_view text = value_after(reply, "127.0.0.1");
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace redlock::cli
