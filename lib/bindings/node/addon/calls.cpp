#include "calls.hpp"

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "client.hpp"
#include "options.hpp"
#include "results.hpp"

namespace redlock::node {
namespace {

using Kept = std::shared_ptr<Client>;

[[nodiscard]] Client& client_in(const Arguments& call) {
  Client& client = *call.external<Kept>(0);
  if (client.get() == nullptr) throw_type_error(call.env(), "the client has been freed");
  return client;
}

[[nodiscard]] redlock_lease* lease_in(const Arguments& call, std::size_t i) {
  return call.external<HeldLease>(i).lease.get();
}

/// The context of a call that answers once. `answer` receives and frees it.
[[nodiscard]] void* pledge(Client& client, const Arguments& call) {
  return std::make_unique<Pledge>(Pledge{&client, call.number(1)}).release();
}

[[nodiscard]] napi_value lease_from(const Js& js, LeasePtr lease) {
  return lease_value(js, std::move(lease));
}
[[nodiscard]] napi_value round_from(const Js& js, const RoundPtr& round) {
  return round_value(js, *round);
}
[[nodiscard]] napi_value inspection_from(const Js& js, const InspectionPtr& inspection) {
  return inspection_value(js, *inspection);
}

[[nodiscard]] napi_value text_from_library(const Js& js, const TextPtr& text) {
  return js.text(text.get());
}

/// Sends JavaScript a result of the library, or the error if there is one.
template <typename Ptr, auto value>
void send_answer(const Pledge& pledge, typename Ptr::pointer result,
                 redlock_error* error) noexcept {
  pledge.client->send(pledge.id, "answer",
                      [result = Ptr(result), error = ErrorPtr(error)](const Js& js) mutable {
                        if (error) return Outcome{error_value(js, *error), js.null()};
                        return Outcome{js.null(), value(js, std::move(result))};
                      });
}

/// The callback of a call that answers once.
template <typename Ptr, auto value>
void answer(void* context, typename Ptr::pointer result, redlock_error* error) noexcept {
  const std::unique_ptr<Pledge> pledge(static_cast<Pledge*>(context));
  send_answer<Ptr, value>(*pledge, result, error);
}
constexpr auto answer_lease = answer<LeasePtr, lease_from>;
constexpr auto answer_round = answer<RoundPtr, round_from>;
constexpr auto answer_text = answer<TextPtr, text_from_library>;
constexpr auto answer_inspection = answer<InspectionPtr, inspection_from>;

/// A watch answers until there is an error.
void answer_watch(void* context, redlock_inspection* inspection, redlock_error* error) noexcept {
  std::unique_ptr<Pledge> pledge(static_cast<Pledge*>(context));
  send_answer<InspectionPtr, inspection_from>(*pledge, inspection, error);
  if (error == nullptr) static_cast<void>(pledge.release());
}

void answer_ownership(void* context, bool held, redlock_error* error) noexcept {
  const std::unique_ptr<Pledge> pledge(static_cast<Pledge*>(context));
  pledge->client->send(pledge->id, "answer", [held, error = ErrorPtr(error)](const Js& js) {
    if (error) return Outcome{error_value(js, *error), js.null()};
    return Outcome{js.null(), js.boolean(held)};
  });
}

/// A call by a token: `ask` is the function of redlock.h, for the name of a resource or a target,
/// and perhaps with a duration after the token.
template <typename Lock, typename... Rest>
[[nodiscard]] napi_value by_token(const Arguments& call,
                                  void (*ask)(redlock_async*, Lock, const char*, Rest...)) {
  Client& client = client_in(call);
  const std::string token = call.text(3);
  const auto asked = [&](Lock lock) {
    if constexpr (sizeof...(Rest) == 2) {
      ask(client.get(), lock, token.c_str(), answer_round, pledge(client, call));
    } else {
      const std::int64_t duration = nanoseconds_from(call.env(), call.at(4));
      ask(client.get(), lock, token.c_str(), duration, answer_round, pledge(client, call));
    }
  };
  if constexpr (std::is_same_v<Lock, const char*>) {
    asked(call.text(2).c_str());
  } else {
    Texts texts;
    const redlock_target target = target_from(call.env(), call.at(2), texts);
    asked(&target);
  }
  return nullptr;
}

/// The events that a lease reports by itself, under the id of the call that acquired it.
void report_events(redlock_acquire_options& options, Client& client, double id) {
  options.on_at_risk = [](void* context, std::int64_t remaining_ns) noexcept {
    const auto& lease = *static_cast<Pledge*>(context);
    lease.client->send(lease.id, "at-risk", [remaining_ns](const Js& js) {
      return Outcome{js.null(), js.milliseconds(remaining_ns)};
    });
  };
  options.on_lost = [](void* context, const redlock_error* error) noexcept {
    const auto& lease = *static_cast<Pledge*>(context);
    // The error ends with this callback.
    lease.client->send(lease.id, "lost", [message = std::string(error->message)](const Js& js) {
      return Outcome{js.null(), js.text(message.c_str())};
    });
  };
  options.context = std::make_unique<Pledge>(Pledge{&client, id}).release();
  options.free_context = [](void* context) noexcept {
    const std::unique_ptr<Pledge> owned(static_cast<Pledge*>(context));
  };
}

}  // namespace

napi_value open(const Arguments& call) {
  Texts texts;
  const auto options = client_options_from(call.env(), call.at(0), texts);
  auto client = std::make_unique<Kept>(std::make_shared<Client>(call.env()));
  const ErrorPtr error =
      (*client)->open(options, call.at(1), call.number(2), boolean_from(call.env(), call.at(3)),
                      boolean_from(call.env(), call.at(4)), boolean_from(call.env(), call.at(5)));
  const Js js = call.js();
  if (error) return js.object({{"error", error_value(js, *error)}, {"client", js.null()}});
  return js.object({{"error", js.null()}, {"client", js.external(std::move(client))}});
}

napi_value reference(const Arguments& call) {
  call.external<Kept>(0)->set_referenced(boolean_from(call.env(), call.at(1)));
  return nullptr;
}

napi_value close(const Arguments& call) {
  client_in(call).close(call.number(1));
  return nullptr;
}

napi_value end(const Arguments& call) {
  call.external<Kept>(0)->end();
  return nullptr;
}

napi_value acquire(const Arguments& call) {
  Client& client = client_in(call);
  Texts texts;
  const auto target = target_from(call.env(), call.at(2), texts);
  auto options = acquire_options_from(call.env(), call.at(3), texts);
  const std::int64_t wait = nanoseconds_from(call.env(), call.at(4));
  void* const context = pledge(client, call);
  report_events(options, client, call.number(1));
  return call.js().bigint(
      redlock_async_try_acquire_for(client.get(), &target, wait, &options, answer_lease, context));
}

napi_value adopt(const Arguments& call) {
  Client& client = client_in(call);
  Texts texts;
  const std::string detached = call.text(2);
  auto options = acquire_options_from(call.env(), call.at(3), texts);
  void* const context = pledge(client, call);
  report_events(options, client, call.number(1));
  redlock_async_adopt(client.get(), detached.c_str(), &options, answer_lease, context);
  return nullptr;
}

napi_value watch(const Arguments& call) {
  Client& client = client_in(call);
  const std::string resource = call.text(2);
  const std::int64_t poll_interval =
      is_given(call.env(), call.at(3)) ? nanoseconds_from(call.env(), call.at(3)) : 0;
  return call.js().bigint(redlock_async_watch(client.get(), resource.c_str(), poll_interval,
                                              answer_watch, pledge(client, call)));
}

napi_value cancel(const Arguments& call) {
  redlock_async_cancel(client_in(call).get(), bigint_from(call.env(), call.at(1)));
  return nullptr;
}

napi_value extend_lease(const Arguments& call) {
  Client& client = client_in(call);
  const std::int64_t ttl = nanoseconds_from(call.env(), call.at(3));
  redlock_async_lease_extend(client.get(), lease_in(call, 2), ttl, answer_round,
                             pledge(client, call));
  return nullptr;
}

napi_value downgrade_lease(const Arguments& call) {
  Client& client = client_in(call);
  redlock_async_lease_downgrade(client.get(), lease_in(call, 2), answer_round,
                                pledge(client, call));
  return nullptr;
}

napi_value release_lease(const Arguments& call) {
  Client& client = client_in(call);
  auto& held = call.external<HeldLease>(2);
  void* const context = pledge(client, call);
  redlock_async_lease_release(client.get(), held.lease.release(), answer_round, context);
  return nullptr;
}

#define BY_TOKEN(c_name, name, ...) \
  napi_value name(const Arguments& call) { return by_token(call, redlock_async_##c_name); }
#include "redlock/face.def"

napi_value prometheus(const Arguments& call) {
  Client& client = client_in(call);
  Texts texts;
  const auto& names = texts.keep_all(call.env(), call.at(2));
  const auto& values = texts.keep_all(call.env(), call.at(3));
  redlock_async_prometheus(client.get(), names.data(), values.data(), names.size(), answer_text,
                           pledge(client, call));
  return nullptr;
}

napi_value ownership(const Arguments& call) {
  Client& client = client_in(call);
  const std::string resource = call.text(2);
  const std::string token = call.text(3);
  redlock_async_ownership(client.get(), resource.c_str(), token.c_str(), answer_ownership,
                          pledge(client, call));
  return nullptr;
}

napi_value inspect(const Arguments& call) {
  Client& client = client_in(call);
  const std::string resource = call.text(2);
  redlock_async_inspect(client.get(), resource.c_str(), answer_inspection, pledge(client, call));
  return nullptr;
}

napi_value remaining(const Arguments& call) {
  return call.js().milliseconds(redlock_lease_remaining_ns(lease_in(call, 0)));
}

napi_value valid(const Arguments& call) {
  return call.js().boolean(redlock_lease_valid(lease_in(call, 0)));
}

napi_value valid_until(const Arguments& call) {
  return call.js().milliseconds(redlock_lease_valid_until_ns(lease_in(call, 0)));
}

napi_value now(const Arguments& call) { return call.js().milliseconds(redlock_now_ns()); }

napi_value detach(const Arguments& call) {
  return call.js().text(redlock_lease_detach(lease_in(call, 0)));
}

napi_value provide_credentials(const Arguments& call) {
  const std::string user = call.text(1);
  const std::string password = call.text(2);
  call.external<CredentialsRequest>(0).provide(user, password);
  return call.js().null();
}

napi_value fail_credentials(const Arguments& call) {
  call.external<CredentialsRequest>(0).fail(call.text(1));
  return call.js().null();
}

}  // namespace redlock::node
