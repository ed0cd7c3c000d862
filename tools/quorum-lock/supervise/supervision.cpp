#include "quorum-lock/supervise/supervision.hpp"

#include <algorithm>
#include <utility>

namespace redlock::cli {
namespace {

using std::chrono::nanoseconds;
using Instant = Supervision::Instant;

Instant later(Instant from, nanoseconds by) {
  const auto left = Instant::max() - from;
  return by > left ? Instant::max() : from + by;
}

/// How often the lease is checked. No renewal must be missed, and renewals are at least a third of
/// the TTL apart. A deadline that a node's clock has brought nearer must be seen well within the
/// margin for SIGKILL.
nanoseconds look_interval(nanoseconds ttl, nanoseconds margin) {
  return std::max<nanoseconds>(std::min(ttl / 8, margin / 4), std::chrono::milliseconds{2});
}

}  // namespace

Supervision::Supervision(LossPlan plan, nanoseconds ttl, Instant now, Instant valid_until)
    : plan_(plan),
      look_interval_(look_interval(ttl, plan.margin)),
      valid_until_(valid_until),
      renewed_at_(now),
      looked_at_(now) {}

void Supervision::follow(Instant now, Instant valid_until) {
  const nanoseconds gap = now - std::exchange(looked_at_, now) - look_interval_;
  ending_.stopped = std::max(ending_.stopped, gap);
  if (valid_until > valid_until_) {
    renewed_at_ = now;
    ++ending_.renewals;
    ending_.shortened = ending_.stopped = nanoseconds{0};
  } else {
    ending_.shortened += valid_until_ - valid_until;
  }
  valid_until_ = valid_until;
}

Supervision::Order Supervision::look(Instant now, LeaseView lease) {
  // After the loss has begun, later changes of the lease do not explain it.
  if (phase_ == Phase::running) {
    follow(now, lease.valid_until);
    return look_while_running(now, lease);
  }
  valid_until_ = lease.valid_until;
  if (phase_ == Phase::killed) return Order::none;
  const bool over = lease.state == LeaseView::State::over;
  return over || now >= kill_at() ? lose(now, Order::kill) : Order::none;
}

Supervision::Order Supervision::look_while_running(Instant now, LeaseView lease) {
  // Too late for SIGTERM: a node's clock was set forward, this process was stopped, or the machine
  // slept, and somebody else may hold the lock by now.
  if (lease.state == LeaseView::State::over || now >= valid_until_) return lose(now, Order::kill);
  if (ending_.wait_status || now < valid_until_ - plan_.term_lead) return Order::none;
  terminated_at_ = now;
  return lose(now, now >= kill_at() ? Order::kill : Order::terminate);
}

Supervision::Order Supervision::lose(Instant now, Order order) {
  if (ending_.lock == Ending::Lock::kept) ending_.silence = now - renewed_at_;
  ending_.lock = Ending::Lock::lost;
  if (order == Order::kill) {
    phase_ = Phase::killed;
    // Nothing is left to be killed, and nothing has to be reported.
    if (gone()) return Order::none;
    give_up_at_ = later(now, death_limit);
    ending_.sent = Ending::Sent::kill;
  } else {
    phase_ = Phase::terminating;
    ending_.sent = Ending::Sent::terminate;
  }
  return order;
}

void Supervision::signal_refused() noexcept {
  if (ending_.remains == Ending::Remains::running) {
    ending_.remains = Ending::Remains::beyond_our_rights;
  }
}

/// When the grace ends: at the latest before the lease ends. Renewals move the end of the lease
/// later, and clock steps move it earlier.
Instant Supervision::kill_at() const noexcept {
  return std::min(later(terminated_at_, plan_.kill_after), valid_until_ - plan_.margin);
}

bool Supervision::gone() const noexcept {
  return ending_.wait_status && ending_.remains == Ending::Remains::none;
}

bool Supervision::finished(Instant now) const noexcept {
  switch (phase_) {
    case Phase::running:
      return ending_.wait_status.has_value();
    case Phase::terminating:
      return gone();
    case Phase::killed:
      return gone() || now >= give_up_at_;
  }
  return true;
}

Instant Supervision::next_look(Instant now) const noexcept {
  const auto soon = later(now, look_interval_);
  switch (phase_) {
    case Phase::running:
      return std::min(valid_until_ - plan_.term_lead, soon);
    case Phase::terminating:
      return std::min(kill_at(), soon);
    case Phase::killed:
      return give_up_at_;
  }
  return soon;
}

}  // namespace redlock::cli
