#pragma once

#include <uv.h>

#include <cstdint>
#include <memory>
#include <string>

#include "uv/address.hpp"

namespace redlock::uv {

class ResolverListener {
 public:
  /// `problem` null: `addresses` is what was found.
  virtual void on_resolved(const char* problem, Addresses addresses) noexcept = 0;

 protected:
  ~ResolverListener() = default;
};

/// One lookup of a host name without blocking the loop, on a thread of its own. Destroying it
/// abandons the lookup, which nobody waits for: the thread ends when the system's resolver answers.
///
/// Not uv_getaddrinfo: its thread pool is joined when the process exits, also in a forked child,
/// which has no such threads and crashes (seen with libuv 1.44); it is shared with whatever else
/// the process does, and a lookup that hangs would hold up the end of the loop.
class Resolver {
 public:
  /// Throws std::system_error when the process has no file descriptor left.
  Resolver(uv_loop_t* loop, ResolverListener& listener);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Once. False when there can be no thread: the listener will not be called.
  [[nodiscard]] bool start(const std::string& host, std::uint16_t port);

 private:
  struct Lookup;
  void on_done() noexcept;

  ResolverListener& listener_;
  std::shared_ptr<Lookup> lookup_;
};

}  // namespace redlock::uv
