#include "api/mutexes/async_mutex_core.hpp"

#include <utility>
#include <vector>

#include "api/leases/lease_cell.hpp"
#include "api/mutexes/mutex_lease.hpp"
#include "runtime/boot_time.hpp"
#include "runtime/explain.hpp"

namespace redlock::api {

AsyncMutexCore::AsyncMutexCore(std::shared_ptr<ClientCore> client, Target target,
                               AcquireOptions options)
    : client_(std::move(client)),
      target_(std::move(target)),
      options_(std::move(options)),
      cohort_(cohort_terms(target_, options_)) {}

Error AsyncMutexCore::explain(Errc why) const {
  Error error = runtime::explain(why, target_.resource(), {});
  if (why == Errc::held) error.message += " by another call of this process";
  return error;
}

RequestId AsyncMutexCore::lock(std::chrono::nanoseconds wait, GuardDone done) {
  if (!client_ || client_->forked()) {
    if (done) done(explain(client_ ? Errc::forked : Errc::closed));
    return RequestId{};
  }
  auto caller = std::make_unique<Caller>();
  const RequestId request = client_->next_request();
  caller->request = request;
  caller->until = core::later(runtime::boot_now(), wait);
  caller->done = std::move(done);
  client_->dispatch([self = shared_from_this(), caller = std::move(caller)]() mutable {
    Lock lock(self->mutex_);
    Caller& begun = *caller;
    self->callers_.emplace(begun.request, std::move(caller));
    self->begin(lock, begun);
  });
  return request;
}

void AsyncMutexCore::begin(Lock& lock, Caller& caller) {
  if (ended_) return answer(lock, caller, explain(Errc::cancelled), Inside::call);
  if (cohort_.enter()) return enter(lock, caller, Inside::call);
  const auto now = runtime::boot_now();
  if (caller.until <= now) return answer(lock, caller, explain(Errc::held), Inside::call);
  const auto local =
      client_->wait_locally(caller.until, [self = shared_from_this(), request = caller.request](
                                              LocalWaits::End end) { self->over(request, end); });
  if (!local) return answer(lock, caller, explain(Errc::closed), Inside::call);
  caller.local = *local;
  caller.queued = true;
  cohort_.queue(caller, now);
  lock.unlock();
}

/// The caller has the local lock.
void AsyncMutexCore::enter(Lock& lock, Caller& caller, Inside where) {
  if (!LeaseCell::of(lease_)) return acquire(lock, caller);
  if (cohort_.takes(look_at(lease_), runtime::boot_now())) {
    return take_passed_lease(lock, caller, where);
  }
  lease_ = Lease();
  acquire(lock, caller);
}

void AsyncMutexCore::take_passed_lease(Lock& lock, Caller& caller, Inside where) {
  ask_for_others();
  answer(lock, caller, AsyncMutexGuard(shared_from_this()), where);
}

void AsyncMutexCore::ask_for_others() {
  if (cohort_.asks(look_at(lease_))) client_->watch_others(LeaseCell::of(lease_));
}

void AsyncMutexCore::acquire(Lock& lock, Caller& caller) {
  const RequestId request = caller.request;
  const auto wait = wait_detail::time_left(runtime::to_public(caller.until));
  lock.unlock();
  // A closed client answers inside this call, so the lock must be free.
  const RequestId acquire =
      client_->acquire(Target(target_), AcquireOptions(options_), wait,
                       [self = shared_from_this(), request](Result<Lease> result) {
                         self->acquired(request, std::move(result));
                       });
  lock.lock();
  Caller* const still = find(request);
  if (still != nullptr) still->acquire = acquire;
  const bool cancelled = still != nullptr && still->cancelled;
  lock.unlock();
  if (cancelled) client_->cancel(acquire);
}

void AsyncMutexCore::acquired(RequestId request, Result<Lease> result) {
  Lock lock(mutex_);
  Caller& caller = *find(request);
  if (!result) {
    const std::unique_ptr<Caller> failed = std::move(callers_.extract(request).mapped());
    leave(lock);
    if (failed->done) failed->done(std::move(result).error());
    return;
  }
  lease_ = *std::move(result);
  cohort_.granted(runtime::boot_now(), runtime::to_core(lease_.valid_until()));
  ask_for_others();
  answer(lock, caller, AsyncMutexGuard(shared_from_this()), Inside::no);
}

void AsyncMutexCore::unlock() noexcept {
  // In a forked child, the lock belongs to the parent.
  if (client_->forked()) return;
  client_->dispatch([self = shared_from_this()] {
    Lock lock(self->mutex_);
    self->leave(lock);
  });
}

void AsyncMutexCore::leave(Lock& lock) noexcept {
  // Released before another call of this process can ask, so that the nodes see the release first.
  if (!cohort_.passes(look_at(lease_), runtime::boot_now())) lease_ = Lease();
  const auto* const next = static_cast<Caller*>(cohort_.leave(runtime::boot_now()));
  const RequestId request = next != nullptr ? next->request : RequestId{};
  lock.unlock();
  if (request == RequestId{}) return;
  client_->post([self = shared_from_this(), request] { self->woken(request); });
}

void AsyncMutexCore::woken(RequestId request) {
  Lock lock(mutex_);
  Caller* const caller = find(request);
  // The caller may have given up meanwhile.
  if (caller == nullptr || !caller->queued) return;
  if (!cohort_.enter(*caller, runtime::boot_now())) return;
  leave_queue(*caller);
  enter(lock, *caller, Inside::no);
}

void AsyncMutexCore::over(RequestId request, LocalWaits::End end) {
  Lock lock(mutex_);
  Caller* const caller = find(request);
  if (caller == nullptr || !caller->queued) return;
  if (end == LocalWaits::End::closed) return give_up(lock, *caller, Errc::closed, Inside::no);
  // Tries to enter once more, so that this call loses no wake-up and no lease.
  if (!cohort_.enter(*caller, runtime::boot_now())) {
    return give_up(lock, *caller, Errc::held, Inside::no);
  }
  leave_queue(*caller);
  enter(lock, *caller, Inside::no);
}

/// Ends a queued call.
void AsyncMutexCore::give_up(Lock& lock, Caller& caller, Errc why, Inside where) {
  const bool has_local_lock = cohort_.enter(caller, runtime::boot_now());
  if (!has_local_lock) cohort_.cancel(caller);
  leave_queue(caller);
  answer(lock, caller, explain(why), where);
  if (!has_local_lock) return;
  lock.lock();
  leave(lock);
}

void AsyncMutexCore::leave_queue(Caller& caller) noexcept {
  caller.queued = false;
  client_->end_local_wait(caller.local);
}

void AsyncMutexCore::cancel(RequestId request) {
  if (!client_ || client_->forked()) return;
  client_->dispatch([self = shared_from_this(), request] {
    Lock lock(self->mutex_);
    Caller* const caller = self->find(request);
    if (caller != nullptr) self->cancel(lock, *caller);
  });
}

void AsyncMutexCore::cancel(Lock& lock, Caller& caller) {
  if (caller.queued) return give_up(lock, caller, Errc::cancelled, Inside::call);
  caller.cancelled = true;
  const RequestId acquire = caller.acquire;
  lock.unlock();
  if (acquire != RequestId{}) client_->cancel(acquire);
}

void AsyncMutexCore::end() {
  if (!client_ || client_->forked()) return;
  client_->dispatch([self = shared_from_this()] {
    Lock lock(self->mutex_);
    self->ended_ = true;
    std::vector<RequestId> all;
    for (const auto& [request, caller] : self->callers_) all.push_back(request);
    lock.unlock();
    for (const RequestId request : all) self->cancel(request);
  });
}

AsyncMutexCore::Caller* AsyncMutexCore::find(RequestId request) noexcept {
  const auto found = callers_.find(request);
  return found == callers_.end() ? nullptr : found->second.get();
}

void AsyncMutexCore::answer(Lock& lock, Caller& caller, Result<AsyncMutexGuard> result,
                            Inside where) {
  GuardDone done = std::move(caller.done);
  callers_.erase(caller.request);
  lock.unlock();
  if (!done) return;
  if (where == Inside::no) return done(std::move(result));
  client_->post(
      [done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
}

}  // namespace redlock::api
