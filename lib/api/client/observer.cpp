#include "redlock/observer.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

Observer::~Observer() = default;
void Observer::acquire_began(const AcquireObservation& /*call*/) noexcept {}
void Observer::acquire_ended(const AcquireObservation& /*call*/) noexcept {}
void Observer::hold_began(const HoldObservation& /*hold*/) noexcept {}
void Observer::hold_ended(const HoldObservation& /*hold*/) noexcept {}
void Observer::lease_lost(const HoldObservation& /*hold*/) noexcept {}

}  // namespace REDLOCK_ABI
}  // namespace redlock
