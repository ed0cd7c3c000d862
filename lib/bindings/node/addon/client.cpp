#include "client.hpp"

#include <array>
#include <string>

#include "redlock/enums.def"

namespace redlock::node {
namespace {

void end_client(void* client) noexcept { static_cast<Client*>(client)->end(); }

// The texts of a list of redlock/enums.def, by their numbers.
#define TEXT(enumerator, text, ...) text,
constexpr std::array node_events{REDLOCK_NODE_EVENTS(TEXT)};
constexpr std::array levels{REDLOCK_LEVELS(TEXT)};
constexpr std::array observations{REDLOCK_OBSERVATIONS(TEXT)};
#undef TEXT

template <std::size_t size>
[[nodiscard]] const char* text_of(const std::array<const char*, size>& texts, std::int32_t number) {
  const auto i = static_cast<std::size_t>(number);
  return number >= 0 && i < size ? texts.at(i) : "unknown";
}

}  // namespace

Ptr<redlock_error> Client::open(redlock_client_options options, napi_value handler, double events,
                                bool observe, bool provide, bool log) {
  queue_.open(handler, shared_from_this());
  // An idle client does not keep the process alive.
  set_referenced(false);

  events_ = events;
  gate_->open(queue_, events);
  options.context = std::make_unique<ClientContext>(ClientContext{this, gate_}).release();
  options.free_context = [](void* context) noexcept {
    const std::unique_ptr<ClientContext> owned(static_cast<ClientContext*>(context));
  };
  if (provide) {
    options.on_credentials = [](void* context, redlock_credentials_request* request) noexcept {
      static_cast<ClientContext*>(context)->gate->ask(request);
    };
  }
  if (events != 0) {
    options.on_node_event = [](void* context, const redlock_node_event* event) noexcept {
      static_cast<ClientContext*>(context)->client->send_event("node", *event);
    };
  }
  if (log) {
    options.on_log = [](void* context, const redlock_node_event* event) noexcept {
      static_cast<ClientContext*>(context)->client->send_event("log", *event);
    };
  }
  if (observe) {
    options.on_observation = [](void* context, const redlock_observation* seen) noexcept {
      auto& client = *static_cast<ClientContext*>(context)->client;
      client.send(
          client.events_, "observation",
          [kind = seen->kind, failure = seen->failure, call = seen->call, at = seen->at_ns,
           resource = std::string(seen->resource), token = std::string(seen->token),
           fencing = seen->fencing_token, end = std::string(seen->end)](const Js& js) {
            const bool failed = failure != REDLOCK_OK;
            return Outcome{
                js.null(),
                js.object({{"kind", js.text(text_of(observations, kind))},
                           {"failure", failed ? js.text(redlock_status_name(failure)) : js.null()},
                           {"call", js.bigint(call)},
                           {"at", js.milliseconds(at)},
                           {"resource", js.text(resource.c_str())},
                           {"token", js.text(token.c_str())},
                           {"fencingToken", js.fencing_token(fencing)},
                           {"end", js.text(end.c_str())}})};
          });
    };
  }
  redlock_error* error = nullptr;
  if (redlock_async_create(&options, nullptr, &client_, &error) != REDLOCK_OK) {
    finish();
    return Ptr<redlock_error>(error);
  }
  // Hooks run in the opposite order: this one before that of the queue, so that the loop thread has
  // ended when the queue does.
  check(env_, napi_add_env_cleanup_hook(env_, end_client, this));
  return nullptr;
}

void Client::send_event(const char* what, const redlock_node_event& event) noexcept {
  send(events_, what,
       [kind = event.kind, node = event.node, url = std::string(event.url),
        message = std::string(event.message), level = event.level,
        times = event.times](const Js& js) {
         return Outcome{js.null(), js.object({{"kind", js.text(text_of(node_events, kind))},
                                              {"node", js.number(static_cast<double>(node))},
                                              {"url", js.text(url.c_str())},
                                              {"message", js.text(message.c_str())},
                                              {"level", js.text(text_of(levels, level))},
                                              {"times", js.number(static_cast<double>(times))}})};
       });
}

void Client::close(double id) {
  const auto done = [](void* context, redlock_close_report* report, redlock_error* error) noexcept {
    const std::unique_ptr<Pledge> pledge(static_cast<Pledge*>(context));
    pledge->client->send(pledge->id, "answer",
                         [client = pledge->client, report = Ptr<redlock_close_report>(report),
                          error = Ptr<redlock_error>(error)](const Js& js) {
                           client->finish();
                           return error ? Outcome{to_js(js, *error), js.null()}
                                        : Outcome{js.null(), to_js(js, *report)};
                         });
  };
  redlock_async_close(client_, done, std::make_unique<Pledge>(Pledge{this, id}).release());
}

void Client::finish() noexcept {
  gate_->close();
  if (client_ != nullptr) {
    static_cast<void>(napi_remove_env_cleanup_hook(env_, end_client, this));
    redlock_async_free(std::exchange(client_, nullptr));
  }
  queue_.close();
}

void Client::end() noexcept {
  gate_->close();
  redlock_async_free(std::exchange(client_, nullptr));
}

}  // namespace redlock::node
