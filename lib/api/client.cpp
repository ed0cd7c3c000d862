#include "redlock/client.hpp"

#include <optional>
#include <utility>

#include "api/client_core.hpp"
#include "api/ownership.hpp"
#include "api/waiter.hpp"
#include "api/waiting.hpp"
#include "runtime/explain.hpp"

namespace redlock {
namespace {

/// Why a blocking call cannot be made. A client that was moved from has no core.
std::optional<Error> refuse(const std::shared_ptr<api::ClientCore>& core,
                            std::string_view resource) {
  if (!core) return runtime::explain(Errc::closed, resource, {});
  return core->refuse_blocking_call();
}

}  // namespace

Result<Client> Client::create(ClientOptions options) {
  auto core =
      api::ClientCore::create(std::move(options), nullptr, uv::LoopThread::Lending::when_idle);
  if (!core) return std::move(core).error();
  return Client(*std::move(core));
}

Client::Client(std::shared_ptr<api::ClientCore> core) noexcept : core_(std::move(core)) {}
Client::Client(Client&&) noexcept = default;

Client& Client::operator=(Client&& other) noexcept {
  if (this != &other) {
    const Client old = std::move(*this);
    core_ = std::move(other.core_);
  }
  return *this;
}

Client::~Client() {
  if (core_) core_->shut_down();
}

Result<Lease> Client::acquire(Target target, AcquireOptions options, const std::stop_token& stop) {
  const auto core = core_;
  if (auto why = refuse(core, target.resource())) return *std::move(why);
  return api::wait_for<Lease>(
      *core,
      [&](api::AcquireDone done) {
        return core->acquire(std::move(target), std::move(options), std::move(done));
      },
      [&](RequestId request) {
        return std::stop_callback(stop, [core, request] { core->cancel(request); });
      });
}

Result<Lease> Client::try_acquire(Target target, AcquireOptions options) {
  return acquire(std::move(target), api::asking_once(std::move(options)));
}

Result<Lease> Client::try_acquire_for(Target target, std::chrono::nanoseconds wait,
                                      AcquireOptions options, const std::stop_token& stop) {
  return acquire(std::move(target), api::waiting_for(std::move(options), wait), stop);
}

Result<Lease> Client::try_acquire_until(Target target, BootClock::time_point deadline,
                                        AcquireOptions options, const std::stop_token& stop) {
  return try_acquire_for(std::move(target), api::wait_until(deadline), std::move(options), stop);
}

Result<RoundReport> Client::extend(std::string_view resource, const Token& token,
                                   std::chrono::nanoseconds ttl) {
  const auto core = core_;
  if (auto why = refuse(core, resource)) return *std::move(why);
  return api::wait_for<RoundReport>(
      *core, [&](api::RoundDone done) { core->extend(resource, token, ttl, std::move(done)); });
}

Result<RoundReport> Client::release(std::string_view resource, const Token& token) {
  const auto core = core_;
  if (auto why = refuse(core, resource)) return *std::move(why);
  return api::wait_for<RoundReport>(
      *core, [&](api::RoundDone done) { core->release(resource, token, std::move(done)); });
}

Result<Inspection> Client::inspect(std::string_view resource) {
  const auto core = core_;
  if (auto why = refuse(core, resource)) return *std::move(why);
  return api::wait_for<Inspection>(*core, [&](api::InspectDone done) {
    core->inspect(resource, std::nullopt, std::move(done));
  });
}

Result<Ownership> Client::ownership(std::string_view resource, const Token& token) {
  const auto core = core_;
  if (auto why = refuse(core, resource)) return *std::move(why);
  return api::judge_ownership(api::wait_for<Inspection>(
      *core, [&](api::InspectDone done) { core->inspect(resource, token, std::move(done)); }));
}

Result<CloseReport> Client::close() {
  const auto core = core_;
  if (auto why = refuse(core, {})) return *std::move(why);
  return api::wait_for<CloseReport>(*core, [&](Callback<void(Result<CloseReport>)> done) {
    core->close([done = std::move(done)](const CloseReport& report) mutable { done(report); });
  });
}

Counters Client::counters() const noexcept { return core_ ? core_->counters() : Counters{}; }

}  // namespace redlock
