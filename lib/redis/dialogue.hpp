#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "redis/connection_target.hpp"
#include "redis/reply.hpp"
#include "uv/stream.hpp"

namespace redlock::redis {

/// A `Value` that outlives the reader it came from.
struct Answer {
  Value::Type type = Value::Type::nil;
  std::int64_t integer = 0;
  std::string text{};
  std::vector<Answer> elements{};

  [[nodiscard]] bool is_error() const noexcept { return type == Value::Type::error; }
};

/// Commands that are sent with one write.
class Questions {
 public:
  void add(std::initializer_list<std::string_view> words);

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
  std::size_t count_ = 0;
};

/// How the server took AUTH and SELECT: empty, or the error in the server's words, without secrets.
struct Greeting {
  std::string authentication{};
  std::string selection{};
};

/// Is called on the loop only, never after close(); may ask or close from inside any call.
class DialogueOwner {
 public:
  /// Connected, and introduced. What is asked after a refusal is asked as nobody, or in database 0.
  virtual void on_greeted(const Greeting& greeting) noexcept = 0;
  /// One answer per question, in their order.
  virtual void on_answers(std::vector<Answer> answers) noexcept = 0;
  /// The last call: the connection is gone. `why` is one line.
  virtual void on_end(const std::string& why) noexcept = 0;

 protected:
  ~DialogueOwner() = default;
};

/// One connection for commands of any kind, asked and answered in turns: for looking at a server,
/// where `Connection` is for voting on it. Knows no time: whoever owns it gives up by close().
class Dialogue final : private uv::StreamListener {
 public:
  Dialogue(uv_loop_t* loop, ConnectionTarget target, DialogueOwner& owner);
  /// Closes by reset.
  ~Dialogue() = default;
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  /// Once; on_greeted or on_end follows.
  void open();

  /// After on_greeted, and when nothing is unanswered.
  void ask(const Questions& questions);

  void close();

 private:
  void on_open() noexcept override;
  void on_bytes(std::string_view bytes) noexcept override;
  void on_failure(const uv::Failure& failure) noexcept override;

  void read();
  void take_greeting();
  void end(const std::string& why);

  DialogueOwner& owner_;
  ConnectionTarget target_;
  enum class State : std::uint8_t { connecting, greeting, asking, idle, closed };
  State state_ = State::connecting;
  std::size_t expected_ = 0;
  std::vector<Answer> answers_;
  ReplyReader reader_;
  uv::Stream stream_;
};

}  // namespace redlock::redis
