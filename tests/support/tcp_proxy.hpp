#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace redlock::test {

enum class Direction { requests, replies, both };
/// pass: forward; hold: keep everything back until it may pass again, as a network that delivers
/// late; drop: read and forget, as if the packets were lost for good. Bytes cannot go missing in
/// the middle of a TCP stream, so a connection that lost some should be cut before `pass`.
enum class Flow { pass, hold, drop };

/// Forwards a loopback port to another one, on a thread of its own, and misbehaves on demand.
/// All members may be called from any thread; when a setter returns, the new rule is in force.
class TcpProxy {
 public:
  explicit TcpProxy(std::uint16_t target_port, std::string target_host = "127.0.0.1");
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::string url() const;

  void set(Direction direction, Flow flow);
  void pass() { set(Direction::both, Flow::pass); }
  void hold() { set(Direction::both, Flow::hold); }
  void drop_replies() { set(Direction::replies, Flow::drop); }
  /// Holds back every piece for this long; pieces under way keep their delay.
  void set_delay(Direction direction, std::chrono::milliseconds delay);

  /// Resets all connections, on both sides; bytes held back are lost. Returns when done.
  void cut();
  /// From now on connections are refused; accepted again at the same port.
  void refuse();
  void accept();

  /// From now on new connections lead to this port; existing ones stay.
  void lead_to(std::uint16_t target_port);

  // Counters may lag a moment after what a client has already seen: wait with eventually().
  [[nodiscard]] std::size_t connections_accepted() const;
  [[nodiscard]] std::size_t connections_open() const;
  /// Bytes delivered to the target / to clients.
  [[nodiscard]] std::size_t request_bytes() const;
  [[nodiscard]] std::size_t reply_bytes() const;
  /// Bytes received from clients / from the target, delivered or not: the latter show that a
  /// command was executed.
  [[nodiscard]] std::size_t request_bytes_received() const;
  [[nodiscard]] std::size_t reply_bytes_received() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redlock::test
