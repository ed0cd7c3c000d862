#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "uv/address.hpp"
#include "uv/blocking_call.hpp"

namespace redlock::uv {

/// The result of a lookup. `problem` is a constant; null if addresses were found.
struct ResolvedHost {
  const char* problem = nullptr;
  Addresses addresses{};

  [[nodiscard]] bool failed() const noexcept { return problem != nullptr; }
};

/// Gets the addresses that a lookup found; Resolver::in_order says in which order to try them.
using ResolverListener = BlockingCall<ResolvedHost>::Listener;

/// Blocks; called on a thread of its own. The operating system's lookup, or a test's.
using HostLookup = std::function<ResolvedHost(const std::string& host, std::uint16_t port)>;

[[nodiscard]] ResolvedHost look_up_host(const std::string& host, std::uint16_t port);

/// The most lookups that may run at once in one process.
inline constexpr std::size_t most_lookups = 32;

/// The addresses of one host name, looked up without blocking the loop, for all streams to one
/// server, whether at the same time or one after another.
///
/// Remembers which address was tried last and whether it worked: the next stream starts at that
/// address, or at the one after it. A server that accepts connections and never answers is left for
/// the host's other addresses; an address that does not even accept costs a stream little time, see
/// AddressRace.
///
/// Belongs to the loop's thread.
class Resolver {
 public:
  explicit Resolver(uv_loop_t* loop, HostLookup look_up = look_up_host);
  ~Resolver() = default;
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// `listener` is called once, perhaps inside this call. Host and port must always be the same.
  void resolve(const std::string& host, std::uint16_t port, ResolverListener& listener);
  /// `listener` is no longer called.
  void forget(const ResolverListener& listener) noexcept;

  /// The addresses of a host in the order in which to try them now.
  [[nodiscard]] Addresses in_order(const Addresses& found) const;

  /// A stream begins to connect to `address`, or has connected to it.
  void trying(const Address& address) noexcept;
  /// The server at `address` answers as it should.
  void works(const Address& address) noexcept;

 private:
  HostLookup look_up_;
  BlockingCall<ResolvedHost> lookup_;
  std::optional<Address> last_;
  bool last_works_ = false;
};

}  // namespace redlock::uv
