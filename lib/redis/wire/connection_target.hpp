#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/time.hpp"
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
  std::string name{};         ///< of the node, as the client's other nodes may know it
  std::string incarnation{};  ///< of a marker that is written; fresh for each connection
  bool marks = true;          ///< a server without a marker of its process is given one
};

struct ProvidedCredentials;

/// Which server, as whom, which database.
struct ConnectionTarget {
  uv::Endpoint endpoint{};
  std::string user{};      ///< empty: the default user
  std::string password{};  ///< empty, and no user: nothing is proven
  int db = 0;
  std::optional<RestartGuard> guard{};  ///< none: a restart is not noticed
  std::string name{};                   ///< the node's URL without user and password
  CredentialsProvider credentials{};    ///< tells user and password; none: those above
  /// Shared by the connections to this server, and outlives them. Null: every connection has calls
  /// of its own.
  uv::BlockingCall<ProvidedCredentials>* credentials_call = nullptr;
  std::shared_ptr<uv::TlsStore> tls_files{};  ///< gives `endpoint.tls` its latest; null: it stays
};

}  // namespace redlock::redis
