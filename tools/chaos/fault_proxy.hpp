#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace redlock::chaos {

/// How a link treats what passes it. A link that lost bytes resets its connections when it is set
/// to `pass` again: nothing may go missing in the middle of a TCP stream.
enum class LinkMode {
  pass,
  hold,             ///< keep everything back; it arrives when the link passes again
  hold_replies,     ///< keep the server's bytes back; requests pass
  lose_replies,     ///< requests arrive, replies never do
  refuse,           ///< reset all connections, and every new one
  delay,            ///< everything arrives later
  trickle_replies,  ///< a few bytes at a time
  split_replies,    ///< one to seven bytes at a time, one after the other
  tear_replies,     ///< as split_replies, and a reset between any two pieces
  cut_replies,      ///< a part of the next reply, then a reset
  cut_requests,     ///< a part of the client's next bytes, then the end
};

struct LinkRule {
  LinkMode mode = LinkMode::pass;
  std::chrono::milliseconds delay{0};
  /// The port to which the link leads meanwhile; 0: its own target. Connections to another target
  /// are reset.
  std::uint16_t leads_to = 0;
};

/// Ports that servers name in their replies, and those that clients read instead.
using PortNames = std::map<std::uint16_t, std::uint16_t>;

/// Forwards loopback ports to servers, one a link, and misbehaves on demand. Bytes that a client
/// sent before it closed or reset its connection still reach the server, as from a network that
/// delivers late. All links share one thread with a libuv loop.
class FaultProxy {
 public:
  FaultProxy();
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  /// The port of 127.0.0.1 that leads to the target's: this one, or with 0 any. In replies, ports
  /// of 127.0.0.1 are replaced as `renamed` says. Throws std::runtime_error.
  [[nodiscard]] std::uint16_t add(std::uint16_t target_port, std::uint16_t port = 0,
                                  PortNames renamed = {});

  /// The number of links, which is the next one's.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Links count from zero in the order in which they were added. In force when it returns.
  void set(std::size_t link, LinkRule rule);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::size_t size_ = 0;
};

}  // namespace redlock::chaos
