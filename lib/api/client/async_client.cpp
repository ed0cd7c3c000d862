#include "redlock/async_client.hpp"

#include <memory>
#include <string>
#include <utility>

#include "api/client/async_calls.hpp"
#include "api/options/adapted.hpp"

namespace redlock {
Awaitable<std::uint64_t> api::to_await_watch(const Core& core, std::string resource,
                                             WatchOptions options,
                                             std::function<bool(const Inspection&)> see,
                                             std::stop_token stop) {
  using Done = Callback<void(Result<std::uint64_t>)>;
  return to_await<std::uint64_t>(
      core,
      [core, resource = std::move(resource), options, see = std::move(see)](Done done) mutable {
        if (!see) {
          // A watch without a callback is refused by the code that refuses all mistakes.
          return api::watch(core, {}, options,
                            [done = std::move(done)](const Result<Inspection>& refused) mutable {
                              Error error = refused.error();
                              if (error.code == Errc::invalid_argument)
                                error.message = "changed: empty; a callback is needed";
                              done(std::move(error));
                            });
        }
        return api::watch(core, resource, options,
                          [calls = std::uint64_t{0}, see = std::move(see),
                           done = std::move(done)](const Result<Inspection>& seen) mutable {
                            if (seen) {
                              calls += see(*seen) ? 1U : 0U;
                            } else if (seen.error().code == Errc::cancelled) {
                              done(calls);
                            } else {
                              done(seen.error());
                            }
                          });
      },
      std::move(stop));
}

namespace {

using api::AcquireDone;
using api::Core;
using api::InspectDone;
using api::is_open;
using api::RoundDone;
using api::to_await;

/// The lease's own client makes the call; without a lease, `core` answers.
void extend(const Core& core, const std::shared_ptr<api::LeaseCell>& cell,
            std::chrono::nanoseconds ttl, RoundDone done) {
  const Core& its_own = cell ? cell->shared_core() : core;
  if (is_open(its_own, {}, done)) its_own->extend(cell, ttl, std::move(done));
}

void downgrade(const Core& core, const std::shared_ptr<api::LeaseCell>& cell, RoundDone done) {
  const Core& its_own = cell ? cell->shared_core() : core;
  if (is_open(its_own, {}, done)) its_own->downgrade(cell, std::move(done));
}

void adopt(const Core& core, DetachedLease&& detached, AcquireOptions&& options, AcquireDone done) {
  if (!is_open(core, {}, done)) return;
  core->adopt(std::move(detached), std::move(options), std::move(done));
}

void extend(const Core& core, Target&& target, const Token& token, std::chrono::nanoseconds ttl,
            RoundDone done) {
  if (!is_open(core, target.resource(), done)) return;
  core->extend(std::move(target), token, ttl, std::move(done));
}

void downgrade(const Core& core, std::string_view resource, const Token& token, RoundDone done) {
  if (is_open(core, resource, done)) core->downgrade(resource, token, std::move(done));
}

void release(const Core& core, Target&& target, const Token& token, RoundDone done) {
  if (!is_open(core, target.resource(), done)) return;
  core->release(std::move(target), token, std::move(done));
}

void break_lock(const Core& core, std::string_view resource, const Token& token,
                BreakOptions options, RoundDone done) {
  if (!is_open(core, resource, done)) return;
  core->release(resource, token, std::move(done), options);
}

void ownership(const Core& core, std::string_view resource, const Token& token,
               Callback<void(Result<Ownership>)> done) {
  if (is_open(core, resource, done)) core->ownership(resource, token, std::move(done));
}

void metrics(const Core& core, api::MetricsDone done) {
  if (is_open(core, {}, done)) core->metrics(std::move(done));
}

void close(const Core& core, api::CloseDone done) {
  if (core) return core->close(std::move(done));
  if (done) done({});
}

}  // namespace

template class Awaitable<Lease>;
template class Awaitable<RoundReport>;
template class Awaitable<Inspection>;
template class Awaitable<Ownership>;
template class Awaitable<std::uint64_t>;
template class Awaitable<Metrics>;
template class Awaitable<CloseReport>;

Result<AsyncClient> AsyncClient::create(ClientOptions options) {
  return create(api::adapted(std::move(options)), nullptr);
}

Result<AsyncClient> AsyncClient::create(ClientOptions options, uv_loop_s* loop) {
  auto core = api::ClientCore::create(api::adapted(std::move(options)), loop);
  if (!core) return std::move(core).error();
  return AsyncClient(*std::move(core));
}

AsyncClient::AsyncClient(std::shared_ptr<api::ClientCore> core) noexcept : core_(std::move(core)) {}
AsyncClient::AsyncClient(AsyncClient&&) noexcept = default;

AsyncClient& AsyncClient::operator=(AsyncClient&& other) noexcept {
  if (this != &other) {
    const AsyncClient old = std::move(*this);
    core_ = std::move(other.core_);
  }
  return *this;
}

AsyncClient::~AsyncClient() {
  if (core_) core_->shut_down();
}

RequestId AsyncClient::acquire(Target target, AcquireOptions options,
                               Callback<void(Result<Lease>)> done) {
  return api::acquire(core_, std::move(target), api::adapted(std::move(options)), forever,
                      std::move(done));
}

RequestId AsyncClient::try_acquire(Target target, AcquireOptions options,
                                   Callback<void(Result<Lease>)> done) {
  return api::acquire(core_, std::move(target), api::adapted(std::move(options)), {},
                      std::move(done));
}

RequestId AsyncClient::acquire_within(Target target, std::chrono::nanoseconds wait,
                                      AcquireOptions options, Callback<void(Result<Lease>)> done) {
  return api::acquire(core_, std::move(target), api::adapted(std::move(options)), wait,
                      std::move(done));
}

void AsyncClient::extend(const Lease& lease, std::chrono::nanoseconds ttl,
                         Callback<void(Result<RoundReport>)> done) {
  redlock::extend(core_, api::LeaseCell::of(lease), ttl, std::move(done));
}

void AsyncClient::downgrade(const Lease& lease, Callback<void(Result<RoundReport>)> done) {
  redlock::downgrade(core_, api::LeaseCell::of(lease), std::move(done));
}

void AsyncClient::release(Lease lease, Callback<void(Result<RoundReport>)> done) {
  api::release(core_, api::LeaseCell::take(std::move(lease)), std::move(done));
}

void AsyncClient::adopt(DetachedLease detached, AcquireOptions options,
                        Callback<void(Result<Lease>)> done) {
  redlock::adopt(core_, std::move(detached), api::adapted(std::move(options)), std::move(done));
}

void AsyncClient::extend(Target target, const Token& token, std::chrono::nanoseconds ttl,
                         Callback<void(Result<RoundReport>)> done) {
  redlock::extend(core_, std::move(target), token, ttl, std::move(done));
}

void AsyncClient::downgrade(std::string_view resource, const Token& token,
                            Callback<void(Result<RoundReport>)> done) {
  redlock::downgrade(core_, resource, token, std::move(done));
}

void AsyncClient::release(Target target, const Token& token,
                          Callback<void(Result<RoundReport>)> done) {
  redlock::release(core_, std::move(target), token, std::move(done));
}

void AsyncClient::inspect(std::string_view resource, Callback<void(Result<Inspection>)> done) {
  api::inspect(core_, resource, std::move(done));
}

RequestId AsyncClient::watch(std::string_view resource, WatchOptions options,
                             Callback<void(Result<Inspection>)> changed) {
  return api::watch(core_, resource, api::adapted(options), std::move(changed));
}

void AsyncClient::ownership(std::string_view resource, const Token& token,
                            Callback<void(Result<Ownership>)> done) {
  redlock::ownership(core_, resource, token, std::move(done));
}

Awaitable<Lease> AsyncClient::acquire(Target target) {
  const AcquireOptions options;
  return acquire(std::move(target), options, std::stop_token{});
}

Awaitable<Lease> AsyncClient::acquire(Target target, const AcquireOptions& options,
                                      std::stop_token stop) {
  return acquire_within(std::move(target), until(forever), options, std::move(stop));
}

Awaitable<Lease> AsyncClient::try_acquire(Target target) {
  const AcquireOptions options;
  return try_acquire(std::move(target), options);
}

Awaitable<Lease> AsyncClient::try_acquire(Target target, const AcquireOptions& options) {
  return acquire_within(std::move(target), until(std::chrono::nanoseconds::zero()), options, {});
}

Awaitable<Lease> AsyncClient::acquire_within(Target target, Wait wait,
                                             const AcquireOptions& options, std::stop_token stop) {
  return to_await<Lease>(
      core_,
      [core = core_, target = std::move(target), wait = std::move(wait),
       options = api::adapted(options)](AcquireDone done) mutable {
        return api::acquire(core, std::move(target), std::move(options), wait(), std::move(done));
      },
      std::move(stop));
}

Awaitable<Lease> AsyncClient::adopt(DetachedLease detached) {
  const AcquireOptions options;
  return adopt(std::move(detached), options);
}

Awaitable<Lease> AsyncClient::adopt(DetachedLease detached, const AcquireOptions& options) {
  return to_await<Lease>([core = core_, detached = std::move(detached),
                          options = api::adapted(options)](AcquireDone done) {
    redlock::adopt(core, DetachedLease(detached), AcquireOptions(options), std::move(done));
  });
}

Awaitable<RoundReport> AsyncClient::extend(const Lease& lease, std::chrono::nanoseconds ttl) {
  return to_await<RoundReport>(
      [core = core_, cell = api::LeaseCell::of(lease), ttl](RoundDone done) {
        redlock::extend(core, cell, ttl, std::move(done));
      });
}

Awaitable<RoundReport> AsyncClient::downgrade(const Lease& lease) {
  return to_await<RoundReport>([core = core_, cell = api::LeaseCell::of(lease)](RoundDone done) {
    redlock::downgrade(core, cell, std::move(done));
  });
}

Awaitable<RoundReport> AsyncClient::release(Lease lease) {
  // Shared only because std::function wants to be copied.
  const auto held = std::make_shared<Lease>(std::move(lease));
  return to_await<RoundReport>([core = core_, held](RoundDone done) {
    api::release(core, api::LeaseCell::take(std::move(*held)), std::move(done));
  });
}

Awaitable<RoundReport> AsyncClient::extend(Target target, const Token& token,
                                           std::chrono::nanoseconds ttl) {
  return to_await<RoundReport>(
      [core = core_, target = std::move(target), token, ttl](RoundDone done) {
        redlock::extend(core, Target(target), token, ttl, std::move(done));
      });
}

Awaitable<RoundReport> AsyncClient::downgrade(std::string_view resource, const Token& token) {
  return to_await<RoundReport>(
      [core = core_, resource = std::string(resource), token](RoundDone done) {
        redlock::downgrade(core, resource, token, std::move(done));
      });
}

Awaitable<RoundReport> AsyncClient::release(Target target, const Token& token) {
  return to_await<RoundReport>([core = core_, target = std::move(target), token](RoundDone done) {
    redlock::release(core, Target(target), token, std::move(done));
  });
}

Awaitable<Inspection> AsyncClient::inspect(std::string_view resource) {
  return to_await<Inspection>([core = core_, resource = std::string(resource)](InspectDone done) {
    api::inspect(core, resource, std::move(done));
  });
}

Awaitable<Ownership> AsyncClient::ownership(std::string_view resource, const Token& token) {
  return to_await<Ownership>([core = core_, resource = std::string(resource),
                              token](Callback<void(Result<Ownership>)> done) {
    redlock::ownership(core, resource, token, std::move(done));
  });
}

void AsyncClient::break_lock(std::string_view resource, const Token& token, BreakOptions options,
                             Callback<void(Result<RoundReport>)> done) {
  redlock::break_lock(core_, resource, token, api::adapted(options), std::move(done));
}

Awaitable<RoundReport> AsyncClient::break_lock(std::string_view resource, const Token& token,
                                               BreakOptions options) {
  return to_await<RoundReport>([core = core_, resource = std::string(resource), token,
                                options = api::adapted(options)](RoundDone done) {
    redlock::break_lock(core, resource, token, options, std::move(done));
  });
}

Awaitable<std::uint64_t> AsyncClient::watch(std::string_view resource,
                                            std::function<void(const Inspection&)> changed,
                                            std::stop_token stop, WatchOptions options) {
  std::function<bool(const Inspection&)> see;
  if (changed) {
    see = [changed = std::move(changed)](const Inspection& inspection) {
      changed(inspection);
      return true;
    };
  }
  return api::to_await_watch(core_, std::string(resource), api::adapted(options), std::move(see),
                             std::move(stop));
}

void AsyncClient::cancel(RequestId request) { api::cancel(core_, request); }

void AsyncClient::metrics(Callback<void(Result<Metrics>)> done) const {
  redlock::metrics(core_, std::move(done));
}

Awaitable<Metrics> AsyncClient::metrics() const {
  return to_await<Metrics>(
      [core = core_](api::MetricsDone done) { redlock::metrics(core, std::move(done)); });
}

void AsyncClient::close(Callback<void(const CloseReport&)> done) {
  redlock::close(core_, std::move(done));
}

Awaitable<CloseReport> AsyncClient::close() {
  return to_await<CloseReport>([core = core_](Callback<void(Result<CloseReport>)> done) {
    redlock::close(core,
                   [done = std::move(done)](const CloseReport& report) mutable { done(report); });
  });
}

}  // namespace redlock
