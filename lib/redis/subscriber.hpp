#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "redis/connection_target.hpp"
#include "redis/reply.hpp"
#include "uv/stream.hpp"

namespace redlock::redis {

/// Is called on the loop only, never from inside a call to the subscriber, and never after close()
/// or destruction. May call, close or destroy the subscriber from inside any call.
class SubscriberOwner {
 public:
  /// What is told about `resource` from now on arrives.
  virtual void on_telling(std::string_view resource) noexcept = 0;
  /// `resource` was given up.
  virtual void on_hint(std::string_view resource) noexcept = 0;
  /// The last call: the connection is gone. `why` is one line.
  virtual void on_deaf(std::string_view why) noexcept = 0;

 protected:
  ~SubscriberOwner() = default;
};

/// One connection that listens for resources being given up: a server takes nothing else on it.
/// Knows no time; opened once, closed once. Belongs to the loop's thread.
class Subscriber final : private uv::StreamListener {
 public:
  Subscriber(uv_loop_t* loop, ConnectionTarget target, SubscriberOwner& owner);
  /// Closes by reset.
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  /// Once; on_deaf follows, if it can not be kept.
  void open();

  /// Also before the connection is made. on_telling follows.
  void listen(std::string_view resource);
  void unlisten(std::string_view resource);

  void close();
  [[nodiscard]] bool closed() const noexcept { return closed_; }

 private:
  void on_open() noexcept override;
  void on_bytes(std::string_view bytes) noexcept override;
  void on_failure(const uv::Failure& failure) noexcept override;

  void command(std::string_view verb, std::string_view resource);
  void take(const Value& value);
  void end(std::string_view why);

  SubscriberOwner& owner_;
  ConnectionTarget target_;
  bool closed_ = false;
  bool authenticating_ = false;
  ReplyReader reader_;
  bool* destroyed_ = nullptr;  // on the stack of on_bytes, for owners that destroy us in a call
  uv::Stream stream_;
};

}  // namespace redlock::redis
