#include "chaos/proxy_connection.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace redlock::chaos {
namespace {

constexpr std::size_t read_size = 65536;
constexpr std::size_t trickle_bytes = 16;
constexpr auto trickle_pace = std::chrono::milliseconds{2};
constexpr std::size_t split_bytes = 7;
/// On average, one of this many pieces is followed by a reset, so most short replies arrive.
constexpr unsigned pieces_to_a_tear = 300;

uv_stream_t* as_stream(uv_tcp_t& handle) noexcept {
  return reinterpret_cast<uv_stream_t*>(&handle);
}

template <typename Handle>
uv_handle_t* as_handle(Handle& handle) noexcept {
  return reinterpret_cast<uv_handle_t*>(&handle);
}

void replace_each(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// A server sends such a short reply at once, so it arrives in one piece.
std::string with_ports(std::string_view bytes, const PortNames& renamed) {
  std::string text(bytes);
  const auto of_sentinel = [](std::uint16_t port) {
    const std::string digits = std::to_string(port);
    return "127.0.0.1\r\n$" + std::to_string(digits.size()) + "\r\n" + digits + "\r\n";
  };
  // Without its host, the port could be the number of a slot.
  const auto of_cluster = [](std::uint16_t port) {
    return "127.0.0.1\r\n:" + std::to_string(port) + "\r\n";
  };
  for (const auto& [named, read] : renamed) {
    replace_each(text, of_sentinel(named), of_sentinel(read));
    replace_each(text, of_cluster(named), of_cluster(read));
  }
  return text;
}

}  // namespace

struct ProxyConnection::Write {
  uv_write_t request{};
  std::string bytes{};
};

ProxyConnection::ProxyConnection(uv_loop_t* loop, std::uint16_t target_port, const LinkRule& rule,
                                 const PortNames& renamed, std::uint32_t seed)
    : loop_(loop),
      target_port_(target_port),
      rule_(rule),
      renamed_(renamed),
      split_(seed),
      buffer_(read_size, '\0') {
  requests_.owner = replies_.owner = this;
}

void ProxyConnection::start(uv_stream_t* listener, std::function<void()> on_closed) {
  on_closed_ = std::move(on_closed);
  requests_.source.data = &requests_;
  replies_.source.data = &replies_;
  timer_.data = this;
  connecting_.data = this;
  // None of the three allocates a descriptor; uv_close() must follow each of them.
  static_cast<void>(uv_tcp_init(loop_, &requests_.source));
  static_cast<void>(uv_tcp_init(loop_, &replies_.source));
  static_cast<void>(uv_timer_init(loop_, &timer_));
  open_handles_ = 3;

  connected_port_ = wanted_port();
  sockaddr_in target{};
  const bool begun =
      uv_accept(listener, as_stream(requests_.source)) == 0 && rule_.mode != LinkMode::refuse &&
      uv_ip4_addr("127.0.0.1", connected_port_, &target) == 0 &&
      uv_tcp_nodelay(&requests_.source, 1) == 0 &&
      uv_tcp_connect(&connecting_, &replies_.source, reinterpret_cast<const sockaddr*>(&target),
                     on_connected) == 0 &&
      uv_read_start(as_stream(requests_.source), on_allocate, on_read) == 0;
  if (!begun) reset();
}

void ProxyConnection::on_allocate(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) noexcept {
  // libuv calls back directly after each read, so that one buffer serves both directions.
  std::string& bytes = static_cast<Pipe*>(handle->data)->owner->buffer_;
  *buffer = uv_buf_init(bytes.data(), static_cast<unsigned>(bytes.size()));
}

void ProxyConnection::on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) noexcept {
  Pipe& pipe = *static_cast<Pipe*>(stream->data);
  if (count > 0) {
    pipe.owner->received(pipe, {buffer->base, static_cast<std::size_t>(count)});
  } else if (count < 0) {
    pipe.owner->ended(pipe);
  }
}

