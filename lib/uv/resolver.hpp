#pragma once

#include <uv.h>

#include <cstdint>
#include <string>

#include "uv/address.hpp"

namespace redlock::uv {

class ResolverListener {
 public:
  /// `status` is libuv's; `addresses` is empty unless it is zero.
  virtual void on_resolved(int status, Addresses addresses) noexcept = 0;

 protected:
  ~ResolverListener() = default;
};

/// One lookup of a host name without blocking the loop. Destroying it abandons the lookup: the
/// listener is not called any more, but a lookup that the system is busy with still occupies the
/// loop until it comes back (libuv cannot interrupt getaddrinfo).
class Resolver {
 public:
  explicit Resolver(ResolverListener& listener) noexcept : listener_(&listener) {}
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Once. A libuv status; unless it is zero the listener will not be called.
  [[nodiscard]] int start(uv_loop_t* loop, const std::string& host, std::uint16_t port);

 private:
  static void on_done(uv_getaddrinfo_t* request, int status, addrinfo* found) noexcept;

  ResolverListener* listener_;
  uv_getaddrinfo_t* request_ = nullptr;  // owns itself until on_done
};

}  // namespace redlock::uv
