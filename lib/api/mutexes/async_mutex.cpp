#include "redlock/async_mutex.hpp"

#include <utility>

#include "api/client/async_calls.hpp"
#include "api/mutexes/async_mutex_core.hpp"
#include "api/options/adapted.hpp"

namespace redlock {

template class Awaitable<AsyncMutexGuard>;

namespace {

const Lease empty_lease;

}  // namespace

AsyncMutexGuard::AsyncMutexGuard() noexcept = default;
AsyncMutexGuard::AsyncMutexGuard(std::shared_ptr<api::AsyncMutexCore> held) noexcept
    : held_(std::move(held)) {}
AsyncMutexGuard::AsyncMutexGuard(AsyncMutexGuard&&) noexcept = default;

AsyncMutexGuard& AsyncMutexGuard::operator=(AsyncMutexGuard&& other) noexcept {
  if (this != &other) {
    unlock();
    held_ = std::move(other.held_);
  }
  return *this;
}

AsyncMutexGuard::~AsyncMutexGuard() { unlock(); }

void AsyncMutexGuard::unlock() noexcept {
  if (const auto held = std::exchange(held_, nullptr)) held->unlock();
}

bool AsyncMutexGuard::valid() const noexcept { return lease().valid(); }

std::stop_token AsyncMutexGuard::lost() const { return lease().lost(); }

const Lease& AsyncMutexGuard::lease() const noexcept {
  return held_ ? held_->lease() : empty_lease;
}

AsyncMutex::AsyncMutex(AsyncClient& client, Target target, AcquireOptions options)
    : core_(std::make_shared<api::AsyncMutexCore>(api::CoreOf::client(client), std::move(target),
                                                  api::adapted(std::move(options)))) {}

AsyncMutex::~AsyncMutex() { core_->end(); }

RequestId AsyncMutex::lock(Callback<void(Result<AsyncMutexGuard>)> done) {
  return core_->lock(forever, std::move(done));
}

RequestId AsyncMutex::try_lock(Callback<void(Result<AsyncMutexGuard>)> done) {
  return core_->lock(std::chrono::nanoseconds::zero(), std::move(done));
}

RequestId AsyncMutex::lock_within(std::chrono::nanoseconds wait,
                                  Callback<void(Result<AsyncMutexGuard>)> done) {
  return core_->lock(wait, std::move(done));
}

Awaitable<AsyncMutexGuard> AsyncMutex::lock(std::stop_token stop) {
  return try_lock_for(forever, std::move(stop));
}

Awaitable<AsyncMutexGuard> AsyncMutex::try_lock() {
  return try_lock_for(std::chrono::nanoseconds::zero());
}

Awaitable<AsyncMutexGuard> AsyncMutex::lock_within(std::function<std::chrono::nanoseconds()> wait,
                                                   std::stop_token stop) {
  return api::to_await<AsyncMutexGuard>(
      [core = core_, wait = std::move(wait)](api::GuardDone done) {
        return core->lock(wait(), std::move(done));
      },
      [core = core_](RequestId request) { core->cancel(request); }, std::move(stop));
}

void AsyncMutex::cancel(RequestId request) { core_->cancel(request); }

}  // namespace redlock
