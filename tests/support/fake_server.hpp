#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/resp.hpp"

namespace redlock::test {

/// The fake server's action after a command: sends raw bytes (none: stays silent), then goes on,
/// closes or resets the connection, or pours out `filler` for as long as the peer reads.
struct FakeAnswer {
  enum class Then { go_on, close, reset };

  // Implicit, so that a handler may simply return text.
  FakeAnswer(std::string text) : bytes(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  FakeAnswer(const char* text) : bytes(text) {}             // NOLINT(google-explicit-constructor)
  FakeAnswer(std::string text, Then what) : bytes(std::move(text)), then(what) {}

  [[nodiscard]] static FakeAnswer silence() { return {""}; }
  [[nodiscard]] static FakeAnswer close(std::string first = {}) {
    return {std::move(first), Then::close};
  }
  [[nodiscard]] static FakeAnswer reset(std::string first = {}) {
    return {std::move(first), Then::reset};
  }
  [[nodiscard]] static FakeAnswer endless(std::string first, std::string filler);

  std::string bytes;
  Then then = Then::go_on;
  std::string filler{};
};

using CommandHandler = std::function<FakeAnswer(const Command&)>;

/// The server that the default handler imitates.
struct FakeRedis {
  std::string run_id = "0123456789abcdef0123456789abcdef01234567";
  std::string version = "7.0.15";
  std::string role = "master";
  std::string mode = "standalone";
  std::string maxmemory_policy = "noeviction";
  /// The password that AUTH requires; empty: none.
  std::string password{};
  std::uint16_t port = 0;
};

/// A healthy, empty Redis 7.0 that forgets everything: handshake, INFO, CONFIG GET, SCRIPT LOAD
/// (with the true SHA-1), EVALSHA → NOSCRIPT, SET → granted, GET → nil, PTTL → -2, SUBSCRIBE …
[[nodiscard]] FakeAnswer answer_like_redis(const FakeRedis& redis, const Command& command);

/// A scripted TCP server on a loopback port, on a thread of its own. The handler registered for a
/// command's first word answers it, otherwise the general handler, which imitates a healthy Redis
/// unless replaced. Handlers run on the server's thread and must not throw. All members may be
/// called from any thread; a change applies from the next command on.
class FakeServer {
 public:
  explicit FakeServer(FakeRedis redis = {});
  explicit FakeServer(CommandHandler handler);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::string url() const;

  /// Overrides one command; `word` in upper case, e.g. "SET", or two words, e.g. "CLIENT ID".
  FakeServer& on(const std::string& word, CommandHandler handler);
  /// Restores the general handler for this word.
  void forget(const std::string& word);
  void answer_all(CommandHandler handler);
  /// Other properties for the imitated Redis, e.g. a new run_id.
  void imitate(FakeRedis redis);
  /// Bytes sent to every new connection before its first command.
  void greet(std::string bytes);
  /// Sends at most this many bytes at a time, so that a reader meets every possible seam; 0: all.
  void set_chunk(std::size_t bytes);

  /// Sends bytes on every open connection without a command.
  void push(std::string bytes);
  /// Return when every open connection has been closed; reset.
  void close_connections();
  void reset_connections();
  /// From now on connections are refused; accepted again at the same port.
  void refuse();
  void accept();

  /// The commands on all connections, in order of arrival.
  [[nodiscard]] std::vector<Command> commands() const;
  /// The number of commands that began with this word (or these two).
  [[nodiscard]] std::size_t count(const std::string& word) const;
  void clear_commands();
  // Counters may lag a moment after what a client has already seen: wait with eventually().
  [[nodiscard]] std::size_t connections_accepted() const;
  [[nodiscard]] std::size_t connections_open() const;
  /// The number of times that bytes arrived which were not a RESP command.
  [[nodiscard]] std::size_t malformed() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redlock::test
