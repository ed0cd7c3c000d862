// A TCP server on one thread whose handlers take locks with co_await: a line names an account, and
// one request at a time works on an account, in all servers.

#include <uv.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "nodes.hpp"
#include "redlock/redlock.hpp"
#include "task.hpp"

namespace {

/// One end of a connection. It lives until it is closed and no handler works for it.
struct Peer {
  using Handler = std::function<void(std::shared_ptr<Peer>, std::string)>;
  uv_tcp_t tcp{};
  Handler on_line{};
  std::string received{};
  std::shared_ptr<Peer> while_open{};

  static Peer& open(uv_loop_t* loop, Handler handler) {
    const auto peer = std::make_shared<Peer>();
    peer->on_line = std::move(handler);
    peer->while_open = peer;
    uv_tcp_init(loop, &peer->tcp);
    peer->tcp.data = peer.get();
    return *peer;
  }
  static Peer& of(const auto* handle) { return *static_cast<Peer*>(handle->data); }
  void read() {
    const auto room = [](uv_handle_t*, std::size_t, uv_buf_t* buffer) {
      static char bytes[1024];
      *buffer = uv_buf_init(bytes, sizeof(bytes));
    };
    uv_read_start(stream(), room, [](uv_stream_t* from, ssize_t count, const uv_buf_t* bytes) {
      if (count < 0) return of(from).close();
      std::string& text = of(from).received.append(bytes->base, static_cast<std::size_t>(count));
      const auto end = text.find('\n');
      if (end != std::string::npos) of(from).on_line(of(from).while_open, text.substr(0, end));
    });
  }
  void send(std::string text) {
    const uv_buf_t line = uv_buf_init(text.data(), static_cast<unsigned>(text.size()));
    if (while_open) uv_try_write(stream(), &line, 1);
  }
  void close() {
    auto* handle = reinterpret_cast<uv_handle_t*>(&tcp);
    if (uv_is_closing(handle) != 0) return;
    uv_close(handle, [](uv_handle_t* closed) { of(closed).while_open.reset(); });
  }
  [[nodiscard]] uv_stream_t* stream() { return reinterpret_cast<uv_stream_t*>(&tcp); }
};

struct Server {
  redlock::AsyncClient client;
  std::map<std::string, redlock::AsyncMutex> mutexes{};
  std::map<std::string, int> balances{};

  example::Task deposit(std::shared_ptr<Peer> peer, std::string account) {
    auto& mutex = mutexes.try_emplace(account, client, "account/" + account).first->second;
    const auto guard = co_await mutex.try_lock_for(std::chrono::seconds(30));
    if (!guard) co_return peer->send("error: " + guard.error().message + "\n");
    peer->send(account + " has " + std::to_string(++balances[account]) + "\n");
  }
};

}  // namespace

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  uv_loop_t loop;
  if (uv_loop_init(&loop) != 0) return 1;
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  auto client = redlock::AsyncClient::create(std::move(options), &loop);
  if (!client) return 2;
  Server server{*std::move(client)};

  Peer& listener = Peer::open(&loop, [&](std::shared_ptr<Peer> peer, std::string line) {
    server.deposit(std::move(peer), std::move(line));
  });
  sockaddr_in address{};
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  uv_ip4_addr("127.0.0.1", 0, &address);
  uv_tcp_bind(&listener.tcp, where, 0);
  uv_listen(listener.stream(), 16, [](uv_stream_t* from, int) {
    Peer& peer = Peer::open(from->loop, Peer::of(from).on_line);
    uv_accept(from, peer.stream()) == 0 ? peer.read() : peer.close();
  });

  // Ten clients, in the same loop only to keep the example in one program.
  int size = sizeof(address);
  uv_tcp_getsockname(&listener.tcp, reinterpret_cast<sockaddr*>(&address), &size);
  int answers = 0;
  uv_connect_t requests[10];
  for (uv_connect_t& request : requests) {
    Peer& visitor = Peer::open(&loop, [&](const auto& peer, const std::string& line) {
      std::cout << line << '\n';
      peer->close();
      if (++answers < 10) return;
      listener.close();
      server.client.close([](const redlock::CloseReport&) {});
    });
    uv_tcp_connect(&request, &visitor.tcp, where, [](uv_connect_t* connected, int) {
      Peer::of(connected->handle).read();
      Peer::of(connected->handle).send("alice\n");
    });
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  return uv_loop_close(&loop) == 0 && server.balances["alice"] == 10 ? 0 : 3;
}
