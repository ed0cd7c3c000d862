#include "redlock/async_client.hpp"

#include "bindings/c/boundary.hpp"
#include "bindings/c/close_report.hpp"

struct redlock_async {
  explicit redlock_async(redlock::AsyncClient made) : client(std::move(made)) {}

  redlock::AsyncClient client;
};

namespace redlock::bindings {
namespace {

/// Where answers go, and what becomes of them if nobody takes them.
template <typename Result, void (*free)(Result*)>
struct Answer {
  void (*done)(void*, Result*, redlock_error*);
  void* context;

  void operator()(Result* result, redlock_error* error) const noexcept {
    if (done != nullptr) return done(context, result, error);
    free(result);
    redlock_error_free(error);
  }
};
using LeaseAnswer = Answer<redlock_lease, redlock_lease_free>;
using RoundAnswer = Answer<redlock_round, redlock_round_free>;
using InspectionAnswer = Answer<redlock_inspection, redlock_inspection_free>;
using CloseAnswer = Answer<redlock_close_report, redlock_close_report_free>;

/// The callback of the C++ client that makes `make(value)` of the value and answers with it.
template <typename Value, typename Answer, typename Make>
[[nodiscard]] auto answering(Answer answer, Make make) {
  return [answer, make](Result<Value> result) noexcept {
    decltype(make(std::move(*result))) made = nullptr;
    redlock_error* error = nullptr;
    guarded(&error, [&] { made = make(unwrapped(std::move(result))); });
    answer(made, error);
  };
}
[[nodiscard]] auto answering_round(RoundAnswer answer) {
  return answering<RoundReport>(answer, [](RoundReport report) -> redlock_round* {
    return new_object<Round>(std::move(report));
  });
}

/// Begins a call. What fails before the client has it is answered here: no function of the client
/// throws, so nothing is answered twice.
template <typename Fail, typename Call>
void begin(Fail&& fail, Call&& call) noexcept {
  redlock_error* error = nullptr;
  if (guarded(&error, std::forward<Call>(call)) != REDLOCK_OK) fail(error);
}

[[nodiscard]] AsyncClient& asked(redlock_async* client) {
  return required(client, "client").client;
}

}  // namespace
}  // namespace redlock::bindings

namespace bound = redlock::bindings;

redlock_status redlock_async_create(const redlock_client_options* options, struct uv_loop_s* loop,
                                    redlock_async** client, redlock_error** error) {
  bound::clear(client);
  return bound::guarded(error, [&] {
    auto read = bound::client_options_from(options);
    auto*& out = bound::required_out(client, "client");
    auto created = loop == nullptr ? redlock::AsyncClient::create(std::move(read))
                                   : redlock::AsyncClient::create(std::move(read), loop);
    out = bound::new_object<redlock_async>(bound::unwrapped(std::move(created)));
  });
}

void redlock_async_close(redlock_async* client, redlock_close_done done, void* context) {
  const bound::CloseAnswer answer{done, context};
  bound::begin([&](redlock_error* error) { answer(nullptr, error); },
               [&] {
                 bound::asked(client).close([answer](const redlock::CloseReport& report) noexcept {
                   redlock_close_report* made = nullptr;
                   redlock_error* error = nullptr;
                   bound::guarded(&error,
                                  [&] { made = bound::new_object<bound::Closing>(report); });
                   answer(made, error);
                 });
               });
}

void redlock_async_free(redlock_async* client) {
  redlock::bindings::dispose<redlock_async>(client);
}

redlock_request redlock_async_acquire(redlock_async* client, const redlock_target* target,
                                      const redlock_acquire_options* options,
                                      redlock_lease_done done, void* context) {
  const bound::LeaseAnswer answer{done, context};
  redlock_request request = 0;
  bound::begin([&](redlock_error* error) { answer(nullptr, error); },
               [&] {
                 auto read = bound::acquire_options_from(options);
                 request = static_cast<redlock_request>(bound::asked(client).acquire(
                     bound::target_from(target), std::move(read),
                     bound::answering<redlock::Lease>(answer, bound::make_lease)));
               });
  return request;
}

