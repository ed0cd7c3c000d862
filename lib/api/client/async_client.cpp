#include "redlock/async_client.hpp"

#include <memory>
#include <string>
#include <utility>

#include "api/client/async_calls.hpp"
#include "api/options/adapted.hpp"

namespace redlock {

using api::AcquireDone;
using api::Calls;
using api::RoundDone;
using api::to_await;

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

template class Awaitable<Lease>;
template class Awaitable<Round>;
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

void AsyncClient::release(Lease lease, Callback<void(Result<Round>)> done) {
  api::release(core_, api::LeaseCell::take(std::move(lease)), std::move(done));
}

void AsyncClient::adopt(DetachedLease detached, AcquireOptions options,
                        Callback<void(Result<Lease>)> done) {
  api::call<&Calls::adopt>(core_, std::move(done), std::move(detached),
                           api::adapted(std::move(options)));
}

void AsyncClient::inspect(std::string_view resource, Callback<void(Result<Inspection>)> done) {
  api::call<&Calls::inspect>(core_, std::move(done), resource);
}

void AsyncClient::ownership(std::string_view resource, const Token& token,
                            Callback<void(Result<Ownership>)> done) {
  api::call<&Calls::ownership>(core_, std::move(done), resource, token);
}

RequestId AsyncClient::watch(std::string_view resource, WatchOptions options,
                             Callback<void(Result<Inspection>)> changed) {
  return api::watch(core_, resource, api::adapted(options), std::move(changed));
}

void AsyncClient::metrics(Callback<void(Result<Metrics>)> done) const {
  api::call<&Calls::metrics>(core_, std::move(done));
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
  return to_await<&Calls::adopt>(core_, std::move(detached), api::adapted(options));
}

Awaitable<Round> AsyncClient::release(Lease lease) {
  // Shared only because std::function wants to be copied.
  const auto held = std::make_shared<Lease>(std::move(lease));
  return to_await<Round>([core = core_, held](RoundDone done) {
    api::release(core, api::LeaseCell::take(std::move(*held)), std::move(done));
  });
}

Awaitable<Inspection> AsyncClient::inspect(std::string_view resource) {
  return to_await<&Calls::inspect>(core_, resource);
}

Awaitable<Ownership> AsyncClient::ownership(std::string_view resource, const Token& token) {
  return to_await<&Calls::ownership>(core_, resource, token);
}

Awaitable<Metrics> AsyncClient::metrics() const { return to_await<&Calls::metrics>(core_); }

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

void AsyncClient::close(Callback<void(const CloseReport&)> done) {
  if (core_) return core_->close(std::move(done));
  if (done) done({});
}

Awaitable<CloseReport> AsyncClient::close() {
  return to_await<CloseReport>([core = core_](api::Answer<CloseReport> done) {
    if (!core) return done(CloseReport{});
    core->close([done = std::move(done)](const CloseReport& report) mutable { done(report); });
  });
}

}  // namespace redlock
