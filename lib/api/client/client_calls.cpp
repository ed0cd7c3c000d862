#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/client/client_core.hpp"
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
  return [what, done = std::move(done)](Result<RoundReport> outcome) mutable {
    if (outcome || outcome.error().code != Errc::unavailable) return done(std::move(outcome));
    Error error = std::move(outcome).error();
    error.message += what;
    done(std::move(error));
  };
}

Error no_lease_error() { return Error{Errc::not_holder, "there is no lease", {}}; }

}  // namespace

// --- any thread -------------------------------------------------------------------------------

RequestId ClientCore::acquire(Target&& target, AcquireOptions&& options,
                              std::chrono::nanoseconds wait, AcquireDone done) {
  if (is_refused(done)) return RequestId{};
  const RequestId request = next_request();
  on_loop<&ClientCore::begin_acquire>(Lane::acquire, std::move(done), request, std::move(target),
                                      std::move(options), wait);
  return request;
}

RequestId ClientCore::watch(std::string_view resource, WatchOptions options, InspectDone changed) {
  if (is_refused(changed)) return RequestId{};
  const RequestId request = next_request();
  on_loop<&ClientCore::begin_watch>(Lane::last, std::move(changed), request, resource, options);
  return request;
}

void ClientCore::release(const std::shared_ptr<LeaseCell>& cell, RoundDone done) {
  if (is_refused(done)) return;
  // From here on, the lease can no longer be lost, unless it was lost before.
  if (cell) static_cast<void>(cell->end());
  on_loop<&ClientCore::begin_release>(Lane::release, std::move(done), cell);
}

void ClientCore::detach(const std::shared_ptr<LeaseCell>& cell) {
  if (forked()) return;
  dispatch([this, cell] {
    if (!driver_) return;
    forget(*cell, HoldObservation::End::detached);
    driver_->step(core::Detach{cell->claim()});
  });
}

void ClientCore::watch_others(const std::shared_ptr<LeaseCell>& cell) {
  if (forked()) return;
  dispatch([this, cell] {
    if (driver_) driver_->step(core::WatchQueue{cell->claim()});
  });
}

void ClientCore::cancel(RequestId request) {
  if (forked()) return;
  dispatch([this, request] {
    if (!driver_) return;
    if (const auto named = pending_.find(request)) driver_->step(core::Cancel{*named});
  });
}

// --- the loop's thread ------------------------------------------------------------------------

template <typename Value>
void ClientCore::complete(Answer<Value> done, Result<Value> value) {
  if (!done) return;
  // Closed: there is no turn left to wait for, and any thread may be here.
  if (!driver_) return done(std::move(value));
  completions_.answer(std::move(done), std::move(value));
  driver_->request_turn_end();
}

template <typename Value>
bool ClientCore::refused(const std::optional<std::string>& why, Answer<Value>& done) {
  const bool is_closed = !driver_ || closing_;
  if (!why && !is_closed) return false;
  complete<Value>(std::move(done), why ? Error{Errc::invalid_argument, *why, {}}
                                       : runtime::explain(Errc::closed, {}, {}));
  return true;
}

void ClientCore::begin_acquire(AcquireDone done, RequestId request, const Target& target,
                               AcquireOptions&& options, std::chrono::nanoseconds wait) {
  const std::string& resource = target.resource();
  if (refused(refuse_acquire(configuration_.settings, target, options), done)) return;
  // Constructed in place, because a move would copy a large event.
  core::Event event(std::in_place_type<core::Acquire>);
  auto& wanted = *std::get_if<core::Acquire>(&event);
  PendingCalls::Call& call = pending_.add(resource, std::move(done));
  wanted.request = call.id();
  pending_.name(call, request);
  call.callbacks = {std::move(options.on_lost), std::move(options.on_at_risk)};
  observing_.began(wanted.request, resource);
  wanted.resource = keyspace_.key_of(resource);
  wanted.ttl = std::chrono::floor<std::chrono::milliseconds>(options.ttl);
  wanted.wait = std::max(wait, std::chrono::nanoseconds::zero());
  wanted.wants_remaining = configuration_.name_holders;
  wanted.renewal = core::RenewalLimits{options.max_renewals, options.max_hold, options.renew};
  if (options.orphan_ttl) {
    wanted.orphan_ttl = std::chrono::floor<std::chrono::milliseconds>(*options.orphan_ttl);
  }
  const std::vector<std::string> more_keys = more_keys_of(target, keyspace_);
  wanted.more_resources = more_keys;
  const std::string group = group_of(target.kind(), target.owner());
  wanted.group = group;
  wanted.name = options.name;
  wanted.hold_at_least = target.hold_at_least();
  wanted.permits = static_cast<std::uint32_t>(target.permits());
  if (options.fencing) {
    const auto wall_clock = std::chrono::system_clock::now().time_since_epoch();
    wanted.fencing = wall_clock - runtime::boot_now().time_since_epoch();
  }
  driver_->step(event);
}

