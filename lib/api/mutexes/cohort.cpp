#include "api/mutexes/cohort.hpp"

#include <algorithm>

namespace redlock::api {

using core::Duration;
using core::Instant;
using core::OtherClients;

bool Cohort::enter() noexcept {
  if (taken_) return false;
  taken_ = true;
  return true;
}

void Cohort::queue(Waiter& waiter, Instant now) noexcept {
  waiter.since_ = now;
  waiter.previous_ = last_;
  (last_ != nullptr ? last_->next_ : first_) = &waiter;
  last_ = &waiter;
}

void Cohort::remove(Waiter& waiter) noexcept {
  (waiter.previous_ != nullptr ? waiter.previous_->next_ : first_) = waiter.next_;
  (waiter.next_ != nullptr ? waiter.next_->previous_ : last_) = waiter.previous_;
  if (awake_ == &waiter) awake_ = nullptr;
}

bool Cohort::enter(Waiter& waiter, Instant now) noexcept {
  if (waiter.handed_over_) {
    slice_began_ = now;
    return true;
  }
  // From here on, the holder has to wake this thread again.
  if (awake_ == &waiter) awake_ = nullptr;
  if (taken_) return false;
  taken_ = true;
  remove(waiter);
  return true;
}

void Cohort::cancel(Waiter& waiter) noexcept { remove(waiter); }

Cohort::Waiter* Cohort::leave(Instant now) noexcept {
  Waiter* const first = first_;
  taken_ = false;
  if (first == nullptr) return nullptr;
  const bool slice_is_over = now >= later(slice_began_, slice);
  if (slice_is_over && now - first->since_ >= patience) {
    taken_ = true;
    first->handed_over_ = true;
    remove(*first);
    return first;
  }
  if (awake_ != nullptr) return nullptr;
  awake_ = first;
  return first;
}

void Cohort::granted(Instant now, Instant valid_until) noexcept {
  // The round began before `now`, but after the deadline minus the TTL.
  granted_ = std::min(now, later(valid_until, -terms_.ttl));
  passed_ = 0;
  asked_ = false;
}

bool Cohort::is_good(const LeaseState& lease, Instant now) const noexcept {
  // A renewal begins when two thirds of the TTL are left, and is repeated after failures. If less
  // than a half is left, the nodes have been failing for a while. A lease of its own, or the news
  // that there is none, is then better for the next holder than the rest of this lease.
  return lease.live && lease.valid_until - now >= terms_.ttl / 2;
}

bool Cohort::passes(const LeaseState& lease, Instant now) const noexcept {
  if (!terms_.passes || first_ == nullptr || !is_good(lease, now)) return false;
  // This limit ignores `others`, so a lost notification makes no client wait for longer than a TTL.
  if (now - granted_ >= terms_.ttl) return false;
  return lease.others == OtherClients::none || passed_ < most_passes;
}

bool Cohort::takes(const LeaseState& lease, Instant now) noexcept {
  ++passed_;
  return is_good(lease, now);
}

bool Cohort::asks(const LeaseState& lease) noexcept {
  if (asked_ || !terms_.passes || lease.others != OtherClients::unknown) return false;
  // An empty queue has nobody to pass the lease to, unless the last pass has just emptied it.
  if (first_ == nullptr && passed_ == 0) return false;
  asked_ = true;
  return true;
}

}  // namespace redlock::api
