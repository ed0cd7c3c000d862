#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "redis/handshake/connection_target.hpp"
#include "redis/handshake/login.hpp"
#include "redis/values/reply.hpp"
#include "uv/stream.hpp"

namespace redlock::redis {

/// Is called on the loop only, never from inside a call to the subscriber, and never after close()
/// or destruction. May call, close or destroy the subscriber from inside any call.
class SubscriberOwner {
 public:
  /// Notifications arrive from now on, or still do.
  virtual void on_subscribed() noexcept = 0;
  /// `resource` was released; `before` is the number of clients that were notified before us.
  virtual void on_notified(std::string_view resource, std::uint32_t before) noexcept = 0;
  /// The last call: the connection is gone. `why` is one line.
  virtual void on_unsubscribed(std::string_view why) noexcept = 0;

 protected:
  ~SubscriberOwner() = default;
};

/// One connection for the notifications of waiters: a server accepts nothing else on it. Has no
/// time limits; opened once, closed once. Belongs to the loop's thread.
class Subscriber final : private uv::StreamListener {
 public:
  /// `name` is the client's id, which names its channel.
  Subscriber(uv_loop_t* loop, ConnectionTarget target, std::string_view name,
             SubscriberOwner& owner);
  /// Closes by reset.
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  /// Called once; on_subscribed or on_unsubscribed follows.
  void open();

  /// Only after the connection is open: on_subscribed follows if the server still hears us. PING
  /// would do the same, but the user would need one more right.
  void probe();

  void close();
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  /// After on_unsubscribed: whether the server did not know us by our credentials.
  [[nodiscard]] bool login_refused() const noexcept { return login_refused_; }

 private:
  void on_credentials() noexcept;
  void on_open() noexcept override;
  void on_bytes(std::string_view bytes) noexcept override;
  void on_failure(const uv::Failure& failure) noexcept override;

  void take(const Value& value);
  void end(std::string_view why);

  SubscriberOwner& owner_;
  ConnectionTarget target_;
  Login login_;
  std::string channel_;
  bool closed_ = false;
  bool login_refused_ = false;
  bool authenticating_ = false;
  ReplyReader reader_;
  bool* destroyed_ = nullptr;  // on the stack of on_bytes, for owners that destroy us in a call
  uv::Stream stream_;
};

}  // namespace redlock::redis
