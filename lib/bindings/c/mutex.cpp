#include "redlock/mutex.hpp"

#include "bindings/c/answers.hpp"
#include "bindings/c/boundary.hpp"
#include "redlock/async_mutex.hpp"
#include "redlock/shared_mutex.hpp"

struct redlock_mutex {
  redlock_mutex(redlock::Client& client, redlock::Target target, redlock::AcquireOptions options)
      : mutex(client, std::move(target), std::move(options)) {}

  redlock::Mutex mutex;
};

struct redlock_shared_mutex {
  redlock_shared_mutex(redlock::Client& client, std::string resource,
                       redlock::AcquireOptions options)
      : mutex(client, std::move(resource), std::move(options)) {}

  redlock::SharedMutex mutex;
};

struct redlock_async_mutex {
  redlock_async_mutex(redlock::AsyncClient& client, redlock::Target target,
                      redlock::AcquireOptions options, redlock::bindings::Dispatcher callbacks)
      : mutex(client, std::move(target), std::move(options)), dispatcher(std::move(callbacks)) {}

  redlock::AsyncMutex mutex;
  redlock::bindings::Dispatcher dispatcher;
};

struct redlock_guard {
  explicit redlock_guard(redlock::AsyncMutexGuard granted) : guard(std::move(granted)) {
    token = guard.lease().token().str();
  }

  redlock::AsyncMutexGuard guard;
  std::string token{};
};

namespace bound = redlock::bindings;

namespace redlock::bindings {
namespace {

[[nodiscard]] std::uint64_t fencing_token_of(const Lease& lease) noexcept {
  return lease.fencing_token().value_or(FencingToken()).value();
}

/// Runs a call that returns a lock of the standard library, and leaves the mutex locked.
template <typename Call>
redlock_status locking(redlock_error** error, Call&& call) noexcept {
  return guarded(error, [&] { static_cast<void>(unwrapped(call()).release()); });
}

template <typename Call>
[[nodiscard]] bool asked_of(const Call& call) noexcept {
  bool yes = false;
  guarded(nullptr, [&] { yes = call(); });
  return yes;
}

template <typename Handle>
[[nodiscard]] auto& in(Handle* handle) {
  return required(handle, "mutex").mutex;
}

}  // namespace
}  // namespace redlock::bindings

redlock_status redlock_mutex_create(redlock_client* client, const redlock_target* target,
                                    const redlock_acquire_options* options, redlock_mutex** mutex,
                                    redlock_error** error) {
  bound::clear(mutex);
  return bound::guarded(error, [&] {
    auto read = bound::acquire_options_from(options, bound::dispatcher_in(client));
    auto*& out = bound::required_out(mutex, "mutex");
    out = bound::new_object<redlock_mutex>(bound::required(client, "client").client,
                                           bound::target_from(target), std::move(read));
  });
}

void redlock_mutex_free(redlock_mutex* mutex) { bound::dispose<redlock_mutex>(mutex); }

redlock_status redlock_mutex_lock(redlock_mutex* mutex, const redlock_stop* stop,
                                  redlock_error** error) {
  return redlock_mutex_try_lock_for(mutex, REDLOCK_FOREVER, stop, error);
}

redlock_status redlock_mutex_try_lock(redlock_mutex* mutex, redlock_error** error) {
  return redlock_mutex_try_lock_for(mutex, 0, nullptr, error);
}

redlock_status redlock_mutex_try_lock_for(redlock_mutex* mutex, int64_t wait_ns,
                                          const redlock_stop* stop, redlock_error** error) {
  return bound::locking(error, [&] {
    return bound::in(mutex).try_acquire_for(bound::from_ns(wait_ns), bound::stop_token_from(stop));
  });
}

void redlock_mutex_unlock(redlock_mutex* mutex) {
  if (mutex != nullptr) mutex->mutex.unlock();
}

bool redlock_mutex_valid(const redlock_mutex* mutex) {
  return mutex != nullptr && mutex->mutex.valid();
}

bool redlock_mutex_lost(const redlock_mutex* mutex) {
  return bound::asked_of([&] { return bound::in(mutex).lost().stop_requested(); });
}

uint64_t redlock_mutex_fencing_token(const redlock_mutex* mutex) {
  return mutex == nullptr ? 0 : bound::fencing_token_of(mutex->mutex.lease());
}

redlock_status redlock_shared_mutex_create(redlock_client* client, const char* resource,
                                           const redlock_acquire_options* options,
                                           redlock_shared_mutex** mutex, redlock_error** error) {
  bound::clear(mutex);
  return bound::guarded(error, [&] {
    auto read = bound::acquire_options_from(options, bound::dispatcher_in(client));
    auto*& out = bound::required_out(mutex, "mutex");
    out = bound::new_object<redlock_shared_mutex>(bound::required(client, "client").client,
                                                  bound::required_text(resource, "resource"),
                                                  std::move(read));
  });
}

void redlock_shared_mutex_free(redlock_shared_mutex* mutex) {
  bound::dispose<redlock_shared_mutex>(mutex);
}

redlock_status redlock_shared_mutex_lock(redlock_shared_mutex* mutex, const redlock_stop* stop,
                                         redlock_error** error) {
  return redlock_shared_mutex_try_lock_for(mutex, REDLOCK_FOREVER, stop, error);
}