void ProxyConnection::on_connected(uv_connect_t* request, int status) noexcept {
  auto& self = *static_cast<ProxyConnection*>(request->data);
  if (self.closing_) return;
  if (status != 0 || uv_tcp_nodelay(&self.replies_.source, 1) != 0 ||
      uv_read_start(as_stream(self.replies_.source), on_allocate, on_read) != 0) {
    self.reset();
    return;
  }
  self.connected_ = true;
  self.pump();
}

void ProxyConnection::received(Pipe& pipe, std::string_view bytes) {
  std::string renamed;
  if (is_replies(pipe) && !renamed_.empty()) bytes = renamed = with_ports(bytes, renamed_);
  if (is_replies(pipe) && rule_.mode == LinkMode::lose_replies) {
    pipe.lost_bytes = true;
    return;
  }
  // After the client's end, nobody reads the replies, but the server must go on.
  if (is_replies(pipe) && requests_.end == Pipe::End::delivered) return;
  const auto due =
      Clock::now() + (rule_.mode == LinkMode::delay ? rule_.delay : std::chrono::milliseconds{0});
  if (is_replies(pipe) && rule_.mode == LinkMode::cut_replies) {
    static_cast<void>(send(requests_.source, std::string(bytes.substr(0, bytes.size() / 2))));
    reset();
    return;
  }
  if (!is_replies(pipe) && rule_.mode == LinkMode::cut_requests) {
    pipe.queue.push_back({due, std::string(bytes.substr(0, bytes.size() / 2))});
    ended(pipe);
    return;
  }
  if (is_replies(pipe) && rule_.mode == LinkMode::trickle_replies) {
    auto next = pipe.queue.empty() ? due : std::max(due, pipe.queue.back().due + trickle_pace);
    for (; !bytes.empty(); next += trickle_pace) {
      const std::size_t size = std::min(trickle_bytes, bytes.size());
      pipe.queue.push_back({next, std::string(bytes.substr(0, size))});
      bytes.remove_prefix(size);
    }
  } else {
    pipe.queue.push_back({due, std::string(bytes)});
  }
  pump();
}

void ProxyConnection::ended(Pipe& pipe) {
  if (closing_) return;
  static_cast<void>(uv_read_stop(as_stream(pipe.source)));
  pipe.end = Pipe::End::queued;
  pipe.end_due =
      Clock::now() + (rule_.mode == LinkMode::delay ? rule_.delay : std::chrono::milliseconds{0});
  pump();
}

bool ProxyConnection::holds(const Pipe& pipe) const noexcept {
  return rule_.mode == LinkMode::hold ||
         (rule_.mode == LinkMode::hold_replies && is_replies(pipe)) ||
         (rule_.mode == LinkMode::lose_replies && is_replies(pipe));
}

void ProxyConnection::pump() {
  if (closing_ || !connected_) return;
  deliver(requests_, replies_.source);
  if (!closing_) deliver(replies_, requests_.source);
  if (!closing_) arm();
}

/// The next piece. Each piece gets its own turn of the loop, so that the kernel rarely joins them
/// again. False: the connection is torn.
bool ProxyConnection::deliver_split() {
  std::string& bytes = replies_.queue.front().bytes;
  const std::size_t size = std::min<std::size_t>(1 + split_() % split_bytes, bytes.size());
  const bool torn = rule_.mode == LinkMode::tear_replies && split_() % pieces_to_a_tear == 0;
  if (!send(requests_.source, bytes.substr(0, size)) || torn) return false;
  bytes.erase(0, size);
  if (bytes.empty()) replies_.queue.pop_front();
  return true;
}

void ProxyConnection::deliver(Pipe& pipe, uv_tcp_t& sink) {
  if (holds(pipe)) return;
  if (is_replies(pipe) && splits() && !pipe.queue.empty()) {
    if (!deliver_split()) reset();
    return;
  }
  const auto now = Clock::now();
  std::string ready;
  while (!pipe.queue.empty() && pipe.queue.front().due <= now) {
    ready += pipe.queue.front().bytes;
    pipe.queue.pop_front();
  }
  if (!ready.empty() && !send(sink, std::move(ready))) return reset();
  if (pipe.queue.empty() && pipe.end == Pipe::End::queued && pipe.end_due <= now) {
    deliver_end(pipe, sink);
  }
}

