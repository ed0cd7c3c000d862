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

std::string_view program_name() noexcept { return program_invocation_short_name; }

void name_this_thread(const char* name) noexcept {
  static_cast<void>(pthread_setname_np(pthread_self(), name));
}

}  // namespace redlock::support
