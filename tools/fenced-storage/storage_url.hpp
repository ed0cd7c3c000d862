#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::fenced {

/// Where the storage is: `redis://[user[:password]@]host[:port][/db]`, `unix:///path[?db=n]`, or a
/// bare `host[:port]`. IPv6 addresses are in brackets; user and password may be percent-encoded.
struct StorageUrl {
  std::string host{};
  std::uint16_t port = 6379;
  std::string path{};  ///< of a Unix socket, in place of host and port
  std::string user{};
  std::string password{};
  std::uint16_t db = 0;
};

/// Throws cli::UsageError, which never shows what may be a password.
[[nodiscard]] StorageUrl parse_storage_url(std::string_view text);

}  // namespace redlock::fenced