void ClientCore::begin_adopt(AcquireDone done, const DetachedLease& detached,
                             AcquireOptions&& options) {
  if (refused(refuse_adopt(configuration_.settings, detached, options), done)) return;
  const std::string& resource = detached.resources.front();
  core::Adopt event;
  PendingCalls::Call& call = pending_.add(resource, std::move(done));
  event.request = call.id();
  call.callbacks = {std::move(options.on_lost), std::move(options.on_at_risk)};
  observing_.began(event.request, resource);
  event.resource = keyspace_.key_of(resource);
  const std::vector<std::string> more_keys = more_keys_of(all_of(detached.resources), keyspace_);
  event.more_resources = more_keys;
  event.token = detached.token;
  event.ttl =
      std::chrono::floor<std::chrono::milliseconds>(std::min(options.ttl, options.max_hold));
  const std::string group = group_of(detached.kind, detached.owner);
  event.group = group;
  event.renewal = core::RenewalLimits{options.max_renewals, options.max_hold, options.renew};
  event.fencing_number = detached.fencing_token.value_or(FencingToken()).value();
  driver_->step(event);
}

void ClientCore::begin_extend(RoundDone done, const std::shared_ptr<LeaseCell>& cell,
                              std::chrono::nanoseconds ttl) {
  if (!cell) return complete<RoundReport>(std::move(done), no_lease_error());
  if (refused(refuse_ttl(configuration_.settings, ttl), done)) return;
  core::Extend event;
  event.request = pending_.add(cell->name(), std::move(done)).id();
  event.claim = cell->claim();
  event.ttl = std::chrono::floor<std::chrono::milliseconds>(ttl);
  driver_->step(event);
}

void ClientCore::begin_downgrade(RoundDone done, const std::shared_ptr<LeaseCell>& cell) {
  if (!cell) return complete<RoundReport>(std::move(done), no_lease_error());
  const core::Claim* const claim = driver_ ? driver_->engine().claim(cell->claim()) : nullptr;
  const auto why = claim != nullptr ? refuse_downgrade(claim->terms()) : std::nullopt;
  if (refused(why, done)) return;
  cell->downgrade();
  core::Downgrade event;
  event.request =
      pending_
          .add(cell->name(),
               says_what_it_is_now(
                   "; the lease is a reader's from now on, but too few nodes have confirmed it",
                   std::move(done)))
          .id();
  event.claim = cell->claim();
  driver_->step(event);
}

void ClientCore::forget(const LeaseCell& cell, HoldObservation::End why) noexcept {
  if (!held_.find(cell.claim())) return;
  const core::Claim& claim = *driver_->engine().claim(cell.claim());
  // The engine does not count this loss if the release comes before its timers.
  if (cell.was_lost() && claim.phase == core::Claim::Phase::held) ++found_lost_;
  held_.end(cell.claim(), why,
            [&](const LeaseCell& lost) { return explain_loss(lost, claim.round); });
}

void ClientCore::begin_release(RoundDone done, const std::shared_ptr<LeaseCell>& cell) {
  if (!cell) return complete<RoundReport>(std::move(done), no_lease_error());
  if (refused(std::nullopt, done)) return;
  forget(*cell, HoldObservation::End::released);
  core::Release event;
  if (done) event.request = pending_.add(cell->name(), std::move(done)).id();
  event.claim = cell->claim();
  driver_->step(event);
}

