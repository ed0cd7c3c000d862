#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "support/assert.hpp"
#include "support/platform.hpp"
#include "uv/boot_timer.hpp"
#include "uv/handle.hpp"

namespace redlock::uv {

struct BootTimer::State {
  State(uv_loop_t* loop, Callback expiry)
      : on_expiry(expiry),
        poll(make_handle<uv_poll_t>(this, "watching a deadline timer", [&](uv_poll_t* handle) {
          return uv_poll_init(loop, handle, fd.get());
        })) {
    REDLOCK_ASSERT(uv_poll_start(poll.get(), UV_READABLE, on_readable) == 0);
  }

  /// Closes the descriptor after the poll handle let go of it.
  class TimerFd {
   public:
    TimerFd() : fd_(timerfd_create(support::boot_clock, TFD_NONBLOCK | TFD_CLOEXEC)) {
      if (fd_ < 0) check(-errno, "creating a deadline timer");
    }
    ~TimerFd() {
      // Linux frees the descriptor whatever close() returns.
      static_cast<void>(::close(fd_));
    }
    TimerFd(const TimerFd&) = delete;
    TimerFd& operator=(const TimerFd&) = delete;
    [[nodiscard]] int get() const noexcept { return fd_; }

   private:
    int fd_;
  };

  static void on_readable(uv_poll_t* poll, int status, int /*events*/) noexcept {
    REDLOCK_ASSERT(status == 0);
    const auto* state = static_cast<const State*>(poll->data);
    std::uint64_t expirations = 0;
    // EAGAIN: the timer was set anew after the poll saw it expired; the new expiry will be seen
    // too.
    if (::read(state->fd.get(), &expirations, sizeof expirations) < 0) {
      REDLOCK_ASSERT(errno == EAGAIN || errno == EINTR);
      return;
    }
    const Callback callback = state->on_expiry;
    callback();
  }

  Callback on_expiry;
  TimerFd fd;
  Handle<uv_poll_t> poll;
};

BootTimer::BootTimer(uv_loop_t* loop, Callback on_expiry)
    : state_(std::make_unique<State>(loop, on_expiry)),
      handle_(reinterpret_cast<uv_handle_t*>(state_->poll.get())) {}

BootTimer::~BootTimer() = default;

void BootTimer::set(std::chrono::nanoseconds since_boot) noexcept {
  // An instant of zero would switch the timer off instead of firing at once.
  const auto instant = std::max(since_boot, std::chrono::nanoseconds(1));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(instant);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = (instant - seconds).count();
  REDLOCK_ASSERT(timerfd_settime(state_->fd.get(), TFD_TIMER_ABSTIME, &spec, nullptr) == 0);
}

}  // namespace redlock::uv