void ProxyConnection::deliver_end(Pipe& pipe, uv_tcp_t& sink) {
  pipe.end = Pipe::End::delivered;
  const bool both = requests_.end == Pipe::End::delivered && replies_.end == Pipe::End::delivered;
  // A reset right after bytes would make the server's kernel forget them unread. The dangerous
  // network is the one whose server executes what its client has given up long ago.
  struct Shutdown {
    uv_shutdown_t request{};
  };
  auto shutdown = std::make_unique<Shutdown>();
  shutdown->request.data = shutdown.get();
  const int error = uv_shutdown(&shutdown->request, as_stream(sink), [](uv_shutdown_t* done, int) {
    const std::unique_ptr<Shutdown> owned(static_cast<Shutdown*>(done->data));
  });
  if (error == 0) static_cast<void>(shutdown.release());
  // When the server closes, the client's side closes too: a server never closes one direction only.
  if (error != 0 || both || is_replies(pipe)) {
    closing_ = true;
    close(as_handle(requests_.source));
    close(as_handle(replies_.source));
    close(as_handle(timer_));
  }
}

bool ProxyConnection::send(uv_tcp_t& sink, std::string bytes) {
  auto write = std::make_unique<Write>();
  write->bytes = std::move(bytes);
  write->request.data = write.get();
  const uv_buf_t buffer =
      uv_buf_init(write->bytes.data(), static_cast<unsigned>(write->bytes.size()));
  const int error =
      uv_write(&write->request, as_stream(sink), &buffer, 1, [](uv_write_t* done, int) {
        // A failure shows at the next read.
        const std::unique_ptr<Write> owned(static_cast<Write*>(done->data));
      });
  if (error != 0) return false;
  static_cast<void>(write.release());
  return true;
}

void ProxyConnection::follow_rule() {
  if (closing_) return;
  const bool broken = replies_.lost_bytes && rule_.mode != LinkMode::lose_replies;
  const bool elsewhere = wanted_port() != connected_port_;
  if (broken || elsewhere || rule_.mode == LinkMode::refuse) return reset();
  pump();
}

void ProxyConnection::arm() {
  std::optional<Clock::time_point> next;
  for (const Pipe* pipe : {&requests_, &replies_}) {
    if (holds(*pipe)) continue;
    std::optional<Clock::time_point> due;
    if (!pipe->queue.empty()) {
      due = pipe->queue.front().due;
    } else if (pipe->end == Pipe::End::queued) {
      due = pipe->end_due;
    }
    if (due) next = next ? std::min(*next, *due) : *due;
  }
  if (!next) {
    static_cast<void>(uv_timer_stop(&timer_));
    return;
  }
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now());
  uv_update_time(loop_);
  static_cast<void>(uv_timer_start(
      &timer_, on_timer, static_cast<std::uint64_t>(std::max<std::int64_t>(wait.count(), 0)), 0));
}

void ProxyConnection::on_timer(uv_timer_t* timer) noexcept {
  static_cast<ProxyConnection*>(timer->data)->pump();
}

void ProxyConnection::reset() {
  if (closing_) return;
  closing_ = true;
  for (Pipe* pipe : {&requests_, &replies_}) {
    // A reset is refused if the handle is not an open connection, which is then simply closed.
    pipe->source.data = pipe;
    if (uv_tcp_close_reset(&pipe->source, on_handle_closed) != 0) close(as_handle(pipe->source));
  }
  close(as_handle(timer_));
}

void ProxyConnection::close(uv_handle_t* handle) {
  if (uv_is_closing(handle) == 0) uv_close(handle, on_handle_closed);
}

void ProxyConnection::on_handle_closed(uv_handle_t* handle) noexcept {
  ProxyConnection* self = handle->type == UV_TIMER ? static_cast<ProxyConnection*>(handle->data)
                                                   : static_cast<Pipe*>(handle->data)->owner;
  if (--self->open_handles_ > 0) return;
  // The function may destroy this object, and with it the member itself.
  const auto on_closed = std::move(self->on_closed_);
  on_closed();
}

}  // namespace redlock::chaos
