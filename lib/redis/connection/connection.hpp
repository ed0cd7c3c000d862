#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/vocabulary/messages.hpp"
#include "redis/batches/expected_answers.hpp"
#include "redis/handshake/connection_target.hpp"
#include "redis/handshake/handshake.hpp"
#include "redis/handshake/login.hpp"
#include "redis/requests/plain_yes.hpp"
#include "redis/requests/shared_call.hpp"
#include "redis/values/classify.hpp"
#include "redis/values/dialect.hpp"
#include "redis/values/reply.hpp"
#include "support/ring.hpp"
#include "uv/stream.hpp"

namespace redlock::redis {

/// A request that was sent and is still unanswered.
struct Sent {
  core::Stamp stamp{};
  /// Number of requests in its call, a SharedCall or FencedSets; 0: a call of its own.
  std::uint8_t together = 0;
};

/// Whether the server violated the protocol.
enum class ProtocolError : std::uint8_t { none, violation };

/// Is called on the loop only, never from inside a call to the connection, and never after close()
/// or destruction. May send, flush, close or destroy the connection from inside any call.
class ConnectionOwner {
 public:
  /// Requests may be sent from now on.
  virtual void on_ready(const ServerIdentity& identity) noexcept = 0;
  /// The answer to the oldest unanswered request. Its text is valid until the call returns or the
  /// connection is destroyed.
  virtual void on_answer(const core::Stamp& stamp, const core::Answer& answer) noexcept = 0;
  /// The answers to the oldest unanswered requests, in their order, which arrived in the same
  /// bytes; `marker` is the text of those answers that are a marker. Valid until the call returns
  /// or the connection is destroyed.
  virtual void on_plain_yeses(std::span<const core::PlainYes> plain_yeses,
                              std::string_view marker) noexcept = 0;
  /// A tracked key has changed. `key` is valid until the call returns.
  virtual void on_changed(core::Tracked kind, std::string_view key) noexcept = 0;
  /// The last call: the connection is closed; unanswered requests stay unanswered. `why` is one
  /// line.
  virtual void on_down(core::NodeDown::Cause cause, std::string_view why,
                       ProtocolError protocol_error) noexcept = 0;

 protected:
  ~ConnectionOwner() = default;
};

/// One connection to one server, opened once, closed once. With the restart guard, a server that
/// supports it notifies the connection when the server loses its data or its marker is written. The
/// connection then closes, before any answer to a later command (see Handshake). Answers carry the
/// stamp of their request; Redis answers in order, so an answer always belongs to the oldest
/// unanswered request.
///
/// Has no time limits: these are the core's. Belongs to the loop's thread. Sending and answering
/// allocate nothing once the buffers have grown.
class Connection final : private uv::StreamListener {
 public:
  enum class State : std::uint8_t { fresh, connecting, shaking_hands, ready, closed };

  Connection(uv_loop_t* loop, ConnectionTarget target, ConnectionOwner& owner);
  /// Closes by reset.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Called once; on_ready or on_down follows.
  void open();

  /// Puts requests, encoded in this connection's dialect(), into the outbox; only while ready(). A
  /// SharedCall is one request to the server, and several requests here, all with one answer.
  /// `yes`: encode_yes() if the requests are one call of FencedSets.
  void send(std::string_view encoded, std::span<const Sent> requests, std::string_view yes = {});
  void send(std::string_view encoded, const core::Stamp& stamp) {
    const Sent request{stamp};
    send(encoded, {&request, 1});
  }
  /// The form for the verb's next SharedCall: the full text, once, if the server said that it does
  /// not know the script.
  [[nodiscard]] core::ScriptForm form_of_call(core::Verb verb) const noexcept {
    return calls_in_full_[static_cast<std::size_t>(verb)] ? core::ScriptForm::text
                                                          : core::ScriptForm::digest;
  }

  /// Hands the outbox to the kernel, with one system call for everything sent since the last flush.
  void flush();

  /// The owner is no longer called. After a reset, what the server has not read is not executed.
  void close(uv::CloseMode mode);

  /// Before the connection is ready: what it waits for, see missing_to_connect().
  [[nodiscard]] std::string missing() const { return missing_to_connect(login_, stream_); }
  /// After on_down: whether the server did not know us by our credentials.
  [[nodiscard]] bool login_refused() const noexcept { return login_refused_; }

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool ready() const noexcept { return state_ == State::ready; }
  [[nodiscard]] Dialect dialect() const noexcept { return dialect_; }
  [[nodiscard]] std::size_t unanswered() const noexcept { return unanswered_.size(); }
  /// Number of bytes that the kernel has not taken.
  [[nodiscard]] std::size_t unsent() const noexcept { return stream_.unsent(); }

 private:
  void on_credentials() noexcept;
  void on_moved() noexcept;
  /// Puts commands into the outbox as the server is to read them.
  void append(std::string_view commands);
  void on_open() noexcept override;
  void on_bytes(std::string_view bytes) noexcept override;
  void on_failure(const uv::Failure& failure) noexcept override;

  /// Returns whether bytes may be left to parse.
  [[nodiscard]] bool take_plain_yeses();
  /// Returns whether the oldest request is for the time, and its whole answer has arrived.
  [[nodiscard]] bool take_time(core::PlainYes& plain_yes);
  [[nodiscard]] std::string_view yes_to_oldest() const noexcept;
  void take(const Value& value);
  void take_handshake(const Value& value);
  void take_answer(const Value& value);
  void take_answer_to_call(const SharedForm& form, const Value& value);
  void take_answer_to_fenced_sets(const Value& value);
  /// Answers the oldest request. Returns whether more can be answered.
  [[nodiscard]] bool answer(const core::Answer& what);
  void remember_marker(std::string_view text);
  void take_push(const Value& value);
  void report_change(std::string_view key);
  void violated(std::string_view how);
  void go_down(core::NodeDown::Cause cause, std::string_view why, ProtocolError protocol_error);

  ConnectionOwner& owner_;
  ConnectionTarget target_;
  Login login_;
  bool login_refused_ = false;
  State state_ = State::fresh;
  Dialect dialect_ = Dialect::classic;
  std::optional<Handshake> handshake_;
  support::Ring<Sent> unanswered_;
  std::bitset<core::verbs> calls_in_full_;
  PlainYesForms plain_yes_forms_{};
  /// The bytes of the last answer to read_marker: the next answer is usually the same.
  std::string marker_answer_;
  std::string_view marker_;                  // the marker in marker_answer_
  std::vector<core::PlainYes> plain_yeses_;  // kept between calls, so that nothing is allocated
  ExpectedAnswers yes_to_fenced_sets_;
  std::vector<const Value*> values_;  // values of the request being answered, owned by reader_
  ReplyReader reader_;
  bool* destroyed_ = nullptr;  // on the stack of on_bytes, for owners that destroy us in a call
  uv::Stream stream_;
};

}  // namespace redlock::redis
