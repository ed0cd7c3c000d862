#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <cerrno>

#include "support/platform.hpp"

namespace redlock::support {

const clockid_t boot_clock = CLOCK_BOOTTIME;

void fill_random(std::span<std::uint8_t> out) noexcept {
  while (!out.empty()) {
    const ssize_t got = getrandom(out.data(), out.size(), 0);
    if (got < 0) {
      REDLOCK_ASSERT(errno == EINTR);
      continue;
    }
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

const int send_without_sigpipe = MSG_NOSIGNAL;

void prevent_sigpipe(int /*socket*/) noexcept {}

void keep_alive(int socket) noexcept {
  const auto set = [socket](int level, int option, int value) {
    // Fails only for a connection that is over already.
    static_cast<void>(setsockopt(socket, level, option, &value, sizeof value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT,
      static_cast<int>(std::chrono::milliseconds(silence_allowed).count()));
}

std::string_view program_name() noexcept { return program_invocation_short_name; }

void name_this_thread(const char* name) noexcept {
  static_cast<void>(pthread_setname_np(pthread_self(), name));
}

}  // namespace redlock::support
