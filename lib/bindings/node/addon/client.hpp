#pragma once

#include <node_api.h>

#include <memory>
#include <string>
#include <utility>

#include "credentials.hpp"
#include "js.hpp"
#include "redlock.h"
#include "results.hpp"

namespace redlock::node {

/// An event for JavaScript, which is reported by `handler(id, event, error, result)`.
struct Outcome {
  napi_value error;
  napi_value result;
};

/// An event on its way from the client's loop thread to JavaScript's thread.
class Message {
 public:
  Message() = default;
  virtual ~Message() = default;
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  /// Calls the handler, on JavaScript's thread. Throws Pending.
  virtual void deliver(const Js& js, napi_value handler) = 0;
};

/// `make(js)` makes the Outcome, on JavaScript's thread. `make` owns the data for the Outcome, so a
/// message that is never delivered frees them.
template <typename Make>
class MessageOf final : public Message {
 public:
  MessageOf(double id, const char* event, Make make)
      : id_(id), event_(event), make_(std::move(make)) {}

  void deliver(const Js& js, napi_value handler) override {
    const Outcome outcome = make_(js);
    const std::array<napi_value, 4> arguments{js.number(id_), js.text(event_), outcome.error,
                                              outcome.result};
    check(js.env(), napi_call_function(js.env(), js.null(), handler, arguments.size(),
                                       arguments.data(), nullptr));
  }

 private:
  double id_;
  const char* event_;
  Make make_;
};

/// A client of the library, with a loop thread of its own, and the queue that brings its answers to
/// JavaScript's thread.
///
/// The client does not run on Node's own loop, as redlock.h would allow: the library is compiled
/// for the system's libuv, and a `uv_loop_t` of Node's own libuv has another layout and other
/// functions.
///
/// JavaScript's value and the queue keep this object. The library's callbacks have a plain pointer
/// to it, because the queue ends only after the library's client, and thus its callbacks, have been
/// freed.
class Client : public std::enable_shared_from_this<Client> {
 public:
  explicit Client(napi_env env) noexcept : env_(env) {}
  ~Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Throws Pending. `events` is the id under which the handler gets the events of nodes and, with
  /// `observe` or `log`, the observations and the lines of the log; 0: it gets none of them.
  [[nodiscard]] ErrorPtr open(redlock_client_options options, napi_value handler, double events,
                              bool observe, bool provide, bool log);

  /// Makes the options ask JavaScript for credentials, for a call that has options of its own.
  void set_provider(redlock_client_options& options);
  /// Sends JavaScript a request for credentials. Any thread can call this.
  void send_request(std::unique_ptr<CredentialsRequest> request) noexcept;

  /// NULL after `finish` and `end`.
  [[nodiscard]] redlock_async* get() const noexcept { return client_; }

  /// Whether the queue keeps the process alive.
  void set_referenced(bool referenced) const;

  /// Closes; the answer comes like any other.
  void close(double id);

  /// Closes, waits and frees: at the end of the process or of a worker.
  void end() noexcept;

  /// Sends a message to JavaScript. Any thread can call this, as long as the library's client
  /// lives.
  template <typename Make>
  void send(double id, const char* event, Make make) noexcept {
    // If memory is exhausted, this ends the process, as Node.js itself does.
    enqueue(std::make_unique<MessageOf<Make>>(id, event, std::move(make)));
  }

 private:
  /// `what`: "node" or "log".
  void send_event(const char* what, const redlock_node_event& event) noexcept;
  void enqueue(std::unique_ptr<Message> message) noexcept;
  /// Frees the client. Does not block after the answer to `close`.
  void finish() noexcept;

  napi_env env_;
  redlock_async* client_ = nullptr;
  napi_threadsafe_function queue_ = nullptr;
  double events_ = 0;
  std::shared_ptr<CredentialsGate> gate_ = std::make_shared<CredentialsGate>();
  bool provides_ = false;
};

/// The context of the callbacks of a client's options.
struct ClientContext {
  Client* client;  ///< lives for as long as the library's client
  std::shared_ptr<CredentialsGate> gate;
};

/// The context of a callback that answers once.
struct Pledge {
  Client* client;
  double id;
};

}  // namespace redlock::node