void ClientCore::begin_extend_by_token(RoundDone done, const Target& target, const Token& token,
                                       std::chrono::nanoseconds ttl) {
  const std::string& resource = target.resource();
  auto why = refuse_by_token(configuration_.settings, target, token);
  if (!why) why = refuse_ttl(configuration_.settings, ttl);
  if (refused(why, done)) return;
  core::ExtendToken event;
  event.request = pending_.add(resource, std::move(done)).id();
  event.resource = keyspace_.key_of(resource);
  const std::vector<std::string> more_keys = more_keys_of(target, keyspace_);
  event.more_resources = more_keys;
  event.token = token;
  event.ttl = std::chrono::floor<std::chrono::milliseconds>(ttl);
  driver_->step(event);
}

void ClientCore::begin_downgrade_by_token(RoundDone done, std::string_view resource,
                                          const Token& token) {
  if (refused(refuse_downgrade(configuration_.settings, resource, token), done)) return;
  core::DowngradeToken event;
  event.request =
      pending_
          .add(resource,
               says_what_it_is_now(
                   "; call it again: some nodes may have let readers in, so the holder of this "
                   "token must not write",
                   std::move(done)))
          .id();
  event.resource = keyspace_.key_of(resource);
  event.token = token;
  driver_->step(event);
}

void ClientCore::begin_release_by_token(RoundDone done, const Target& target, const Token& token,
                                        std::optional<BreakOptions> by_operator) {
  const std::string& resource = target.resource();
  auto why = refuse_by_token(configuration_.settings, target, token);
  if (!why && by_operator) why = refuse_break(configuration_.settings, *by_operator);
  if (refused(why, done)) return;
  core::ReleaseToken event;
  event.request = pending_.add(resource, std::move(done)).id();
  event.resource = keyspace_.key_of(resource);
  const std::vector<std::string> more_keys = more_keys_of(target, keyspace_);
  event.more_resources = more_keys;
  event.token = token;
  event.by_operator = by_operator.has_value();
  if (by_operator) event.delay = by_operator->delay;
  driver_->step(event);
}

template <typename Value>
void ClientCore::ask(Answer<Value> done, std::string_view resource, const Token& token,
                     std::optional<std::string> why) {
  if (auto mistake = refuse_resource(configuration_.settings, resource)) why = std::move(mistake);
  if (refused(why, done)) return;
  core::Inspect event;
  event.request = pending_.add(resource, std::move(done)).id();
  event.resource = keyspace_.key_of(resource);
  event.token = token;
  driver_->step(event);
}

void ClientCore::begin_inspect(InspectDone done, std::string_view resource) {
  ask(std::move(done), resource, Token(), std::nullopt);
}

void ClientCore::begin_ownership(OwnershipDone done, std::string_view resource,
                                 const Token& token) {
  // A key of another type has no token, which is not to be taken for holding the empty one.
  ask(std::move(done), resource, token,
      token.empty() ? std::optional<std::string>("token: empty") : std::nullopt);
}

void ClientCore::begin_watch(InspectDone changed, RequestId request, std::string_view resource,
                             WatchOptions options) {
  auto why = refuse_resource(configuration_.settings, resource);
  if (!why && options.poll_interval <= std::chrono::nanoseconds::zero())
    why = "poll_interval: must be positive";
  if (refused(why, changed)) return;
  core::Observe event;
  PendingCalls::Call& call = pending_.add(resource, std::make_shared<Watching>(std::move(changed)));
  event.request = call.id();
  pending_.name(call, request);
  event.resource = keyspace_.key_of(resource);
  event.poll_interval = options.poll_interval;
  driver_->step(event);
}

void ClientCore::begin_metrics(MetricsDone done) {
  if (!done) return;
  if (!driver_) return done(runtime::explain(Errc::closed, {}, {}));
  Metrics metrics = driver_->metrics();
  metrics.leases_lost += found_lost_;
  completions_.post([done = std::move(done), metrics]() mutable { done(metrics); });
  driver_->request_turn_end();
}

}  // namespace redlock::api