redlock_status redlock_shared_mutex_try_lock(redlock_shared_mutex* mutex, redlock_error** error) {
  return redlock_shared_mutex_try_lock_for(mutex, 0, nullptr, error);
}

redlock_status redlock_shared_mutex_try_lock_for(redlock_shared_mutex* mutex, int64_t wait_ns,
                                                 const redlock_stop* stop, redlock_error** error) {
  return bound::locking(error, [&] {
    return bound::in(mutex).try_acquire_for(bound::from_ns(wait_ns), bound::stop_token_from(stop));
  });
}

void redlock_shared_mutex_unlock(redlock_shared_mutex* mutex) {
  if (mutex != nullptr) mutex->mutex.unlock();
}

redlock_status redlock_shared_mutex_lock_shared(redlock_shared_mutex* mutex,
                                                const redlock_stop* stop, redlock_error** error) {
  return redlock_shared_mutex_try_lock_shared_for(mutex, REDLOCK_FOREVER, stop, error);
}

redlock_status redlock_shared_mutex_try_lock_shared(redlock_shared_mutex* mutex,
                                                    redlock_error** error) {
  return redlock_shared_mutex_try_lock_shared_for(mutex, 0, nullptr, error);
}

redlock_status redlock_shared_mutex_try_lock_shared_for(redlock_shared_mutex* mutex,
                                                        int64_t wait_ns, const redlock_stop* stop,
                                                        redlock_error** error) {
  return bound::locking(error, [&] {
    return bound::in(mutex).try_acquire_shared_for(bound::from_ns(wait_ns),
                                                   bound::stop_token_from(stop));
  });
}

void redlock_shared_mutex_unlock_shared(redlock_shared_mutex* mutex) {
  if (mutex != nullptr) mutex->mutex.unlock_shared();
}

bool redlock_shared_mutex_valid(const redlock_shared_mutex* mutex) {
  return mutex != nullptr && mutex->mutex.valid();
}

bool redlock_shared_mutex_lost(const redlock_shared_mutex* mutex) {
  return bound::asked_of([&] { return bound::in(mutex).lost().stop_requested(); });
}

uint64_t redlock_shared_mutex_fencing_token(const redlock_shared_mutex* mutex) {
  return mutex == nullptr ? 0 : bound::fencing_token_of(mutex->mutex.lease());
}

redlock_status redlock_async_mutex_create(redlock_async* client, const redlock_target* target,
                                          const redlock_acquire_options* options,
                                          redlock_async_mutex** mutex, redlock_error** error) {
  bound::clear(mutex);
  return bound::guarded(error, [&] {
    auto read = bound::acquire_options_from(options, bound::dispatcher_in(client));
    auto*& out = bound::required_out(mutex, "mutex");
    out = bound::new_object<redlock_async_mutex>(bound::asked(client), bound::target_from(target),
                                                 std::move(read), bound::dispatcher_in(client));
  });
}

void redlock_async_mutex_free(redlock_async_mutex* mutex) {
  bound::dispose<redlock_async_mutex>(mutex);
}

redlock_request redlock_async_mutex_lock(redlock_async_mutex* mutex, redlock_guard_done done,
                                         void* context) {
  return redlock_async_mutex_try_lock_for(mutex, REDLOCK_FOREVER, done, context);
}

redlock_request redlock_async_mutex_try_lock(redlock_async_mutex* mutex, redlock_guard_done done,
                                             void* context) {
  return redlock_async_mutex_try_lock_for(mutex, 0, done, context);
}

redlock_request redlock_async_mutex_try_lock_for(redlock_async_mutex* mutex, int64_t wait_ns,
                                                 redlock_guard_done done, void* context) {
  const bound::GuardAnswer answer{done, context};
  redlock_request request = 0;
  bound::begin(
      [&](redlock_error* error) { answer(nullptr, error); },
      [&] {
        request = static_cast<redlock_request>(bound::in(mutex).try_lock_for(
            bound::from_ns(wait_ns),
            bound::answering<redlock::AsyncMutexGuard>(
                mutex->dispatcher, answer, [](redlock::AsyncMutexGuard guard) -> redlock_guard* {
                  return bound::new_object<redlock_guard>(std::move(guard));
                })));
      });
  return request;
}

void redlock_async_mutex_cancel(redlock_async_mutex* mutex, redlock_request request) {
  bound::guarded(nullptr, [&] { bound::in(mutex).cancel(redlock::RequestId{request}); });
}

void redlock_guard_free(redlock_guard* guard) { bound::dispose<redlock_guard>(guard); }

bool redlock_guard_valid(const redlock_guard* guard) {
  return guard != nullptr && guard->guard.valid();
}

bool redlock_guard_lost(const redlock_guard* guard) {
  return bound::asked_of(
      [&] { return bound::required(guard, "guard").guard.lost().stop_requested(); });
}

const char* redlock_guard_token(const redlock_guard* guard) {
  return guard == nullptr ? "" : guard->token.c_str();
}

uint64_t redlock_guard_fencing_token(const redlock_guard* guard) {
  return guard == nullptr ? 0 : bound::fencing_token_of(guard->guard.lease());
}
