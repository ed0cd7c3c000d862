#include "api/client/client_core.hpp"
#include "redlock/clock.hpp"

/// The calls to the observer, made as completions: see ClientCore::run_completions().
namespace redlock::api {

void ClientCore::observe_began(core::CallId call, const std::string& resource) {
  completions_.emplace_back(
      Told{&Observer::acquire_began,
           {static_cast<std::uint64_t>(call), BootClock::now(), resource, std::nullopt}});
}

void ClientCore::observe_ended(core::CallId call, const std::string& resource,
                               std::optional<Errc> failure) {
  completions_.emplace_back(
      Told{&Observer::acquire_ended,
           {static_cast<std::uint64_t>(call), BootClock::now(), resource, failure}});
}

HoldObservation ClientCore::observation_of(const LeaseCell& cell) {
  HoldObservation hold;
  hold.call = static_cast<std::uint64_t>(cell.call());
  hold.at = BootClock::now();
  hold.resource = std::string(cell.name());
  hold.token = Token::parse(cell.label().token()).value_or(Token());
  hold.fencing_token = cell.fencing_token();
  return hold;
}

void ClientCore::observe_grant(core::CallId call, const std::string& resource,
                               const LeaseCell& cell) {
  observe_ended(call, resource, std::nullopt);
  completions_.emplace_back(ToldHold{&Observer::hold_began, observation_of(cell)});
}

void ClientCore::observe_end(const LeaseCell& cell, HoldObservation::End end) {
  HoldObservation hold = observation_of(cell);
  hold.end = end;
  if (end == HoldObservation::End::lost) {
    completions_.emplace_back(ToldHold{&Observer::lease_lost, hold});
  }
  completions_.emplace_back(ToldHold{&Observer::hold_ended, std::move(hold)});
}

}  // namespace redlock::api
