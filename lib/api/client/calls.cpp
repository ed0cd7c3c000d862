#include "api/client/calls.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/options/admission.hpp"
#include "api/options/groups.hpp"
#include "runtime/boot_time.hpp"
#include "runtime/explain.hpp"

namespace redlock::api {
namespace {

/// The keys of the other resources, each once, in an order that is the same for all contenders.
std::vector<std::string> more_keys_of(const Target& target, const Keyspace& keyspace) {
  if (target.more_resources().empty()) return {};
  std::vector<std::string> more = target.more_resources();
  std::erase(more, target.resource());
  std::sort(more.begin(), more.end());
  more.erase(std::unique(more.begin(), more.end()), more.end());
  keyspace.make_keys(more);
  return more;
}

/// Adds to an `unavailable` error what the lease has become: after a downgrade that too few nodes
/// answered, the caller must not go on as a writer.
RoundDone says_what_it_is_now(const char* what, RoundDone done) {
  if (!done) return done;
  return [what, done = std::move(done)](Result<Round> outcome) mutable {
    if (outcome || outcome.error().code != Errc::unavailable) return done(std::move(outcome));
    Error error = std::move(outcome).error();
    error.message += what;
    done(std::move(error));
  };
}

Error no_lease_error() { return Error{Errc::not_holder, "there is no lease", {}}; }

}  // namespace

template <typename Value>
void Calls::complete(Answer<Value> done, Result<Value> value) {
  if (!done) return;
  // Closed: there is no turn left to wait for, and any thread may be here.
  if (!state_.driver) return done(std::move(value));
  state_.completions.answer(std::move(done), std::move(value));
  state_.driver->request_turn_end();
}

template <typename Value>
bool Calls::refused(const std::optional<std::string>& why, Answer<Value>& done) {
  const bool is_closed = !state_.driver || state_.closing;
  if (!why && !is_closed) return false;
  complete<Value>(std::move(done), why ? Error{Errc::invalid_argument, *why, {}}
                                       : runtime::explain(Errc::closed, {}, {}));
  return true;
}

void Calls::acquire(AcquireDone done, RequestId request, const Target& target,
                    AcquireOptions&& options, std::chrono::nanoseconds wait) {
  const std::string& resource = target.resource();
  if (refused(refuse_acquire(state_.configuration.settings, target, options), done)) return;
  // Constructed in place, because a move would copy a large event.
  core::Event event(std::in_place_type<core::Acquire>);
  auto& wanted = *std::get_if<core::Acquire>(&event);
  PendingCalls::Call& call = state_.pending.add(resource, std::move(done));
  wanted.request = call.id();
  state_.pending.name(call, request);
  call.callbacks = {std::move(options.on_lost), std::move(options.on_at_risk)};
  call.waits = wait > std::chrono::nanoseconds::zero();
  state_.observing.began(wanted.request, resource);
  wanted.resource = state_.keyspace.key_of(resource);
  wanted.ttl = std::chrono::floor<std::chrono::milliseconds>(options.ttl);
  wanted.wait = std::max(wait, std::chrono::nanoseconds::zero());
  wanted.wants_remaining = state_.configuration.name_holders;
  wanted.renewal = core::RenewalLimits{options.max_renewals, options.max_hold, options.renew};
  if (options.orphan_ttl) {
    wanted.orphan_ttl = std::chrono::floor<std::chrono::milliseconds>(*options.orphan_ttl);
  }
  const std::vector<std::string> more_keys = more_keys_of(target, state_.keyspace);
  wanted.more_resources = more_keys;
  const std::string group = group_of(target.kind(), target.owner());
  wanted.group = group;
  wanted.name = options.name;
  wanted.interval = target.interval();
  wanted.permits = static_cast<std::uint32_t>(target.permits());
  if (options.fencing) {
    const auto wall_clock = std::chrono::system_clock::now().time_since_epoch();
    wanted.fencing = wall_clock - runtime::boot_now().time_since_epoch();
  }
  state_.driver->step(event);
}

void Calls::adopt(AcquireDone done, const DetachedLease& detached, AcquireOptions&& options) {
  if (refused(refuse_adopt(state_.configuration.settings, detached, options), done)) return;
  const std::string& resource = detached.resources.front();
  core::Adopt event;
  PendingCalls::Call& call = state_.pending.add(resource, std::move(done));
  event.request = call.id();
  call.callbacks = {std::move(options.on_lost), std::move(options.on_at_risk)};
  state_.observing.began(event.request, resource);
  event.resource = state_.keyspace.key_of(resource);
  const std::vector<std::string> more_keys =
      more_keys_of(all_of(detached.resources), state_.keyspace);
  event.more_resources = more_keys;
  event.token = detached.token;
  event.ttl =
      std::chrono::floor<std::chrono::milliseconds>(std::min(options.ttl, options.max_hold));
  const std::string group = group_of(detached.kind, detached.owner);
  event.group = group;
  event.renewal = core::RenewalLimits{options.max_renewals, options.max_hold, options.renew};
  event.fencing_number = detached.fencing_token.value_or(FencingToken()).value();
  state_.driver->step(event);
}

void Calls::extend(RoundDone done, const std::shared_ptr<LeaseCell>& cell,
                   std::chrono::nanoseconds ttl) {
  if (!cell) return complete<Round>(std::move(done), no_lease_error());
  if (refused(refuse_ttl(state_.configuration.settings, ttl), done)) return;
  core::Extend event;
  event.request = state_.pending.add(cell->name(), std::move(done)).id();
  event.claim = cell->claim();
  event.ttl = std::chrono::floor<std::chrono::milliseconds>(ttl);
  state_.driver->step(event);
}

void Calls::downgrade(RoundDone done, const std::shared_ptr<LeaseCell>& cell) {
  if (!cell) return complete<Round>(std::move(done), no_lease_error());
  const core::Claim* const claim =
      state_.driver ? state_.driver->engine().claim(cell->claim()) : nullptr;
  const auto why = claim != nullptr ? refuse_downgrade(claim->terms()) : std::nullopt;
  if (refused(why, done)) return;
  cell->downgrade();
  core::Downgrade event;
  event.request =
      state_.pending
          .add(cell->name(),
               says_what_it_is_now(
                   "; the lease is a reader's from now on, but too few nodes have confirmed it",
                   std::move(done)))
          .id();
  event.claim = cell->claim();
  state_.driver->step(event);
}

void Calls::forget(const LeaseCell& cell, HoldObservation::End why) noexcept {
  if (!state_.held.find(cell.claim())) return;
  const core::Claim& claim = *state_.driver->engine().claim(cell.claim());
  // The engine does not count this loss if the release comes before its timers.
  if (cell.was_lost() && claim.phase == core::Claim::Phase::held) ++state_.found_lost;
  state_.held.end(cell.claim(), why,
                  [&](const LeaseCell& lost) { return state_.explain_loss(lost, claim.round); });
}

void Calls::release(RoundDone done, const std::shared_ptr<LeaseCell>& cell) {
  if (!cell) return complete<Round>(std::move(done), no_lease_error());
  if (refused(std::nullopt, done)) return;
  forget(*cell, HoldObservation::End::released);
  core::Release event;
  if (done) event.request = state_.pending.add(cell->name(), std::move(done)).id();
  event.claim = cell->claim();
  state_.driver->step(event);
}

void Calls::detach(const std::shared_ptr<LeaseCell>& cell) {
  if (!state_.driver) return;
  forget(*cell, HoldObservation::End::detached);
  state_.driver->step(core::Detach{cell->claim()});
}

void Calls::watch_others(const std::shared_ptr<LeaseCell>& cell) {
  if (state_.driver) state_.driver->step(core::WatchQueue{cell->claim()});
}

void Calls::extend_by_token(RoundDone done, const Target& target, const Token& token,
                            std::chrono::nanoseconds ttl) {
  const std::string& resource = target.resource();
  auto why = refuse_by_token(state_.configuration.settings, target, token);
  if (!why) why = refuse_ttl(state_.configuration.settings, ttl);
  if (refused(why, done)) return;
  core::ExtendToken event;
  event.request = state_.pending.add(resource, std::move(done)).id();
  event.resource = state_.keyspace.key_of(resource);
  const std::vector<std::string> more_keys = more_keys_of(target, state_.keyspace);
  event.more_resources = more_keys;
  event.token = token;
  event.ttl = std::chrono::floor<std::chrono::milliseconds>(ttl);
  state_.driver->step(event);
}

void Calls::downgrade_by_token(RoundDone done, std::string_view resource, const Token& token) {
  if (refused(refuse_downgrade(state_.configuration.settings, resource, token), done)) return;
  core::DowngradeToken event;
  event.request =
      state_.pending
          .add(resource,
               says_what_it_is_now(
                   "; call it again: some nodes may have let readers in, so the holder of this "
                   "token must not write",
                   std::move(done)))
          .id();
  event.resource = state_.keyspace.key_of(resource);
  event.token = token;
  state_.driver->step(event);
}

void Calls::release_by_token(RoundDone done, const Target& target, const Token& token) {
  end_by_token(std::move(done), target, token, std::nullopt);
}

void Calls::break_lock_by_token(RoundDone done, std::string_view resource, const Token& token,
                                BreakOptions options) {
  end_by_token(std::move(done), Target(resource), token, options);
}

void Calls::end_by_token(RoundDone done, const Target& target, const Token& token,
                         const std::optional<BreakOptions>& by_operator) {
  const std::string& resource = target.resource();
  auto why = refuse_by_token(state_.configuration.settings, target, token);
  if (!why && by_operator) why = refuse_break(state_.configuration.settings, *by_operator);
  if (refused(why, done)) return;
  core::ReleaseToken event;
  event.request = state_.pending.add(resource, std::move(done)).id();
  event.resource = state_.keyspace.key_of(resource);
  const std::vector<std::string> more_keys = more_keys_of(target, state_.keyspace);
  event.more_resources = more_keys;
  event.token = token;
  event.by_operator = by_operator.has_value();
  if (by_operator) event.delay = by_operator->delay;
  state_.driver->step(event);
}

template <typename Value>
void Calls::ask(Answer<Value> done, std::string_view resource, const Token& token,
                std::optional<std::string> why) {
  if (auto mistake = refuse_resource(state_.configuration.settings, resource))
    why = std::move(mistake);
  if (refused(why, done)) return;
  core::Inspect event;
  event.request = state_.pending.add(resource, std::move(done)).id();
  event.resource = state_.keyspace.key_of(resource);
  event.token = token;
  state_.driver->step(event);
}

void Calls::inspect(InspectDone done, std::string_view resource) {
  ask(std::move(done), resource, Token(), std::nullopt);
}

void Calls::ownership(OwnershipDone done, std::string_view resource, const Token& token) {
  // A key of another type has no token, which is not to be taken for holding the empty one.
  ask(std::move(done), resource, token,
      token.empty() ? std::optional<std::string>("token: empty") : std::nullopt);
}

void Calls::watch(InspectDone changed, RequestId request, std::string_view resource,
                  WatchOptions options) {
  auto why = refuse_resource(state_.configuration.settings, resource);
  if (!why && options.poll_interval <= std::chrono::nanoseconds::zero())
    why = "poll_interval: must be positive";
  if (refused(why, changed)) return;
  core::Observe event;
  PendingCalls::Call& call =
      state_.pending.add(resource, std::make_shared<Watching>(std::move(changed)));
  event.request = call.id();
  state_.pending.name(call, request);
  event.resource = state_.keyspace.key_of(resource);
  event.poll_interval = options.poll_interval;
  state_.driver->step(event);
}

void Calls::cancel(RequestId request) {
  if (!state_.driver) return;
  if (const auto named = state_.pending.find(request)) state_.driver->step(core::Cancel{*named});
}

void Calls::metrics(MetricsDone done) {
  if (!done) return;
  if (!state_.driver) return done(runtime::explain(Errc::closed, {}, {}));
  Metrics metrics = state_.driver->metrics();
  metrics.leases_lost += state_.found_lost;
  state_.completions.post([done = std::move(done), metrics]() mutable { done(metrics); });
  state_.driver->request_turn_end();
}

}  // namespace redlock::api
