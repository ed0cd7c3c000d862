#include "redlock/client.hpp"

#include <utility>

#include "api/client/blocking.hpp"
#include "api/client/client_core.hpp"
#include "api/client/waiter.hpp"
#include "api/options/adapted.hpp"

namespace redlock {

Result<Client> Client::create(ClientOptions options) {
  auto core = api::ClientCore::create(api::adapted(std::move(options)), nullptr,
                                      uv::LoopThread::Lending::when_idle);
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
  return api::acquire(std::shared_ptr(core_), std::move(target), api::adapted(std::move(options)),
                      forever, stop);
}

Result<Lease> Client::try_acquire(Target target, AcquireOptions options) {
  return api::acquire(std::shared_ptr(core_), std::move(target), api::adapted(std::move(options)),
                      std::chrono::nanoseconds::zero(), std::stop_token());
}

Result<Lease> Client::acquire_within(Target target, std::chrono::nanoseconds wait,
                                     AcquireOptions options, const std::stop_token& stop) {
  return api::acquire(std::shared_ptr(core_), std::move(target), api::adapted(std::move(options)),
                      wait, stop);
}

Result<Lease> Client::adopt(DetachedLease detached, AcquireOptions options) {
  const auto core = core_;
  if (auto why = api::refuse(core, {})) return *std::move(why);
  return api::wait_for<Lease>(*core, [&](api::AcquireDone done) {
    core->adopt(std::move(detached), api::adapted(std::move(options)), std::move(done));
  });
}

Result<RoundReport> Client::extend(Target target, const Token& token,
                                   std::chrono::nanoseconds ttl) {
  const auto core = core_;
  if (auto why = api::refuse(core, target.resource())) return *std::move(why);
  return api::wait_for<RoundReport>(*core, [&](api::RoundDone done) {
    core->extend(std::move(target), token, ttl, std::move(done));
  });
}

Result<RoundReport> Client::downgrade(std::string_view resource, const Token& token) {
  const auto core = core_;
  if (auto why = api::refuse(core, resource)) return *std::move(why);
  return api::wait_for<RoundReport>(
      *core, [&](api::RoundDone done) { core->downgrade(resource, token, std::move(done)); });
}

Result<RoundReport> Client::release(Target target, const Token& token) {
  const auto core = core_;
  if (auto why = api::refuse(core, target.resource())) return *std::move(why);
  return api::wait_for<RoundReport>(*core, [&](api::RoundDone done) {
    core->release(std::move(target), token, std::move(done));
  });
}

Result<RoundReport> Client::break_lock(std::string_view resource, const Token& token,
                                       BreakOptions options) {
  const auto core = core_;
  if (auto why = api::refuse(core, resource)) return *std::move(why);
  return api::wait_for<RoundReport>(*core, [&](api::RoundDone done) {
    core->release(resource, token, std::move(done), api::adapted(options));
  });
}

Result<Inspection> Client::inspect(std::string_view resource) {
  return api::inspect(std::shared_ptr(core_), resource);
}

Result<Ownership> Client::ownership(std::string_view resource, const Token& token) {
  const auto core = core_;
  if (auto why = api::refuse(core, resource)) return *std::move(why);
  return api::wait_for<Ownership>(
      *core, [&](api::OwnershipDone done) { core->ownership(resource, token, std::move(done)); });
}

Result<std::uint64_t> Client::watch(std::string_view resource,
                                    const std::function<void(const Inspection&)>& changed,
                                    const std::stop_token& stop, WatchOptions options) {
  return api::watch(std::shared_ptr(core_), resource, changed, stop, api::adapted(options));
}

Result<Metrics> Client::metrics() const {
  const auto core = core_;
  if (auto why = api::refuse(core, {})) return *std::move(why);
  return api::wait_for<Metrics>(*core,
                                [&](api::MetricsDone done) { core->metrics(std::move(done)); });
}

Result<CloseReport> Client::close() {
  const auto core = core_;
  if (auto why = api::refuse(core, {})) return *std::move(why);
  return api::wait_for<CloseReport>(*core, [&](Callback<void(Result<CloseReport>)> done) {
    core->close([done = std::move(done)](const CloseReport& report) mutable { done(report); });
  });
}

}  // namespace redlock
