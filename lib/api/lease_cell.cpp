#include "api/lease_cell.hpp"

#include <utility>

#include "api/client_core.hpp"
#include "runtime/boot_time.hpp"
#include "runtime/explain.hpp"

namespace redlock::api {

LeaseCell::LeaseCell(std::shared_ptr<ClientCore> core, const core::Acquired& granted,
                     const core::Claim& claim, std::chrono::nanoseconds validity,
                     LeaseCallbacks callbacks)
    : core_(std::move(core)),
      claim_(claim.id()),
      call_(granted.request),
      resource_(claim.terms.resource),
      more_resources_(claim.terms.more_resources),
      token_(claim.token),
      valid_until_(granted.valid_until.time_since_epoch().count()),
      callbacks_(std::move(callbacks)),
      granting_round_(
          runtime::report_round(claim.round, core_->urls(), granted.elapsed, validity)) {
  if (claim.fencing()) fencing_ = FencingToken(claim.fencing()->number);
}

bool LeaseCell::end() noexcept {
  State live = State::live;
  return state_.compare_exchange_strong(live, State::ended, std::memory_order_acq_rel);
}

bool LeaseCell::lose() noexcept {
  State live = State::live;
  return state_.compare_exchange_strong(live, State::lost, std::memory_order_acq_rel);
}

void LeaseCell::tell_risk() const noexcept {
  // It may have been renewed, released or lost since.
  const auto left = valid_until() - BootClock::now();
  if (live() && left > std::chrono::nanoseconds::zero()) callbacks_.on_at_risk(left);
}

void LeaseCell::tell_loss(const Error& error) noexcept {
  std::optional<std::stop_source> source;
  {
    const std::lock_guard lock(lost_mutex_);
    source = lost_source_;
  }
  if (source) source->request_stop();  // runs the holder's callbacks: not under the lock
  LeaseCallbacks callbacks = take_callbacks();
  if (callbacks.on_lost) callbacks.on_lost(error);
}

std::stop_token LeaseCell::lost() const {
  const std::lock_guard lock(lost_mutex_);
  if (!lost_source_) {
    lost_source_.emplace();
    if (was_lost()) lost_source_->request_stop();
  }
  return lost_source_->get_token();
}

}  // namespace redlock::api
