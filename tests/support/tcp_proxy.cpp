#include "support/tcp_proxy.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <list>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "support/loop_thread.hpp"
#include "support/sockets.hpp"

namespace redlock::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most_queued = std::size_t{4} << 20U;
// A reset right after bytes makes the target's kernel drop them unread. A worse network lets the
// server read, and execute, commands that its client has long given up.
constexpr auto reset_distance = std::chrono::milliseconds(10);

struct Rule {
  Flow flow = Flow::pass;
  std::chrono::milliseconds delay{0};
};

struct Piece {
  Clock::time_point due;
  std::string bytes;
};

/// One direction of one connection. The end of the stream queues after the bytes, like a packet: a
/// held SET still arrives after its client has gone.
struct Pipe {
  enum class End { none, orderly, reset };
  enum class Sink { usable, dead };

  std::deque<Piece> queue;
  std::size_t queued = 0;
  End end = End::none;
  Clock::time_point end_due{};
  bool end_delivered = false;
  Sink sink = Sink::usable;

  [[nodiscard]] bool wants_read() const noexcept {
    return end == End::none && queued < most_queued;
  }
  [[nodiscard]] std::optional<Clock::time_point> next_due() const {
    if (!queue.empty()) return queue.front().due;
    if (end != End::none && !end_delivered) return end_due;
    return std::nullopt;
  }
  void forget() {
    queue.clear();
    queued = 0;
  }
};

struct Connection {
  Fd client;
  Fd target;
  Pipe requests;
  Pipe replies;
  bool finished = false;
};

}  // namespace

struct TcpProxy::Impl {
  std::string target_host;
  std::uint16_t target_port;
  PortReservation port = reserve_port();
  Fd listener = listen_on("127.0.0.1", port.port());
  Rule request_rule;
  Rule reply_rule;
  std::list<Connection> connections;

  std::atomic<std::size_t> accepted{0};
  std::atomic<std::size_t> open{0};
  std::atomic<std::size_t> request_bytes{0};
  std::atomic<std::size_t> reply_bytes{0};
  std::atomic<std::size_t> request_bytes_received{0};
  std::atomic<std::size_t> reply_bytes_received{0};

  // Last: the thread ends before anything it uses goes away.
  LoopThread thread{[this] { turn(); }};

  Impl(std::uint16_t wanted_port, std::string wanted_host)
      : target_host(std::move(wanted_host)), target_port(wanted_port) {}

  void turn();
  void accept_all();
  std::size_t read_into(Pipe& pipe, const Fd& source, const Rule& rule);
  std::size_t deliver(Pipe& pipe, const Fd& sink, const Rule& rule, Connection& connection);
  void step(Connection& connection);
  void reset(Connection& connection);
  int poll_timeout() const;
};

void TcpProxy::Impl::reset(Connection& connection) {
  close_with_reset(connection.client);
  close_with_reset(connection.target);
  connection.finished = true;
}

void TcpProxy::Impl::accept_all() {
  while (listener.valid()) {
    Connection connection;
    connection.client = accept_from(listener);
    if (!connection.client.valid()) return;
    ++accepted;
    try {
      connection.target = begin_connect_tcp(target_host, target_port);
    } catch (const std::system_error&) {
      // The nearest a proxy can come to a refused connection.
      close_with_reset(connection.client);
      continue;
    }
    connections.push_back(std::move(connection));
  }
}

