#include "calls.hpp"

#include <memory>
#include <string>
#include <tuple>
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
[[nodiscard]] void* pledge(Client& client, double id) {
  return std::make_unique<Pledge>(Pledge{&client, id}).release();
}

/// The callback of a call that answers once.
template <typename Result>
void answer(void* context, Result* result, redlock_error* error) noexcept {
  const std::unique_ptr<Pledge> pledge(static_cast<Pledge*>(context));
  send_answer(*pledge->client, pledge->id, Ptr<Result>(result), error);
}
void answer(void* context, bool result, redlock_error* error) noexcept {
  const std::unique_ptr<Pledge> pledge(static_cast<Pledge*>(context));
  send_answer(*pledge->client, pledge->id, result, error);
}

/// A watch answers until there is an error.
void answer_watch(void* context, redlock_inspection* inspection, redlock_error* error) noexcept {
  std::unique_ptr<Pledge> pledge(static_cast<Pledge*>(context));
  send_answer(*pledge->client, pledge->id, Ptr<redlock_inspection>(inspection), error);
  if (error == nullptr) static_cast<void>(pledge.release());
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
  options.context = pledge(client, id);
  options.free_context = [](void* context) noexcept {
    const std::unique_ptr<Pledge> owned(static_cast<Pledge*>(context));
  };
}

/// The arguments of a call of redlock.h, in their order, each read by its type.
class Given {
 public:
  Given(const Arguments& call, Client& client)
      : call_(call), client_(client), id_(call.number(1)) {}

  void read(const char*& text) { text = texts_.keep(call_.text(next_++)); }
  void read(std::int64_t& duration) { duration = nanoseconds_from(call_.env(), next()); }
  void read(const char* const*& list) {
    const auto& all = texts_.keep_all(call_.env(), next());
    list = all.data();
    size_ = all.size();
  }
  void read(std::size_t& size_of_lists) const { size_of_lists = size_; }
  void read(const redlock_target*& target) {
    target_ = target_from(call_.env(), next(), texts_);
    target = &target_;
  }
  void read(const redlock_acquire_options*& options) {
    options_ = acquire_options_from(call_.env(), next(), texts_);
    report_events(options_, client_, id_);
    options = &options_;
  }
  void read(const redlock_lease*& lease) { lease = lease_in(call_, next_++); }
  /// For a call that frees it.
  void read(redlock_lease*& lease) { lease = call_.external<HeldLease>(next_++).lease.release(); }
  template <typename Result>
  void read(void (*&done)(void*, Result, redlock_error*)) {
    done = answer;
  }
  void read(void*& context) { context = pledge(client_, id_); }

 private:
  [[nodiscard]] napi_value next() { return call_.at(next_++); }

  const Arguments& call_;
  Client& client_;
  double id_;
  Texts texts_{};
  redlock_target target_{};
  redlock_acquire_options options_{};
  std::size_t size_ = 0;
  std::size_t next_ = 2;
};

/// Makes a call of redlock.h that answers once. Returns its request, if it has one.
template <typename Request, typename... Parameters>
[[nodiscard]] napi_value ask(const Arguments& call,
                             Request (*function)(redlock_async*, Parameters...)) {
  Client& client = client_in(call);
  Given given(call, client);
  std::tuple<Parameters...> all;
  const auto make = [&](auto&... parameters) {
    (given.read(parameters), ...);
    return function(client.get(), parameters...);
  };
  if constexpr (std::is_void_v<Request>) {
    std::apply(make, all);
    return nullptr;
  } else {
    return call.js().bigint(std::apply(make, all));
  }
}

}  // namespace

napi_value open(const Arguments& call) {
  Texts texts;
  const auto options = client_options_from(call.env(), call.at(0), texts);
  auto client = std::make_unique<Kept>(std::make_shared<Client>(call.env()));
  const Ptr<redlock_error> error =
      (*client)->open(options, call.at(1), call.number(2), boolean_from(call.env(), call.at(3)),
                      boolean_from(call.env(), call.at(4)), boolean_from(call.env(), call.at(5)));
  const Js js = call.js();
  if (error) return js.object({{"error", to_js(js, *error)}, {"client", js.null()}});
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

napi_value watch(const Arguments& call) {
  Client& client = client_in(call);
  const std::string resource = call.text(2);
  const std::int64_t poll_interval =
      is_given(call.env(), call.at(3)) ? nanoseconds_from(call.env(), call.at(3)) : 0;
  return call.js().bigint(redlock_async_watch(client.get(), resource.c_str(), poll_interval,
                                              answer_watch, pledge(client, call.number(1))));
}

napi_value cancel(const Arguments& call) {
  redlock_async_cancel(client_in(call).get(), bigint_from(call.env(), call.at(1)));
  return nullptr;
}

#define CALL(name, text, function) \
  napi_value name(const Arguments& call) { return ask(call, function); }
REDLOCK_NODE_CALLS(CALL)
#undef CALL
#define BY_TOKEN(c_name, name, ...) \
  napi_value name(const Arguments& call) { return ask(call, redlock_async_##c_name); }
#include "redlock/face.def"

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
