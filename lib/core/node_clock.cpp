#include "core/node_clock.hpp"

#include <algorithm>

#include "core/validity.hpp"

namespace redlock::core {
namespace {

// Compared over a second, a clock that runs too fast shows: from one request to the next it would
// hide in the uncertainty of each sample.
constexpr Duration anchored_for = std::chrono::seconds(1);

}  // namespace

Duration NodeClock::observe(Instant sent, Instant received, Duration time) noexcept {
  Sample sample;
  sample.error = (received - sent) / 2;
  sample.offset = time - (sent + sample.error).time_since_epoch();
  sample.at = received;
  latest_ = sample.offset;
  if (!anchor_) {
    anchor_ = sample;
    return Duration::zero();
  }
  const Duration gained = sample.offset - anchor_->offset;
  const Duration uncertain = sample.error + anchor_->error;
  const Duration allowed = uncertain + drift(received - anchor_->at);
  const bool forward = gained > allowed;
  const bool backward = gained < -allowed;
  const bool sharper = sample.error < anchor_->error / 4;
  if (forward || backward || sharper || received - anchor_->at >= anchored_for) anchor_ = sample;
  if (!forward) return Duration::zero();
  const Duration step = gained + uncertain;
  count(std::min(step, most_));
  return step;
}

void NodeClock::count(Duration step) noexcept {
  stepped_ = stepped_ > uncountable - step ? uncountable : stepped_ + step;
}

std::optional<Duration> NodeClock::offset() const noexcept {
  if (!anchor_) return std::nullopt;
  return latest_;
}

}  // namespace redlock::core
