#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "uv/address.hpp"

namespace redlock::uv {

class ResolverListener {
 public:
  /// `problem` null: `addresses` is what was found, in the order in which to try them.
  virtual void on_resolved(const char* problem, Addresses addresses) noexcept = 0;

 protected:
  ~ResolverListener() = default;
};

/// The result of a lookup. `problem` is a constant; null if addresses were found.
struct ResolvedHost {
  const char* problem = nullptr;
  Addresses addresses{};
};

/// Blocks; called on a thread of its own. May be the operating system's or a test's.
using HostLookup = std::function<ResolvedHost(const std::string& host, std::uint16_t port)>;

[[nodiscard]] ResolvedHost look_up_host(const std::string& host, std::uint16_t port);

/// Lookups that may be running at once in one process. One that hangs outlives its resolver, so
/// that without a bound every client of a process would leave threads behind.
inline constexpr std::size_t most_lookups = 32;

/// The addresses of one host name, looked up without blocking the loop, for the streams to one
/// server, at once or one after another. It runs one lookup at a time, on a thread of its own; all
/// streams that ask meanwhile get its result, and if all have given up, the next stream that asks
/// gets it.
///
/// It remembers which address was tried last and whether it worked: the next stream starts there,
/// or at the address behind it. A host with an address that hangs is reached by the others.
///
/// Not uv_getaddrinfo: its thread pool is joined when the process exits, also in a forked child,
/// which has no such threads and crashes (seen with libuv 1.44); it is shared with whatever else
/// the process does, and a lookup that hangs would hold up the end of the loop.
///
/// Belongs to the loop's thread.
class Resolver {
 public:
  explicit Resolver(uv_loop_t* loop, HostLookup look_up = look_up_host);
  /// Abandons a lookup that is running: its thread ends when the lookup does.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// `listener` is called once, perhaps inside this call. Always for the same host and port.
  void resolve(const std::string& host, std::uint16_t port, ResolverListener& listener);
  /// `listener` is not called any more.
  void forget(const ResolverListener& listener) noexcept;

  /// A stream begins to connect to it.
  void trying(const Address& address) noexcept;
  /// The server behind it answers as one should.
  void works(const Address& address) noexcept;

 private:
  struct Lookup;
  void on_done() noexcept;
  [[nodiscard]] const char* start(const std::string& host, std::uint16_t port);
  [[nodiscard]] Addresses in_order(Addresses addresses) const;

  uv_loop_t* loop_;
  HostLookup look_up_;
  std::shared_ptr<Lookup> lookup_;            // the one that is running
  std::vector<ResolverListener*> listeners_;  // wait for it
  std::optional<Addresses> unclaimed_;        // arrived when nobody waited any more
  std::optional<Address> last_;
  bool last_works_ = false;
};

}  // namespace redlock::uv