redlock_request redlock_async_try_acquire(redlock_async* client, const redlock_target* target,
                                          const redlock_acquire_options* options,
                                          redlock_lease_done done, void* context) {
  const bound::LeaseAnswer answer{done, context};
  redlock_request request = 0;
  bound::begin([&](redlock_error* error) { answer(nullptr, error); },
               [&] {
                 auto read = bound::acquire_options_from(options);
                 request = static_cast<redlock_request>(bound::asked(client).try_acquire(
                     bound::target_from(target), std::move(read),
                     bound::answering<redlock::Lease>(answer, bound::make_lease)));
               });
  return request;
}

void redlock_async_cancel(redlock_async* client, redlock_request request) {
  bound::guarded(nullptr, [&] { bound::asked(client).cancel(redlock::RequestId{request}); });
}

void redlock_async_lease_extend(redlock_async* client, const redlock_lease* lease, int64_t ttl_ns,
                                redlock_round_done done, void* context) {
  const bound::RoundAnswer answer{done, context};
  bound::begin([&](redlock_error* error) { answer(nullptr, error); },
               [&] {
                 bound::asked(client).extend(bound::required(lease, "lease").lease,
                                             bound::from_ns(ttl_ns),
                                             bound::answering_round(answer));
               });
}

void redlock_async_lease_release(redlock_async* client, redlock_lease* lease,
                                 redlock_round_done done, void* context) {
  const std::unique_ptr<redlock_lease> owned(lease);
  const bound::RoundAnswer answer{done, context};
  bound::begin([&](redlock_error* error) { answer(nullptr, error); },
               [&] {
                 auto& held = bound::required(owned.get(), "lease").lease;
                 bound::asked(client).release(std::move(held), bound::answering_round(answer));
               });
}

void redlock_async_extend(redlock_async* client, const redlock_target* target, const char* token,
                          int64_t ttl_ns, redlock_round_done done, void* context) {
  const bound::RoundAnswer answer{done, context};
  bound::begin([&](redlock_error* error) { answer(nullptr, error); },
               [&] {
                 bound::asked(client).extend(bound::target_from(target), bound::token_from(token),
                                             bound::from_ns(ttl_ns),
                                             bound::answering_round(answer));
               });
}

void redlock_async_release(redlock_async* client, const redlock_target* target, const char* token,
                           redlock_round_done done, void* context) {
  const bound::RoundAnswer answer{done, context};
  bound::begin([&](redlock_error* error) { answer(nullptr, error); },
               [&] {
                 bound::asked(client).release(bound::target_from(target), bound::token_from(token),
                                              bound::answering_round(answer));
               });
}

void redlock_async_holds(redlock_async* client, const char* resource, const char* token,
                         redlock_holds_done done, void* context) {
  const auto answer = [done, context](bool holds, redlock_error* error) noexcept {
    if (done != nullptr) return done(context, holds, error);
    redlock_error_free(error);
  };
  bound::begin([&](redlock_error* error) { answer(false, error); },
               [&] {
                 bound::asked(client).ownership(
                     &bound::required(resource, "resource"), bound::token_from(token),
                     [answer](redlock::Result<redlock::Ownership> result) noexcept {
                       bool holds = false;
                       redlock_error* error = nullptr;
                       bound::guarded(&error, [&] {
                         holds = bound::unwrapped(std::move(result)) == redlock::Ownership::held;
                       });
                       answer(holds, error);
                     });
               });
}

void redlock_async_inspect(redlock_async* client, const char* resource,
                           redlock_inspection_done done, void* context) {
  const bound::InspectionAnswer answer{done, context};
  bound::begin([&](redlock_error* error) { answer(nullptr, error); },
               [&] {
                 bound::asked(client).inspect(
                     &bound::required(resource, "resource"),
                     bound::answering<redlock::Inspection>(answer, bound::make_inspection));
               });
}

redlock_request redlock_async_watch(redlock_async* client, const char* resource,
                                    int64_t poll_interval_ns, redlock_inspection_done changed,
                                    void* context) {
  const bound::InspectionAnswer answer{changed, context};
  redlock_request request = 0;
  bound::begin([&](redlock_error* error) { answer(nullptr, error); },
               [&] {
                 static_cast<void>(bound::required(changed, "changed"));
                 redlock::WatchOptions options;
                 if (poll_interval_ns != 0)
                   options.poll_interval = bound::from_ns(poll_interval_ns);
                 request = static_cast<redlock_request>(bound::asked(client).watch(
                     &bound::required(resource, "resource"), options,
                     bound::answering<redlock::Inspection>(answer, bound::make_inspection)));
               });
  return request;
}
