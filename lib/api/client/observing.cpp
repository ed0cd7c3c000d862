#include "api/client/observing.hpp"

#include <cstdint>
#include <utility>

#include "redlock/clock.hpp"

namespace redlock::api {
namespace {

[[nodiscard]] AcquireObservation observation_of(core::CallId call, const std::string& resource,
                                                std::optional<Errc> failure) {
  return {static_cast<std::uint64_t>(call), BootClock::now(), resource, failure};
}

[[nodiscard]] HoldObservation observation_of(const LeaseCell& cell) {
  HoldObservation hold;
  hold.call = static_cast<std::uint64_t>(cell.call());
  hold.at = BootClock::now();
  hold.resource = std::string(cell.name());
  hold.token = Token::parse(cell.label().token()).value_or(Token());
  hold.fencing_token = cell.fencing_token();
  return hold;
}

}  // namespace

void Observing::began(core::CallId call, const std::string& resource) {
  if (observer_ == nullptr) return;
  completions_.observe(*observer_, &Observer::acquire_began,
                       observation_of(call, resource, std::nullopt));
}

void Observing::ended(core::CallId call, const std::string& resource, std::optional<Errc> failure) {
  if (observer_ == nullptr) return;
  completions_.observe(*observer_, &Observer::acquire_ended,
                       observation_of(call, resource, failure));
}

void Observing::granted(core::CallId call, const std::string& resource, const LeaseCell& cell) {
  if (observer_ == nullptr) return;
  ended(call, resource, std::nullopt);
  completions_.observe(*observer_, &Observer::hold_began, observation_of(cell));
}

void Observing::over(const LeaseCell& cell, HoldObservation::End end) {
  if (observer_ == nullptr) return;
  HoldObservation hold = observation_of(cell);
  hold.end = end;
  if (end == HoldObservation::End::lost) {
    completions_.observe(*observer_, &Observer::lease_lost, hold);
  }
  completions_.observe(*observer_, &Observer::hold_ended, std::move(hold));
}

}  // namespace redlock::api
