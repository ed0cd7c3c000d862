#include "redlock/client.hpp"

#include <utility>

#include "api/client/blocking.hpp"
#include "api/options/adapted.hpp"

namespace redlock {

using api::Calls;

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
  return api::acquire(core_, std::move(target), api::adapted(std::move(options)), forever, stop);
}

Result<Lease> Client::try_acquire(Target target, AcquireOptions options) {
  return api::acquire(core_, std::move(target), api::adapted(std::move(options)),
                      std::chrono::nanoseconds::zero(), std::stop_token());
}

Result<Lease> Client::acquire_within(Target target, std::chrono::nanoseconds wait,
                                     AcquireOptions options, const std::stop_token& stop) {
  return api::acquire(core_, std::move(target), api::adapted(std::move(options)), wait, stop);
}

Result<Lease> Client::adopt(DetachedLease detached, AcquireOptions options) {
  return api::block<&Calls::adopt>(core_, std::move(detached), api::adapted(std::move(options)));
}

Result<Inspection> Client::inspect(std::string_view resource) {
  return api::block<&Calls::inspect>(core_, resource);
}

Result<Ownership> Client::ownership(std::string_view resource, const Token& token) {
  return api::block<&Calls::ownership>(core_, resource, token);
}

Result<std::uint64_t> Client::watch(std::string_view resource,
                                    const std::function<void(const Inspection&)>& changed,
                                    const std::stop_token& stop, WatchOptions options) {
  return api::watch(api::Core(core_), resource, changed, stop, api::adapted(options));
}

Result<Metrics> Client::metrics() const { return api::block<&Calls::metrics>(core_); }

Result<CloseReport> Client::close() {
  const auto core = core_;
  if (auto why = api::refuse(core)) return *std::move(why);
  return api::wait_for<CloseReport>(*core, [&](api::Answer<CloseReport> done) {
    core->close([done = std::move(done)](const CloseReport& report) mutable { done(report); });
  });
}

}  // namespace redlock
