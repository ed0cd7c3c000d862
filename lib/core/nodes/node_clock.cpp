#include "core/nodes/node_clock.hpp"

#include <algorithm>

#include "core/votes/validity.hpp"
#include "core/votes/validity_basis.hpp"

namespace redlock::core {
namespace {

// How long an anchor is compared with. Over a second, the gain of a clock that runs too fast shows;
// from one request to the next, it would hide in the uncertainty of each sample.
constexpr Duration anchored_for = std::chrono::seconds(1);

}  // namespace

NodeClock::Reading NodeClock::observe(Instant sent, Instant received, Duration time) noexcept {
  Sample sample;
  sample.error = (received - sent) / 2;
  sample.offset = time - (sent + sample.error).time_since_epoch();
  sample.at = received;
  latest_ = sample;
  estimated_ = false;
  if (!anchor_) {
    anchor_ = sharpest_ = sample;
    return {};
  }
  const Comparison now = compare(sample, *anchor_);
  const Comparison over_long = compare(sample, *sharpest_);
  const bool forward = now.forward || over_long.forward;
  if (forward || now.backward || over_long.backward) {
    anchor_ = sharpest_ = sample;
  } else {
    const bool sharper = sample.error < anchor_->error / 4;
    if (sharper || received - anchor_->at >= anchored_for) anchor_ = sample;
    const bool sharpest = sample.error <= sharpest_->error / 2;
    if (sharpest || received - sharpest_->at >= most_) sharpest_ = sample;
  }
  const Comparison& shown = now.forward || !over_long.forward ? now : over_long;
  if (!forward) return {Duration::zero(), shown.gain};
  count(std::min(shown.most, most_));
  return {shown.most, shown.gain};
}

void NodeClock::ours_stood_still(const Gain& ours, bool read_since) noexcept {
  if (!anchor_) return;
  count(std::min(ours.most, most_));
  if (read_since) {
    anchor_ = sharpest_ = latest_;
    return;
  }
  estimated_ = true;
  const Duration error = (ours.most - ours.least) / 2;
  for (Sample* sample : {&*anchor_, &*sharpest_, &latest_}) {
    sample->offset += ours.least + error;
    sample->error += error;
  }
}

NodeClock::Comparison NodeClock::compare(const Sample& sample, const Sample& with) noexcept {
  const Duration gained = sample.offset - with.offset;
  const Duration uncertain = sample.error + with.error;
  const Duration allowed = uncertain + drift(sample.at - with.at);
  return {gained > allowed,
          gained < -allowed,
          gained + uncertain,
          {gained - allowed, gained + allowed}};
}

void NodeClock::count(Duration step) noexcept {
  stepped_ = stepped_ > uncountable_steps - step ? uncountable_steps : stepped_ + step;
}

std::optional<Duration> NodeClock::offset() const noexcept {
  if (!anchor_ || estimated_) return std::nullopt;
  return latest_.offset;
}

std::optional<Duration> NodeClock::at_least(Instant now) const noexcept {
  if (!anchor_ || estimated_) return std::nullopt;
  return now.time_since_epoch() + latest_.offset - latest_.error;
}

}  // namespace redlock::core
