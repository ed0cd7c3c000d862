#include "uv/deadline_timer.hpp"

#include "support/platform.hpp"

namespace redlock::uv {

using std::chrono::nanoseconds;

DeadlineTimer::DeadlineTimer(uv_loop_t* loop, Callback on_deadline)
    : on_deadline_(on_deadline), timer_(loop, Callback::to<&DeadlineTimer::expire>(*this)) {
  timer_.leave_loop_alone();
}

DeadlineTimer::~DeadlineTimer() = default;

void DeadlineTimer::arm(nanoseconds since_boot) noexcept {
  if (!wanted_) timer_.keep_loop_alive();
  wanted_ = since_boot;
  if (!set_in_system_ || since_boot < *set_in_system_) set_system_timer(since_boot);
}

void DeadlineTimer::disarm() noexcept {
  if (!wanted_) return;
  wanted_.reset();
  timer_.leave_loop_alone();
}

nanoseconds DeadlineTimer::now() noexcept { return support::boot_time(); }

void DeadlineTimer::expire() noexcept {
  set_in_system_.reset();
  if (!wanted_) return;
  if (now() < *wanted_) {
    set_system_timer(*wanted_);
    return;
  }
  disarm();
  const Callback on_deadline = on_deadline_;
  on_deadline();
}

void DeadlineTimer::set_system_timer(nanoseconds since_boot) noexcept {
  timer_.set(since_boot);
  set_in_system_ = since_boot;
}

}  // namespace redlock::uv
