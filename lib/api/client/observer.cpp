#include "redlock/observer.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

std::string_view to_string(HoldObservation::End end) noexcept {
  switch (end) {
    case HoldObservation::End::open:
      return "open";
    case HoldObservation::End::released:
      return "released";
    case HoldObservation::End::detached:
      return "detached";
    case HoldObservation::End::lost:
      return "lost";
    case HoldObservation::End::closed:
      return "closed";
  }
  return "unknown";
}

Observer::~Observer() = default;
void Observer::acquire_began(const AcquireObservation& /*call*/) noexcept {}
void Observer::acquire_ended(const AcquireObservation& /*call*/) noexcept {}
void Observer::hold_began(const HoldObservation& /*hold*/) noexcept {}
void Observer::hold_ended(const HoldObservation& /*hold*/) noexcept {}
void Observer::lease_lost(const HoldObservation& /*hold*/) noexcept {}

}  // namespace REDLOCK_ABI
}  // namespace redlock
