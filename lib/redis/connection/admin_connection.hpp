#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/handshake/connection_target.hpp"
#include "redis/handshake/login.hpp"
#include "redis/values/reply.hpp"
#include "redis/values/script.hpp"
#include "uv/stream.hpp"

namespace redlock::redis {

/// A `Value` that outlives the reader it came from.
struct OwnedValue {
  Value::Type type = Value::Type::nil;
  std::int64_t integer = 0;
  std::string text{};
  std::vector<OwnedValue> elements{};

  [[nodiscard]] bool is_error() const noexcept { return type == Value::Type::error; }
};

/// Commands that are sent with one write.
class Questions {
 public:
  void add(std::span<const std::string_view> words);
  void add(std::initializer_list<std::string_view> words) {
    add(std::span(words.begin(), words.size()));
  }
  /// A script, sent in full.
  void add(scripts::Call call) { add(call.words(core::ScriptForm::text)); }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
  std::size_t count_ = 0;
};

/// The server's answers to AUTH and SELECT: each empty, or the error in the server's words, without
/// secrets. For AUTH also the reason why there were no credentials to send.
struct AuthResult {
  std::string authentication{};
  std::string selection{};
};

/// Called on the loop only, never after close(). May ask or close from inside any call.
class AdminConnectionOwner {
 public:
  /// Connected. After a refused AUTH, commands run unauthenticated; after a refused SELECT, in
  /// database 0.
  virtual void on_auth_result(const AuthResult& result) noexcept = 0;
  /// One answer per question, in their order.
  virtual void on_answers(std::vector<OwnedValue> answers) noexcept = 0;
  /// The last call: the connection is gone. `why` is one line.
  virtual void on_end(const std::string& why) noexcept = 0;

 protected:
  ~AdminConnectionOwner() = default;
};

/// One connection for commands of any kind, to check and to administer a server; `Connection` is
/// for its votes. Sends a batch only when the batch before it is answered. Has no time limit of its
/// own: its owner gives up by close().
class AdminConnection final : private uv::StreamListener {
 public:
  AdminConnection(uv_loop_t* loop, ConnectionTarget target, AdminConnectionOwner& owner);
  /// Closes by reset.
  ~AdminConnection() = default;
  AdminConnection(const AdminConnection&) = delete;
  AdminConnection& operator=(const AdminConnection&) = delete;

  /// Called once; on_auth_result or on_end follows.
  void open();

  /// After on_auth_result, while no command is unanswered.
  void ask(const Questions& questions);

  void close();

  /// The server's address; empty: there is no connection, or it is a Unix socket.
  [[nodiscard]] std::string peer() const { return stream_.peer(); }
  /// Before on_auth_result: what it waits for, see missing_to_connect().
  [[nodiscard]] std::string missing() const { return missing_to_connect(login_, stream_); }

 private:
  void on_credentials() noexcept;
  void introduce();
  void on_open() noexcept override;
  void on_bytes(std::string_view bytes) noexcept override;
  void on_failure(const uv::Failure& failure) noexcept override;

  void read();
  void take_auth_result();
  void end(const std::string& why);

  AdminConnectionOwner& owner_;
  ConnectionTarget target_;
  Login login_;
  bool asked_again_ = false;  // whether the provider was asked again after a refusal
  enum class State : std::uint8_t { connecting, authenticating, asking, idle, closed };
  State state_ = State::connecting;
  std::size_t expected_ = 0;
  std::vector<OwnedValue> answers_;
  ReplyReader reader_;
  uv::Stream stream_;
};

}  // namespace redlock::redis
