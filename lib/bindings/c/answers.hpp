#pragma once

#include <utility>

#include "bindings/c/boundary.hpp"
#include "redlock/async_client.hpp"

/// The types and functions that the asynchronous functions of redlock.h share.

struct redlock_async {
  redlock_async(redlock::AsyncClient made, redlock::bindings::Dispatcher callbacks)
      : client(std::move(made)), dispatcher(std::move(callbacks)) {}

  redlock::AsyncClient client;
  redlock::bindings::Dispatcher dispatcher;
};

namespace redlock::bindings {
/// Passes an answer to the caller's callback, or frees the answer if there is no callback.
template <typename Result, void (*free)(Result*)>
struct Answer {
  void (*done)(void*, Result*, redlock_error*);
  void* context;

  void operator()(Result* result, redlock_error* error) const noexcept {
    if (done != nullptr) return done(context, result, error);
    free(result);
    redlock_error_free(error);
  }
  /// Passes on an answer that comes after the call: on the dispatcher's thread, if there is one.
  void deliver_by(const Dispatcher& dispatcher, Result* result,
                  redlock_error* error) const noexcept {
    struct Free {
      void operator()(Result* unused) const noexcept { free(unused); }
    };
    deliver(dispatcher, [answer = *this, owned = std::unique_ptr<Result, Free>(result),
                         failure = OwnedError(error)]() mutable noexcept {
      answer(owned.release(), failure.release());
    });
  }
};
using LeaseAnswer = Answer<redlock_lease, redlock_lease_free>;
using RoundAnswer = Answer<redlock_round, redlock_round_free>;
using InspectionAnswer = Answer<redlock_inspection, redlock_inspection_free>;
using CloseAnswer = Answer<redlock_close_report, redlock_close_report_free>;
using LeadershipAnswer = Answer<redlock_leadership, redlock_leadership_free>;
using LeaderAnswer = Answer<redlock_leader, redlock_leader_free>;
using GuardAnswer = Answer<redlock_guard, redlock_guard_free>;

/// A callback for the C++ client. It converts the value by `make(value)`, and passes the result to
/// `answer`.
template <typename Value, typename Answer, typename Make>
[[nodiscard]] auto answering(Dispatcher dispatcher, Answer answer, Make make) {
  return [dispatcher = std::move(dispatcher), answer, make](Result<Value> result) noexcept {
    decltype(make(std::move(*result))) made = nullptr;
    redlock_error* error = nullptr;
    guarded(&error, [&] { made = make(unwrapped(std::move(result))); });
    answer.deliver_by(dispatcher, made, error);
  };
}
[[nodiscard]] inline auto answering_round(Dispatcher dispatcher, RoundAnswer answer) {
  return answering<Round>(std::move(dispatcher), answer, [](Round report) -> redlock_round* {
    return new_object<RoundView>(std::move(report));
  });
}

/// Begins a call. A call that fails before it reaches the client is answered here. No function of
/// the client throws, so no call is answered twice.
template <typename Fail, typename Call>
void begin(Fail&& fail, Call&& call) noexcept {
  redlock_error* error = nullptr;
  if (guarded(&error, std::forward<Call>(call)) != REDLOCK_OK) fail(error);
}

[[nodiscard]] inline AsyncClient& asked(redlock_async* client) {
  return required(client, "client").client;
}

/// A call whose answer is a round: `ask(client, answer)` makes it.
template <typename Ask>
void begin_round(redlock_async* client, redlock_round_done done, void* context,
                 Ask&& ask) noexcept {
  const RoundAnswer answer{done, context};
  begin([&](redlock_error* error) { answer(nullptr, error); },
        [&] { ask(asked(client), answering_round(client->dispatcher, answer)); });
}

}  // namespace redlock::bindings
