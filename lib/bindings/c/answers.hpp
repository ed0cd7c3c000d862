#pragma once

#include <type_traits>
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
// Ends a result that nobody wants.
inline void discard(bool /*held*/) noexcept {}
inline void discard(char* text) noexcept { redlock_text_free(text); }
inline void discard(redlock_lease* lease) noexcept { redlock_lease_free(lease); }
inline void discard(redlock_round* round) noexcept { redlock_round_free(round); }
inline void discard(redlock_inspection* seen) noexcept { redlock_inspection_free(seen); }
inline void discard(redlock_close_report* report) noexcept { redlock_close_report_free(report); }
inline void discard(redlock_leadership* leader) noexcept { redlock_leadership_free(leader); }
inline void discard(redlock_leader* leader) noexcept { redlock_leader_free(leader); }
inline void discard(redlock_guard* guard) noexcept { redlock_guard_free(guard); }

/// A result on its way to its owner.
template <typename Result>
class Kept {
 public:
  explicit Kept(Result result) noexcept : result_(result) {}
  Kept(Kept&& other) noexcept : result_(other.release()) {}
  Kept& operator=(Kept&&) = delete;
  ~Kept() { discard(result_); }
  [[nodiscard]] Result release() noexcept { return std::exchange(result_, Result{}); }

 private:
  Result result_;
};

/// Passes an answer to the caller's callback, or frees the answer if there is no callback.
template <typename Result>
struct Answer {
  void (*done)(void*, Result, redlock_error*);
  void* context;

  void operator()(Result result, redlock_error* error) const noexcept {
    if (done != nullptr) return done(context, result, error);
    discard(result);
    redlock_error_free(error);
  }
  /// Passes on an answer that comes after the call: on the dispatcher's thread, if there is one.
  void deliver_by(const Dispatcher& dispatcher, Result result,
                  redlock_error* error) const noexcept {
    deliver(dispatcher,
            [answer = *this, kept = Kept(result), failure = OwnedError(error)]() mutable noexcept {
              answer(kept.release(), failure.release());
            });
  }
};

template <typename Result>
Answer(void (*)(void*, Result, redlock_error*), void*) -> Answer<Result>;

/// A callback for the C++ client. It converts the value by `make(value)`, and passes the result to
/// `answer`.
template <typename Value, typename Result, typename Make>
[[nodiscard]] auto answering(Dispatcher dispatcher, Answer<Result> answer, Make make) {
  return [dispatcher = std::move(dispatcher), answer, make](redlock::Result<Value> value) noexcept {
    Result made{};
    redlock_error* error = nullptr;
    guarded(&error, [&] { made = make(unwrapped(std::move(value))); });
    answer.deliver_by(dispatcher, made, error);
  };
}

/// Begins a call, and returns its request; 0: it has none. A call that fails before it reaches the
/// client is answered here. No function of the client throws, so no call is answered twice.
template <typename Result, typename Call>
redlock_request begin(const Answer<Result>& answer, Call&& call) noexcept {
  redlock_request request = 0;
  redlock_error* error = nullptr;
  const auto begun = [&] {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
    } else {
      request = static_cast<redlock_request>(call());
    }
  };
  if (guarded(&error, begun) != REDLOCK_OK) answer(Result{}, error);
  return request;
}

[[nodiscard]] inline AsyncClient& asked(redlock_async* client) {
  return required(client, "client").client;
}

/// A call whose answer is a round: `ask(client, answer)` makes it.
template <typename Ask>
void begin_round(redlock_async* client, redlock_round_done done, void* context,
                 Ask&& ask) noexcept {
  const Answer answer{done, context};
  begin(answer, [&] {
    AsyncClient& of = asked(client);  // first: `client` may be null
    ask(of, answering<Round>(client->dispatcher, answer, make_round));
  });
}

}  // namespace redlock::bindings
