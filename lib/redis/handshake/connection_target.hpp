#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/vocabulary/time.hpp"
#include "redis/handshake/guides.hpp"
#include "redis/values/hash_tag.hpp"
#include "redlock/credentials.hpp"
#include "uv/blocking_call.hpp"
#include "uv/stream.hpp"
#include "uv/tls_store.hpp"

namespace redlock::redis {

/// The values that the restart guard compares and writes (scripts/guard.lua).
struct RestartGuard {
  core::Duration max_ttl{};
  core::Duration quarantine{};
  bool trust_durable = false;
  std::string name{};         ///< the node's name, as the client's other nodes may know it
  std::string incarnation{};  ///< for a marker that is written; fresh for each connection
  bool marks = true;          ///< whether a server without a marker of its process gets one
  bool replicated = false;    ///< whether the record of a reign is read
};

struct ProvidedCredentials;

/// The server, the user and the database of a connection.
struct ConnectionTarget {
  uv::Endpoint endpoint{};
  std::string user{};      ///< empty: the default user
  std::string password{};  ///< empty together with `user`: no authentication
  int db = 0;
  std::optional<RestartGuard> guard{};  ///< none: a restart is not noticed
  std::string name{};                   ///< the node's URL without user and password
  CredentialsProvider credentials{};    ///< returns user and password; none: those above
  /// Shared by the connections to this server, and outlives them. Null: every connection makes
  /// calls of its own.
  uv::BlockingCall<ProvidedCredentials>* credentials_call = nullptr;
  std::shared_ptr<Guides> guides{};           ///< they know the endpoint; null: it is that above
  std::shared_ptr<const HashTag> tag{};       ///< of all keys, in a cluster; null: none
  std::shared_ptr<uv::TlsStore> tls_files{};  ///< source of `endpoint.tls`; null: it never changes
};

}  // namespace redlock::redis
