// A service on Asio: coroutines take locks with use_awaitable, and a timer bounds the work.

#include <chrono>
#include <iostream>
#include <string>
#include <utility>

#if __has_include(<boost/asio.hpp>)
#include <boost/asio.hpp>
namespace net = boost::asio;
#else
#include <asio.hpp>
namespace net = asio;
#endif

#include "nodes.hpp"
#include "redlock/asio.hpp"
#include "redlock/redlock.hpp"

using namespace std::chrono_literals;

namespace {

struct Service {
  redlock::AsyncClient client;
  redlock::AsyncMutex ledger{client, "ledger"};  // its callers queue in this process first
  int written = 0;
};

/// One worker of many in this process, and in others.
net::awaitable<void> write(Service& service, int worker) {
  auto guard = co_await redlock::async_lock(service.ledger, net::use_awaitable);
  if (!guard) {
    std::cerr << guard.error().message << '\n';
    co_return;
  }
  net::steady_timer pause(co_await net::this_coro::executor, 1ms);
  co_await pause.async_wait(net::use_awaitable);
  if (!guard->valid()) co_return;  // before what cannot be undone
  std::cout << "worker " << worker << " writes line " << ++service.written << '\n';
}

net::awaitable<void> report(Service& service) {
  redlock::AcquireOptions options{.ttl = 10s, .fencing = true};
  auto granted = co_await redlock::async_try_acquire_for(service.client, "report", 30s, options,
                                                         net::use_awaitable);
  if (!granted) co_return;
  std::cout << "report " << granted->fencing_token().value() << '\n';
  co_await redlock::async_release(service.client, *std::move(granted), net::use_awaitable);
}

}  // namespace

int main(int argc, char** argv) {
  const example::Nodes nodes(argc, argv);
  redlock::ClientOptions options;
  options.nodes = nodes.urls();
  // The client has a loop thread of its own; every answer is posted to the io_context.
  auto client = redlock::AsyncClient::create(std::move(options));
  if (!client) return 1;
  Service service{*std::move(client)};

  net::io_context io;
  for (int worker = 1; worker <= 5; ++worker) {
    net::co_spawn(io, write(service, worker), net::detached);
  }
  net::co_spawn(io, report(service), net::detached);
  io.run();  // until nothing is outstanding
  return service.written == 5 ? 0 : 2;
}
