#include <algorithm>

#include "support/assert.hpp"
#include "support/platform.hpp"
#include "uv/boot_timer.hpp"
#include "uv/handle.hpp"

namespace redlock::uv {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

namespace {

/// How long libuv's clock is trusted, because it may stop in suspend.
constexpr milliseconds longest_nap(1000);

}  // namespace

struct BootTimer::State {
  State(uv_loop_t* loop, Callback expiry)
      : on_expiry(expiry),
        timer(make_handle<uv_timer_t>(this, "creating a deadline timer", [&](uv_timer_t* handle) {
          return uv_timer_init(loop, handle);
        })) {}

  void nap() const noexcept {
    const nanoseconds left = std::max(instant - support::boot_time(), nanoseconds(0));
    const auto rounded = std::chrono::ceil<milliseconds>(std::min<nanoseconds>(left, longest_nap));
    // libuv counts from the beginning of its turn, which may have been long ago.
    uv_update_time(timer->loop);
    REDLOCK_ASSERT(
        uv_timer_start(timer.get(), on_timer, static_cast<std::uint64_t>(rounded.count()), 0) == 0);
  }

  static void on_timer(uv_timer_t* timer) noexcept {
    const auto* state = static_cast<const State*>(timer->data);
    // libuv's time is cut to milliseconds, so the timer may be early by less than one.
    if (support::boot_time() < state->instant) {
      state->nap();
      return;
    }
    const Callback callback = state->on_expiry;
    callback();
  }

  Callback on_expiry;
  nanoseconds instant{};
  Handle<uv_timer_t> timer;
};

BootTimer::BootTimer(uv_loop_t* loop, Callback on_expiry)
    : state_(std::make_unique<State>(loop, on_expiry)),
      handle_(reinterpret_cast<uv_handle_t*>(state_->timer.get())) {}

BootTimer::~BootTimer() = default;

void BootTimer::set(nanoseconds since_boot) noexcept {
  state_->instant = since_boot;
  state_->nap();
}

}  // namespace redlock::uv