std::size_t TcpProxy::Impl::read_into(Pipe& pipe, const Fd& source, const Rule& rule) {
  std::size_t received = 0;
  std::array<char, 65536> buffer;
  while (pipe.wants_read()) {
    const auto count = ::recv(source.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    const auto due = Clock::now() + rule.delay;
    if (count <= 0) {
      pipe.end = count == 0 ? Pipe::End::orderly : Pipe::End::reset;
      pipe.end_due = due;
      break;
    }
    const auto size = static_cast<std::size_t>(count);
    received += size;
    pipe.queue.push_back({due, std::string(buffer.data(), size)});
    pipe.queued += size;
  }
  return received;
}

std::size_t TcpProxy::Impl::deliver(Pipe& pipe, const Fd& sink, const Rule& rule,
                                    Connection& connection) {
  std::size_t delivered = 0;
  if (rule.flow == Flow::drop || pipe.sink == Pipe::Sink::dead) pipe.forget();
  if (rule.flow != Flow::pass) return delivered;
  const auto now = Clock::now();
  while (!pipe.queue.empty() && pipe.queue.front().due <= now) {
    auto& bytes = pipe.queue.front().bytes;
    const auto count = ::send(sink.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return delivered;
    if (count < 0) {
      pipe.sink = Pipe::Sink::dead;
      pipe.forget();
      break;
    }
    const auto size = static_cast<std::size_t>(count);
    delivered += size;
    pipe.queued -= size;
    bytes.erase(0, size);
    if (bytes.empty()) pipe.queue.pop_front();
  }
  if (!pipe.queue.empty() || pipe.end == Pipe::End::none || pipe.end_delivered ||
      pipe.end_due > now) {
    return delivered;
  }
  if (pipe.end == Pipe::End::reset && delivered > 0) {
    pipe.end_due = now + reset_distance;
    return delivered;
  }
  pipe.end_delivered = true;
  if (pipe.end == Pipe::End::reset) {
    reset(connection);
  } else if (::shutdown(sink.get(), SHUT_WR) != 0) {
    pipe.sink = Pipe::Sink::dead;
  }
  return delivered;
}

void TcpProxy::Impl::step(Connection& connection) {
  request_bytes_received += read_into(connection.requests, connection.client, request_rule);
  reply_bytes_received += read_into(connection.replies, connection.target, reply_rule);
  request_bytes += deliver(connection.requests, connection.target, request_rule, connection);
  if (connection.finished) return;
  reply_bytes += deliver(connection.replies, connection.client, reply_rule, connection);
  if (connection.finished) return;
  // The target has ended the connection, and then refused bytes that the client still sent.
  if (connection.requests.sink == Pipe::Sink::dead && connection.replies.end_delivered) {
    reset(connection);
    return;
  }
  connection.finished = connection.requests.end_delivered && connection.replies.end_delivered;
}

int TcpProxy::Impl::poll_timeout() const {
  const auto now = Clock::now();
  auto wait = std::optional<std::chrono::milliseconds>();
  const auto consider = [&](const Pipe& pipe, const Rule& rule) {
    const auto due = pipe.next_due();
    // Bytes that are due wait for the sink to become writable, or for its rule to change.
    if (!due || rule.flow != Flow::pass || *due <= now) return;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - now);
    wait = wait ? std::min(*wait, left) : left;
  };
  for (const auto& connection : connections) {
    consider(connection.requests, request_rule);
    consider(connection.replies, reply_rule);
  }
  return wait ? static_cast<int>(wait->count()) : -1;
}

void TcpProxy::Impl::turn() {
  accept_all();
  for (auto& connection : connections) step(connection);
  connections.remove_if([](const Connection& connection) { return connection.finished; });
  open = connections.size();

  std::vector<pollfd> entries{{thread.wake_fd(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
  const auto now = Clock::now();
  const auto watch = [&](const Pipe& pipe, const Rule& rule, int source, int sink) {
    if (pipe.wants_read()) entries.push_back({source, POLLIN, 0});
    const bool sendable =
        rule.flow == Flow::pass && !pipe.queue.empty() && pipe.queue.front().due <= now;
    if (sendable) entries.push_back({sink, POLLOUT, 0});
  };
  for (const auto& connection : connections) {
    watch(connection.requests, request_rule, connection.client.get(), connection.target.get());
    watch(connection.replies, reply_rule, connection.target.get(), connection.client.get());
  }
  // An interrupted wait only checks early.
  static_cast<void>(::poll(entries.data(), entries.size(), poll_timeout()));
}

TcpProxy::TcpProxy(std::uint16_t target_port, std::string target_host)
    : impl_(std::make_unique<Impl>(target_port, std::move(target_host))) {
  impl_->thread.start();
}

TcpProxy::~TcpProxy() = default;

std::uint16_t TcpProxy::port() const noexcept { return impl_->port.port(); }
std::string TcpProxy::url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

void TcpProxy::set(Direction direction, Flow flow) {
  impl_->thread.call([&] {
    if (direction != Direction::replies) impl_->request_rule.flow = flow;
    if (direction != Direction::requests) impl_->reply_rule.flow = flow;
  });
}

void TcpProxy::set_delay(Direction direction, std::chrono::milliseconds delay) {
  impl_->thread.call([&] {
    if (direction != Direction::replies) impl_->request_rule.delay = delay;
    if (direction != Direction::requests) impl_->reply_rule.delay = delay;
  });
}

void TcpProxy::cut() {
  impl_->thread.call([this] {
    // Connections in the backlog count as connected for their clients.
    impl_->accept_all();
    for (auto& connection : impl_->connections) impl_->reset(connection);
    impl_->connections.clear();
    impl_->open = 0;
  });
}

void TcpProxy::refuse() {
  impl_->thread.call([this] { impl_->listener.reset(); });
}

void TcpProxy::accept() {
  impl_->thread.call([this] {
    if (!impl_->listener.valid()) impl_->listener = listen_on("127.0.0.1", port());
  });
}

void TcpProxy::lead_to(std::uint16_t target_port) {
  impl_->thread.call([this, target_port] { impl_->target_port = target_port; });
}

std::size_t TcpProxy::connections_accepted() const { return impl_->accepted; }
std::size_t TcpProxy::connections_open() const { return impl_->open; }
std::size_t TcpProxy::request_bytes() const { return impl_->request_bytes; }
std::size_t TcpProxy::reply_bytes() const { return impl_->reply_bytes; }
std::size_t TcpProxy::request_bytes_received() const { return impl_->request_bytes_received; }
std::size_t TcpProxy::reply_bytes_received() const { return impl_->reply_bytes_received; }

}  // namespace redlock::test
