#include "core/duties/observation.hpp"

#include <chrono>

namespace redlock::core {
namespace {

constexpr unsigned watched_at_once = 3;  // inspections in a row
constexpr Duration first_watch_pause = std::chrono::milliseconds(5);
constexpr Duration longest_watch_pause = std::chrono::milliseconds(160);

}  // namespace

Duration Observation::least_pause() const noexcept {
  if (close_inspections < watched_at_once) return Duration::zero();
  const unsigned doublings = std::min(close_inspections - watched_at_once, 10U);
  return std::min({first_watch_pause * (1 << doublings), longest_watch_pause, poll_interval()});
}

Instant Observation::soonest() const noexcept { return later(inspected_at, least_pause()); }

void Observation::note_inspection(Instant now) noexcept {
  const bool soon = now < later(inspected_at, 2 * std::max(least_pause(), first_watch_pause));
  close_inspections = soon ? close_inspections + 1 : 0;
  inspected_at = now;
}

}  // namespace redlock::core
