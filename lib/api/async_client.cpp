#include "redlock/async_client.hpp"

#include <memory>
#include <string>
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
  core_->inspect(resource, {}, std::move(done));
}

Awaitable<Lease> AsyncClient::acquire(std::string_view resource) {
  return acquire(resource, AcquireOptions{}, std::stop_token{});
}

Awaitable<Lease> AsyncClient::acquire(std::string_view resource, AcquireOptions options,
                                      std::stop_token stop) {
  // Shared only because std::function wants to be copied.
  const auto once = std::make_shared<AcquireOptions>(std::move(options));
  const auto core = core_;
  return Awaitable<Lease>(
      [core, once, resource = std::string(resource)](Awaitable<Lease>::Done done) {
        return core->acquire(resource, std::move(*once), std::move(done));
      },
      [core](RequestId request) { core->cancel(request); }, std::move(stop));
}

namespace {

/// A call that can not be cancelled.
template <typename Value, typename Begin>
Awaitable<Value> to_await(Begin begin) {
  return Awaitable<Value>(
      [begin = std::move(begin)](typename Awaitable<Value>::Done done) {
        begin(std::move(done));
        return RequestId{};
      },
      nullptr, {});
}

}  // namespace

Awaitable<RoundReport> AsyncClient::extend(const Lease& lease, std::chrono::nanoseconds ttl) {
  return to_await<RoundReport>([core = core_, cell = api::LeaseCell::of(lease), ttl](auto done) {
    (cell ? cell->core() : *core).extend(cell, ttl, std::move(done));
  });
}

Awaitable<RoundReport> AsyncClient::release(Lease lease) {
  const auto held = std::make_shared<Lease>(std::move(lease));
  return to_await<RoundReport>([core = core_, held](auto done) {
    const auto cell = api::LeaseCell::take(std::move(*held));
    (cell ? cell->core() : *core).release(cell, std::move(done));
  });
}

Awaitable<RoundReport> AsyncClient::extend(std::string_view resource, const Token& token,
                                           std::chrono::nanoseconds ttl) {
  return to_await<RoundReport>(
      [core = core_, resource = std::string(resource), token, ttl](auto done) {
        core->extend(resource, token, ttl, std::move(done));
      });
}

Awaitable<RoundReport> AsyncClient::release(std::string_view resource, const Token& token) {
  return to_await<RoundReport>([core = core_, resource = std::string(resource), token](auto done) {
    core->release(resource, token, std::move(done));
  });
}

Awaitable<Inspection> AsyncClient::inspect(std::string_view resource) {
  return to_await<Inspection>([core = core_, resource = std::string(resource)](auto done) {
    core->inspect(resource, {}, std::move(done));
  });
}

void AsyncClient::cancel(RequestId request) { core_->cancel(request); }

void AsyncClient::close(Callback<void()> done) { core_->close(std::move(done)); }

Counters AsyncClient::counters() const noexcept { return core_->counters(); }

}  // namespace redlock
