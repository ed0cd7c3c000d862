#include "redlock/client.hpp"

#include <algorithm>
#include <utility>

#include "api/client_core.hpp"
#include "api/waiter.hpp"

namespace redlock {

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

Result<Lease> Client::acquire(std::string_view resource, AcquireOptions options,
                              const std::stop_token& stop) {
  const auto core = core_;
  if (auto why = core->refuse_blocking_call()) return *std::move(why);
  return api::wait_for<Lease>(
      *core,
      [&](api::AcquireDone done) {
        return core->acquire(resource, std::move(options), std::move(done));
      },
      [&](RequestId request) {
        return std::stop_callback(stop, [core, request] { core->cancel(request); });
      });
}

Result<Lease> Client::try_acquire(std::string_view resource, AcquireOptions options) {
  options.wait = std::chrono::nanoseconds::zero();
  return acquire(resource, std::move(options));
}

Result<Lease> Client::try_acquire_for(std::string_view resource, std::chrono::nanoseconds wait,
                                      AcquireOptions options, const std::stop_token& stop) {
  options.wait = std::max(wait, std::chrono::nanoseconds::zero());
  return acquire(resource, std::move(options), stop);
}

Result<Lease> Client::try_acquire_until(std::string_view resource, BootClock::time_point deadline,
                                        AcquireOptions options, const std::stop_token& stop) {
  const auto now = BootClock::now();
  auto wait = std::chrono::nanoseconds::zero();
  // Compared first: from a deadline at the beginning of time nothing can be subtracted.
  if (deadline > now) wait = deadline == BootClock::time_point::max() ? forever : deadline - now;
  return try_acquire_for(resource, wait, std::move(options), stop);
}

Result<RoundReport> Client::extend(std::string_view resource, const Token& token,
                                   std::chrono::nanoseconds ttl) {
  const auto core = core_;
  if (auto why = core->refuse_blocking_call()) return *std::move(why);
  return api::wait_for<RoundReport>(
      *core, [&](api::RoundDone done) { core->extend(resource, token, ttl, std::move(done)); });
}

Result<RoundReport> Client::release(std::string_view resource, const Token& token) {
  const auto core = core_;
  if (auto why = core->refuse_blocking_call()) return *std::move(why);
  return api::wait_for<RoundReport>(
      *core, [&](api::RoundDone done) { core->release(resource, token, std::move(done)); });
}

Result<Inspection> Client::inspect(std::string_view resource) {
  const auto core = core_;
  if (auto why = core->refuse_blocking_call()) return *std::move(why);
  return api::wait_for<Inspection>(
      *core, [&](api::InspectDone done) { core->inspect(resource, {}, std::move(done)); });
}

Result<bool> Client::is_held_by(std::string_view resource, const Token& token) {
  // A key of another type has no token, which is not to be taken for holding the empty one.
  if (token.empty()) return Error{Errc::invalid_argument, "token: empty", {}};
  const auto core = core_;
  if (auto why = core->refuse_blocking_call()) return *std::move(why);
  auto inspection = api::wait_for<Inspection>(
      *core, [&](api::InspectDone done) { core->inspect(resource, token, std::move(done)); });
  if (!inspection) return std::move(inspection).error();
  std::size_t votes = 0;
  std::size_t unknown = 0;
  for (const NodeInspection& node : inspection->nodes) {
    votes += node.has_token ? 1U : 0U;
    unknown += node.error.empty() ? 0U : 1U;
  }
  if (votes >= inspection->quorum) return true;
  if (votes + unknown < inspection->quorum) return false;
  return Error{Errc::unavailable,
               "unknown: " + std::to_string(votes) + " nodes have the token, " +
                   std::to_string(unknown) + " did not answer, " +
                   std::to_string(inspection->quorum) + " needed",
               {}};
}

Counters Client::counters() const noexcept { return core_->counters(); }

}  // namespace redlock
