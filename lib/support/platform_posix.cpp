#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include "support/platform.hpp"

namespace redlock::support {

// CLOCK_MONOTONIC counts suspend on macOS, OpenBSD and FreeBSD. On Linux it does not.
#ifdef __linux__
const clockid_t boot_clock = CLOCK_BOOTTIME;
#else
const clockid_t boot_clock = CLOCK_MONOTONIC;
#endif

void fill_random(std::span<std::uint8_t> out) noexcept {
  constexpr std::size_t most_at_once = 256;
  while (!out.empty()) {
    const std::span<std::uint8_t> part = out.first(std::min(out.size(), most_at_once));
    REDLOCK_ASSERT(getentropy(part.data(), part.size()) == 0);
    out = out.subspan(part.size());
  }
}

#ifdef MSG_NOSIGNAL
const int send_without_sigpipe = MSG_NOSIGNAL;
#else
const int send_without_sigpipe = 0;
#endif

void prevent_sigpipe([[maybe_unused]] int socket) noexcept {
#ifdef SO_NOSIGPIPE
  const int on = 1;
  // Fails only for a connection that is over already; nothing can be sent there.
  static_cast<void>(setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on));
#endif
}

void keep_alive(int socket) noexcept {
  const int on = 1;
  static_cast<void>(setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on));
#if defined(TCP_KEEPIDLE)
  const int idle = 60;
  static_cast<void>(setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle));
#elif defined(TCP_KEEPALIVE)
  const int idle = 60;
  static_cast<void>(setsockopt(socket, IPPROTO_TCP, TCP_KEEPALIVE, &idle, sizeof idle));
#endif
}

std::string_view program_name() noexcept {
#ifdef __linux__
  return program_invocation_short_name;
#else
  return getprogname();
#endif
}

void name_this_thread([[maybe_unused]] const char* name) noexcept {
#ifdef __APPLE__
  static_cast<void>(pthread_setname_np(name));
#elif defined(__linux__)
  static_cast<void>(pthread_setname_np(pthread_self(), name));
#endif
}

}  // namespace redlock::support
