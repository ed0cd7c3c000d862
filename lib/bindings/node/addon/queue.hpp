#pragma once

#include <node_api.h>

#include <array>
#include <memory>
#include <utility>

#include "js.hpp"

namespace redlock::node {

/// An event for JavaScript, which is reported by `handler(id, event, error, result)`.
struct Outcome {
  napi_value error;
  napi_value result;
};

/// An event on its way from another thread to JavaScript's thread.
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

/// Brings events to JavaScript's thread, in their order.
class Queue {
 public:
  explicit Queue(napi_env env) noexcept : env_(env) {}
  ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Begins. `owner` lives until the queue has ended. Throws Pending.
  void open(napi_value handler, std::shared_ptr<void> owner);
  /// Whether the queue keeps the process alive: at first it does. JavaScript's thread only.
  void set_referenced(bool referenced) const;
  /// Ends, after what is in the queue has been delivered. JavaScript's thread only.
  void close() noexcept;

  /// Sends a message to JavaScript. Any thread can call this, between `open` and `close`.
  template <typename Make>
  void send(double id, const char* event, Make make) noexcept {
    // If memory is exhausted, this ends the process, as Node.js itself does.
    enqueue(std::make_unique<MessageOf<Make>>(id, event, std::move(make)));
  }

 private:
  void enqueue(std::unique_ptr<Message> message) noexcept;

  napi_env env_;
  napi_threadsafe_function function_ = nullptr;
};

}  // namespace redlock::node
