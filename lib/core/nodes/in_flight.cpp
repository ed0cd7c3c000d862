#include "core/nodes/in_flight.hpp"

#include "support/overwrite.hpp"

namespace redlock::core {

bool InFlight::is_upkeep_only() const noexcept {
  bool only = true;
  each([&only](const Stamp& stamp) { only = only && is_upkeep(stamp.verb); });
  return only;
}

std::optional<Stamp> InFlight::take() noexcept {
  if (ring_.empty()) return std::nullopt;
  const Stamp stamp = ring_.front().stamp;
  ring_.pop();
  return stamp;
}

void InFlight::broke(bool timed_out) noexcept {
  if (timed_out) measured_ = false;
  held_count_ = held_taken_ = details_held_ = details_taken_ = 0;
}

InFlight::HeldBack& InFlight::hold_back_next(const Stamp& stamp, Instant now) {
  REDLOCK_ASSERT(held_taken_ == 0);
  const Sent& sent = ring_[held_count_];
  REDLOCK_ASSERT(sent.stamp == stamp);
  if (held_.size() == held_count_) held_.emplace_back();
  HeldBack& held = held_[held_count_++];
  held.arrival = {now, now - sent.at};
  measure(held.arrival.took);
  return held;
}

void InFlight::hold_back(const Answer& answer, Instant now) {
  hold_back_next(answer.stamp, now).has_details = true;
  if (held_details_.size() == details_held_) held_details_.emplace_back();
  HeldDetails& details = held_details_[details_held_++];
  details.answer = answer;
  support::overwrite(details.text, answer.text);
  support::overwrite(details.for_people, answer.for_people);
}

void InFlight::hold_back(const PlainYes& plain_yes, Instant now) {
  HeldBack& held = hold_back_next(plain_yes.stamp, now);
  held.has_details = false;
  held.plain_yes = plain_yes;
}

const InFlight::HeldBack* InFlight::take_held_back() noexcept {
  if (held_count_ == 0) {
    held_taken_ = details_held_ = details_taken_ = 0;
    return nullptr;
  }
  ring_.pop();
  --held_count_;
  return &held_[held_taken_++];
}

Answer InFlight::take_held_details() noexcept {
  const HeldDetails& details = held_details_[details_taken_++];
  Answer answer = details.answer;
  answer.text = details.text;
  answer.for_people = details.for_people;
  return answer;
}

}  // namespace redlock::core
