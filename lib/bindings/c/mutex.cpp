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
                      redlock::AcquireOptions options, bound::Dispatcher callbacks)
      : mutex(client, std::move(target), std::move(options)), dispatcher(std::move(callbacks)) {}

  redlock::AsyncMutex mutex;
  bound::Dispatcher dispatcher;
};

struct redlock_guard {
  explicit redlock_guard(redlock::AsyncMutexGuard granted) : guard(std::move(granted)) {
    token = guard.lease().token().str();
  }

  redlock::AsyncMutexGuard guard;
  std::string token{};
};

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

// What redlock_mutex and redlock_shared_mutex have alike. `how` is nothing, or _shared.
#define LOCKING(kind, how)                                                                       \
  redlock_status redlock_##kind##_lock##how(redlock_##kind* mutex, const redlock_stop* stop,     \
                                            redlock_error** error) {                             \
    return redlock_##kind##_try_lock##how##_for(mutex, REDLOCK_FOREVER, stop, error);            \
  }                                                                                              \
  redlock_status redlock_##kind##_try_lock##how(redlock_##kind* mutex, redlock_error** error) {  \
    return redlock_##kind##_try_lock##how##_for(mutex, 0, nullptr, error);                       \
  }                                                                                              \
  redlock_status redlock_##kind##_try_lock##how##_for(                                           \
      redlock_##kind* mutex, int64_t wait_ns, const redlock_stop* stop, redlock_error** error) { \
    return bound::locking(error, [&] {                                                           \
      return bound::in(mutex).try_acquire##how##_for(bound::from_ns(wait_ns),                    \
                                                     bound::stop_token_from(stop));              \
    });                                                                                          \
  }                                                                                              \
  void redlock_##kind##_unlock##how(redlock_##kind* mutex) {                                     \
    if (mutex != nullptr) mutex->mutex.unlock##how();                                            \
  }
#define HELD(kind)                                                                             \
  void redlock_##kind##_free(redlock_##kind* mutex) { bound::dispose<redlock_##kind>(mutex); } \
  bool redlock_##kind##_valid(const redlock_##kind* mutex) {                                   \
    return mutex != nullptr && mutex->mutex.valid();                                           \
  }                                                                                            \
  bool redlock_##kind##_lost(const redlock_##kind* mutex) {                                    \
    return bound::asked_of([&] { return bound::in(mutex).lost().stop_requested(); });          \
  }                                                                                            \
  uint64_t redlock_##kind##_fencing_token(const redlock_##kind* mutex) {                       \
    return mutex == nullptr ? 0 : bound::fencing_token_of(mutex->mutex.lease());               \
  }
LOCKING(mutex, )
HELD(mutex)
LOCKING(shared_mutex, )
LOCKING(shared_mutex, _shared)
HELD(shared_mutex)
#undef LOCKING
#undef HELD

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
  const bound::Answer answer{done, context};
  return bound::begin(answer, [&] {
    return bound::in(mutex).try_lock_for(
        bound::from_ns(wait_ns), bound::answering<redlock::AsyncMutexGuard>(
                                     mutex->dispatcher, answer, [](redlock::AsyncMutexGuard guard) {
                                       return bound::new_object<redlock_guard>(std::move(guard));
                                     }));
  });
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
