#pragma once

#include "redlock/language.hpp"

#include <functional>
#include <string>

#include "redlock/export.hpp"
#include "redlock/result.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// The user and password that a client presents to a node. Thread safety: a value.
struct REDLOCK_EXPORT Credentials {
  std::string user{};  ///< empty: that of the URL, or else `ClientOptions::user`
  std::string password{};
};

/// Returns the credentials for a new connection to a node whose URL has no password. The client
/// calls it at each such connection. For passwords that are rotated, and for tokens that live for
/// minutes. `url` is the node's, without user and password.
///
/// It is called on threads of its own, for several nodes at once, and may block. The time that it
/// takes is part of the time to connect (`NodeOptions::connect_timeout`), and delays no other
/// node. A call that took too long goes on, and its answer serves the next connection. An error or
/// an exception fails this attempt to connect, with its message, which must not contain the
/// password. If a node refuses the credentials, the client calls the provider once more
/// immediately.
///
/// A call may outlast the client. The function's captures are destroyed after its last call, on any
/// thread.
using CredentialsProvider = std::function<Result<Credentials>(const std::string& url)>;

/// A provider that reads the password from the first line of a file, anew at each connection. So a
/// secret that is rotated, by a rename or in a mount of Kubernetes, is used without a restart. It
/// fails when the file cannot be read, and when its first line is empty.
[[nodiscard]] REDLOCK_EXPORT CredentialsProvider password_file(std::string path);

}  // namespace REDLOCK_ABI
}  // namespace redlock
