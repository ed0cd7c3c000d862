#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/result.hpp"

namespace redlock::redis {

/// The address of a node and the user to authenticate as:
/// `redis://[user[:password]@]host[:port][/db]`, `rediss://…` for TLS, `unix:///path[?db=n]`, or a
/// bare `host[:port][/db]`; `valkey://` and `valkeys://` are other names for the first two. IPv6
/// addresses are in brackets, with their zone if they need one; user, password, path and prefix may
/// be percent-encoded. All but the bare form may end with `?prefix=TEXT`, and `rediss://` with
/// `?server_name=NAME`, the name of the server's certificate; both:
/// `?prefix=TEXT&server_name=NAME`. `?servers=N` says that the node is a primary with replicas, N
/// servers in all. `redis+sentinel://[user[:password]@]host[:port];…/service[/db]?servers=N` names
/// such a service by its sentinels (`rediss+sentinel://`: all through TLS), which may have a login
/// of their own: `?sentinel_user=NAME&sentinel_password=TEXT`.
/// `redis+cluster://[user[:password]@]host[:port];…/?servers=N` is a cluster, found by any of its
/// servers: the node is the primary of one slot, with its replicas, N servers in all.
struct NodeUrl {
  enum class Kind : std::uint8_t { tcp, unix_socket, sentinel, cluster };

  static constexpr std::uint16_t default_port = 6379;
  static constexpr std::uint16_t default_sentinel_port = 26379;

  Kind kind = Kind::tcp;
  std::string host{};  ///< without brackets
  std::uint16_t port = default_port;
  std::string path{};
  struct Guide {
    std::string host{};
    std::uint16_t port = 0;
    friend bool operator<(const Guide& a, const Guide& b) noexcept {
      return a.host != b.host ? a.host < b.host : a.port < b.port;
    }
  };
  std::vector<Guide> guides{};  ///< sentinels, or servers of the cluster; sorted
  std::string service{};        ///< the name that the sentinels have for the node
  std::string sentinel_user{};
  std::string sentinel_password{};
  std::string user{};
  std::string password{};
  int db = 0;
  std::uint8_t servers = 1;  ///< how many the node is: a primary and its replicas
  bool tls = false;
  std::string prefix{};       ///< prefix of all keys of locks, see ClientOptions; empty: none
  std::string server_name{};  ///< the name that the server's certificate must have; empty: the host

  /// The canonical form without user, password and prefix: "redis://127.0.0.1:7001",
  /// "unix:///run/redis.sock?db=2", "redis://db:6379?servers=3". Two URLs of one database of one
  /// server have the same form.
  [[nodiscard]] std::string display() const;
};

/// Errors: invalid_argument, with one line that says what is wrong with which URL, and never shows
/// what may be a password.
[[nodiscard]] Result<NodeUrl> parse_node_url(std::string_view text);

/// Why a certificate cannot have this name; none: it can. Host names and IP literals are possible.
[[nodiscard]] std::optional<std::string> refuse_server_name(std::string_view name);

/// Whether both name one server, whatever the databases and users: it would vote twice.
[[nodiscard]] bool same_server(const NodeUrl& a, const NodeUrl& b) noexcept;

}  // namespace redlock::redis
