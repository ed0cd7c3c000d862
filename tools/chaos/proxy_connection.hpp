#pragma once

#include <uv.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "chaos/fault_proxy.hpp"

namespace redlock::chaos {

/// One client's connection through a link. Lives on the proxy's loop, and ends itself: `on_closed`
/// is called when its last handle is closed, and may destroy it.
class ProxyConnection {
 public:
  using Clock = std::chrono::steady_clock;

  /// Leads to the target, unless the rule leads elsewhere. The seed decides where replies are
  /// split.
  ProxyConnection(uv_loop_t* loop, std::uint16_t target_port, const LinkRule& rule,
                  const PortNames& renamed, std::uint32_t seed);
  ProxyConnection(const ProxyConnection&) = delete;
  ProxyConnection& operator=(const ProxyConnection&) = delete;

  /// Takes the client that waits at the listener and connects to the target.
  void start(uv_stream_t* listener, std::function<void()> on_closed);

  /// Applies the rule, which has changed.
  void follow_rule();

  /// Resets both sides.
  void reset();

 private:
  struct Piece {
    Clock::time_point due;
    std::string bytes;
  };
  /// One direction. The end of the stream queues after the bytes, like a packet.
  struct Pipe {
    ProxyConnection* owner = nullptr;
    uv_tcp_t source{};
    std::deque<Piece> queue{};
    enum class End { none, queued, delivered } end = End::none;
    Clock::time_point end_due{};
    bool lost_bytes = false;
  };
  struct Write;

  static void on_allocate(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) noexcept;
  static void on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) noexcept;
  static void on_connected(uv_connect_t* request, int status) noexcept;
  static void on_timer(uv_timer_t* timer) noexcept;
  static void on_handle_closed(uv_handle_t* handle) noexcept;

  void received(Pipe& pipe, std::string_view bytes);
  void ended(Pipe& pipe);
  void pump();
  void deliver(Pipe& pipe, uv_tcp_t& sink);
  bool deliver_split();
  void deliver_end(Pipe& pipe, uv_tcp_t& sink);
  bool send(uv_tcp_t& sink, std::string bytes);
  [[nodiscard]] bool holds(const Pipe& pipe) const noexcept;
  [[nodiscard]] bool is_replies(const Pipe& pipe) const noexcept { return &pipe == &replies_; }
  [[nodiscard]] bool splits() const noexcept {
    return rule_.mode == LinkMode::split_replies || rule_.mode == LinkMode::tear_replies;
  }
  [[nodiscard]] std::uint16_t wanted_port() const noexcept {
    return rule_.leads_to != 0 ? rule_.leads_to : target_port_;
  }
  void arm();
  void close(uv_handle_t* handle);

  uv_loop_t* loop_;
  std::uint16_t target_port_;
  const LinkRule& rule_;
  const PortNames& renamed_;
  std::uint16_t connected_port_ = 0;
  std::minstd_rand split_;
  std::function<void()> on_closed_{};
  Pipe requests_{};  // its source is the client
  Pipe replies_{};   // its source is the target
  uv_connect_t connecting_{};
  uv_timer_t timer_{};
  std::string buffer_;
  int open_handles_ = 0;
  bool connected_ = false;
  bool closing_ = false;
};

}  // namespace redlock::chaos
