#pragma once

#include <node_api.h>

#include <memory>
#include <string>
#include <utility>

#include "credentials.hpp"
#include "js.hpp"
#include "queue.hpp"
#include "redlock.h"
#include "results.hpp"

namespace redlock::node {

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
  explicit Client(napi_env env) noexcept : env_(env), queue_(env) {}
  ~Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Throws Pending. `events` is the id under which the handler gets the events of nodes and, with
  /// `observe` or `log`, the observations and the lines of the log; 0: it gets none of them.
  [[nodiscard]] Ptr<redlock_error> open(redlock_client_options options, napi_value handler,
                                        double events, bool observe, bool provide, bool log);

  /// NULL after `finish` and `end`.
  [[nodiscard]] redlock_async* get() const noexcept { return client_; }

  /// Whether the queue keeps the process alive.
  void set_referenced(bool referenced) const { queue_.set_referenced(referenced); }

  /// Closes; the answer comes like any other.
  void close(double id);

  /// Closes, waits and frees: at the end of the process or of a worker.
  void end() noexcept;

  /// Sends a message to JavaScript. Any thread can call this, as long as the library's client
  /// lives.
  template <typename Make>
  void send(double id, const char* event, Make make) noexcept {
    queue_.send(id, event, std::move(make));
  }

 private:
  /// `what`: "node" or "log".
  void send_event(const char* what, const redlock_node_event& event) noexcept;
  /// Frees the client. Does not block after the answer to `close`.
  void finish() noexcept;

  napi_env env_;
  redlock_async* client_ = nullptr;
  Queue queue_;
  double events_ = 0;
  std::shared_ptr<CredentialsGate> gate_ = std::make_shared<CredentialsGate>();
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
