#include "redlock/async_client.hpp"

#include <utility>

#include "api/client_core.hpp"

namespace redlock {

Result<AsyncClient> AsyncClient::create(ClientOptions options) {
  return create(std::move(options), nullptr);
}

Result<AsyncClient> AsyncClient::create(ClientOptions options, uv_loop_s* loop) {
  auto core = api::ClientCore::create(std::move(options), loop);
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

RequestId AsyncClient::acquire(std::string_view resource, AcquireOptions options,
                               Callback<void(Result<Lease>)> done) {
  return core_->acquire(resource, std::move(options), std::move(done));
}

void AsyncClient::extend(const Lease& lease, std::chrono::nanoseconds ttl,
                         Callback<void(Result<RoundReport>)> done) {
  const auto& cell = api::LeaseCell::of(lease);
  (cell ? cell->core() : *core_).extend(cell, ttl, std::move(done));
}

void AsyncClient::release(Lease lease, Callback<void(Result<RoundReport>)> done) {
  const auto cell = api::LeaseCell::take(std::move(lease));
  (cell ? cell->core() : *core_).release(cell, std::move(done));
}

void AsyncClient::extend(std::string_view resource, const Token& token,
                         std::chrono::nanoseconds ttl, Callback<void(Result<RoundReport>)> done) {
  core_->extend(resource, token, ttl, std::move(done));
}

void AsyncClient::release(std::string_view resource, const Token& token,
                          Callback<void(Result<RoundReport>)> done) {
  core_->release(resource, token, std::move(done));
}

void AsyncClient::inspect(std::string_view resource, Callback<void(Result<Inspection>)> done) {
  core_->inspect(resource, std::move(done));
}

void AsyncClient::cancel(RequestId request) { core_->cancel(request); }

void AsyncClient::close(Callback<void()> done) { core_->close(std::move(done)); }

Counters AsyncClient::counters() const noexcept { return core_->counters(); }

}  // namespace redlock
