#include "redlock/async_client.hpp"

#include "bindings/c/answers.hpp"
#include "bindings/c/boundary.hpp"
#include "bindings/c/close_report.hpp"

redlock_status redlock_async_create(const redlock_client_options* options, struct uv_loop_s* loop,
                                    redlock_async** client, redlock_error** error) {
  bound::clear(client);
  return bound::guarded(error, [&] {
    auto read = bound::client_options_from(options);
    auto*& out = bound::required_out(client, "client");
    auto created = loop == nullptr ? redlock::AsyncClient::create(std::move(read))
                                   : redlock::AsyncClient::create(std::move(read), loop);
    out = bound::new_object<redlock_async>(bound::unwrapped(std::move(created)),
                                           bound::dispatcher_of(options));
  });
}

void redlock_async_close(redlock_async* client, redlock_close_done done, void* context) {
  const bound::Answer answer{done, context};
  bound::begin(answer, [&] {
    bound::asked(client).close(
        [answer, dispatcher = client->dispatcher](const redlock::CloseReport& report) noexcept {
          redlock_close_report* made = nullptr;
          redlock_error* error = nullptr;
          bound::guarded(&error, [&] { made = bound::new_object<bound::Closing>(report); });
          answer.deliver_by(dispatcher, made, error);
        });
  });
}

void redlock_async_free(redlock_async* client) { bound::dispose<redlock_async>(client); }

redlock_request redlock_async_acquire(redlock_async* client, const redlock_target* target,
                                      const redlock_acquire_options* options,
                                      redlock_lease_done done, void* context) {
  return redlock_async_try_acquire_for(client, target, REDLOCK_FOREVER, options, done, context);
}

redlock_request redlock_async_try_acquire(redlock_async* client, const redlock_target* target,
                                          const redlock_acquire_options* options,
                                          redlock_lease_done done, void* context) {
  return redlock_async_try_acquire_for(client, target, 0, options, done, context);
}

redlock_request redlock_async_try_acquire_for(redlock_async* client, const redlock_target* target,
                                              int64_t wait_ns,
                                              const redlock_acquire_options* options,
                                              redlock_lease_done done, void* context) {
  const bound::Answer answer{done, context};
  return bound::begin(answer, [&] {
    auto read = bound::acquire_options_from(options, bound::dispatcher_in(client));
    return bound::asked(client).try_acquire_for(
        bound::target_from(target), bound::from_ns(wait_ns), std::move(read),
        bound::answering<redlock::Lease>(client->dispatcher, answer, bound::make_lease));
  });
}

void redlock_async_adopt(redlock_async* client, const char* detached,
                         const redlock_acquire_options* options, redlock_lease_done done,
                         void* context) {
  const bound::Answer answer{done, context};
  bound::begin(answer, [&] {
    auto read = bound::acquire_options_from(options, bound::dispatcher_in(client));
    bound::asked(client).adopt(
        bound::detached_from(detached), std::move(read),
        bound::answering<redlock::Lease>(client->dispatcher, answer, bound::make_lease));
  });
}

void redlock_async_cancel(redlock_async* client, redlock_request request) {
  bound::guarded(nullptr, [&] { bound::asked(client).cancel(redlock::RequestId{request}); });
}

void redlock_async_lease_release(redlock_async* client, redlock_lease* lease,
                                 redlock_round_done done, void* context) {
  const std::unique_ptr<redlock_lease> owned(lease);
  bound::begin_round(client, done, context, [&](auto& caller, auto answer) {
    caller.release(std::move(bound::required(owned.get(), "lease").lease), std::move(answer));
  });
}

void redlock_async_ownership(redlock_async* client, const char* resource, const char* token,
                             redlock_ownership_done done, void* context) {
  const bound::Answer answer{done, context};
  bound::begin(answer, [&] {
    bound::asked(client).ownership(&bound::required(resource, "resource"), bound::token_from(token),
                                   bound::answering<redlock::Ownership>(
                                       client->dispatcher, answer, [](redlock::Ownership seen) {
                                         return seen == redlock::Ownership::held;
                                       }));
  });
}

void redlock_async_inspect(redlock_async* client, const char* resource,
                           redlock_inspection_done done, void* context) {
  const bound::Answer answer{done, context};
  bound::begin(answer, [&] {
    bound::asked(client).inspect(
        &bound::required(resource, "resource"),
        bound::answering<redlock::Inspection>(client->dispatcher, answer, bound::make_inspection));
  });
}

redlock_request redlock_async_watch(redlock_async* client, const char* resource,
                                    int64_t poll_interval_ns, redlock_inspection_done changed,
                                    void* context) {
  const bound::Answer answer{changed, context};
  return bound::begin(answer, [&] {
    static_cast<void>(bound::required(changed, "changed"));
    redlock::WatchOptions options;
    if (poll_interval_ns != 0) options.poll_interval = bound::from_ns(poll_interval_ns);
    return bound::asked(client).watch(
        &bound::required(resource, "resource"), options,
        bound::answering<redlock::Inspection>(client->dispatcher, answer, bound::make_inspection));
  });
}
