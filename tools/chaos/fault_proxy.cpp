#include "chaos/fault_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <uv.h>

#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "chaos/proxy_connection.hpp"

namespace redlock::chaos {
namespace {

constexpr int backlog = 128;

void require(int status, const char* what) {
  if (status != 0) {
    throw std::runtime_error(std::string("proxy: ") + what + ": " + uv_strerror(status));
  }
}

}  // namespace

struct FaultProxy::Impl {
  struct Link {
    Impl* proxy = nullptr;
    std::uint16_t target_port = 0;
    LinkRule rule{};
    PortNames renamed{};
    uv_tcp_t listener{};
    std::list<ProxyConnection> connections{};
    std::uint32_t connected = 0;  ///< how many there ever were
  };

  uv_loop_t loop{};
  uv_async_t wakeup{};
  std::deque<Link> links{};
  std::mutex mutex{};
  std::vector<std::function<void()>> jobs{};
  std::thread thread{};

  void start();
  void finish();
  /// Runs the job on the loop's thread, waits for it, and throws its exception.
  void call(const std::function<void()>& job);
  std::uint16_t listen(std::uint16_t target_port, std::uint16_t port, PortNames renamed);
  void close_all();

  static void on_wakeup(uv_async_t* handle) noexcept;
  static void on_connection(uv_stream_t* listener, int status) noexcept;
};

void FaultProxy::Impl::start() {
  require(uv_loop_init(&loop), "no loop");
  wakeup.data = this;
  require(uv_async_init(&loop, &wakeup, on_wakeup), "no wake-up");
  thread = std::thread([this] { static_cast<void>(uv_run(&loop, UV_RUN_DEFAULT)); });
}

void FaultProxy::Impl::finish() {
  call([this] { close_all(); });
  thread.join();
  static_cast<void>(uv_loop_close(&loop));
}

void FaultProxy::Impl::call(const std::function<void()>& job) {
  std::binary_semaphore done(0);
  std::exception_ptr thrown;
  {
    const std::lock_guard lock(mutex);
    jobs.emplace_back([&] {
      try {
        job();
      } catch (...) {
        thrown = std::current_exception();
      }
      done.release();
    });
  }
  require(uv_async_send(&wakeup), "no wake-up");
  done.acquire();
  if (thrown) std::rethrow_exception(thrown);
}

void FaultProxy::Impl::on_wakeup(uv_async_t* handle) noexcept {
  auto& self = *static_cast<Impl*>(handle->data);
  std::vector<std::function<void()>> jobs;
  {
    const std::lock_guard lock(self.mutex);
    jobs.swap(self.jobs);
  }
  for (const auto& job : jobs) job();
}

std::uint16_t FaultProxy::Impl::listen(std::uint16_t target_port, std::uint16_t port,
                                       PortNames renamed) {
  Link& link = links.emplace_back();
  link.proxy = this;
  link.renamed = std::move(renamed);
  link.target_port = target_port;
  link.listener.data = &link;
  require(uv_tcp_init(&loop, &link.listener), "no socket");
  sockaddr_in address{};
  require(uv_ip4_addr("127.0.0.1", port, &address), "no address");
  require(uv_tcp_bind(&link.listener, reinterpret_cast<const sockaddr*>(&address), 0), "no port");
  require(uv_listen(reinterpret_cast<uv_stream_t*>(&link.listener), backlog, on_connection),
          "no port");
  int size = sizeof address;
  require(uv_tcp_getsockname(&link.listener, reinterpret_cast<sockaddr*>(&address), &size),
          "no port");
  return ntohs(address.sin_port);
}

void FaultProxy::Impl::on_connection(uv_stream_t* listener, int status) noexcept {
  // Out of descriptors, most likely: the client runs into its time limit.
  if (status != 0) return;
  Link& link = *static_cast<Link*>(listener->data);
  const auto position =
      link.connections.emplace(link.connections.end(), &link.proxy->loop, link.target_port,
                               link.rule, link.renamed, ++link.connected);
  position->start(listener, [&link, position] { link.connections.erase(position); });
}

void FaultProxy::Impl::close_all() {
  for (Link& link : links) {
    uv_close(reinterpret_cast<uv_handle_t*>(&link.listener), nullptr);
    for (ProxyConnection& connection : link.connections) connection.reset();
  }
  uv_close(reinterpret_cast<uv_handle_t*>(&wakeup), nullptr);
}

FaultProxy::FaultProxy() : impl_(std::make_unique<Impl>()) { impl_->start(); }
FaultProxy::~FaultProxy() { impl_->finish(); }

std::uint16_t FaultProxy::add(std::uint16_t target_port, std::uint16_t port, PortNames renamed) {
  impl_->call([&] { port = impl_->listen(target_port, port, std::move(renamed)); });
  ++size_;
  return port;
}

void FaultProxy::set(std::size_t link, LinkRule rule) {
  impl_->call([&] {
    Impl::Link& changed = impl_->links.at(link);
    changed.rule = rule;
    for (ProxyConnection& connection : changed.connections) connection.follow_rule();
  });
}

}  // namespace redlock::chaos
