#pragma once

#include <gtest/gtest.h>
#include <sys/un.h>
#include <uv.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "uv/handle.hpp"
#include "uv/loop.hpp"
#include "uv/stream.hpp"

namespace redlock::uv::test {

/// Runs the loop until the condition holds; false after a limit that only a hang reaches.
inline bool run_until(Loop& loop, const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  auto tick = make_handle<uv_timer_t>(
      nullptr, "test tick", [&](uv_timer_t* timer) { return uv_timer_init(loop.get(), timer); });
  check(uv_timer_start(
            tick.get(), [](uv_timer_t*) {}, 5, 5),
        "test tick");
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    uv_run(loop.get(), UV_RUN_ONCE);
  }
  return true;
}

/// Remembers the stream's callbacks.
class Recorder final : public StreamListener {
 public:
  void on_open() noexcept override {
    ++opened;
    if (when_open) when_open();
  }
  void on_bytes(std::string_view chunk) noexcept override {
    bytes += chunk;
    // The hook may destroy the stream; the bytes are read afterwards on purpose.
    if (when_bytes) when_bytes();
    last_chunk.assign(chunk);
  }
  void on_failure(const Failure& failure) noexcept override {
    failures.push_back(failure);
    if (when_failed) when_failed();
  }

  [[nodiscard]] bool finished() const { return opened > 0 || !failures.empty(); }

  int opened = 0;
  std::string bytes;
  std::string last_chunk;
  std::vector<Failure> failures;
  std::function<void()> when_open;
  std::function<void()> when_bytes;
  std::function<void()> when_failed;
};

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "redlock-uv-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// A server for one client on the test's own loop; a new client replaces the one before.
class LoopbackServer {
 public:
  struct Ip {
    const char* address;
  };
  struct Path {
    std::string path;
  };

  LoopbackServer(Loop& loop, Ip ip) : loop_(loop), is_tcp_(true), listening_(make_any()) {
    sockaddr_storage address{};
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
    if (uv_ip4_addr(ip.address, 0, v4) != 0) {
      check(uv_ip6_addr(ip.address, 0, reinterpret_cast<sockaddr_in6*>(&address)), "address");
    }
    auto* bound = reinterpret_cast<sockaddr*>(&address);
    check(uv_tcp_bind(&listening_->tcp, bound, 0), "bind");
    int size = sizeof address;
    check(uv_tcp_getsockname(&listening_->tcp, bound, &size), "getsockname");
    // The port is at the same offset for both families.
    port_ = ntohs(v4->sin_port);
    listen();
  }

  LoopbackServer(Loop& loop, const Path& path)
      : loop_(loop), is_tcp_(false), listening_(make_any()) {
    check(uv_pipe_bind(&listening_->pipe, path.path.c_str()), "bind");
    listen();
  }

  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  void start_reading() { check(uv_read_start(&peer_->stream, allocate, on_input), "reading"); }
  void send(std::string_view bytes) {
    const auto buffer = uv_buf_init(const_cast<char*>(bytes.data()), unsigned(bytes.size()));
    ASSERT_EQ(uv_try_write(&peer_->stream, &buffer, 1), static_cast<int>(bytes.size()));
  }
  void hang_up() { peer_.reset(); }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] Endpoint endpoint(std::string host) const {
    Endpoint endpoint;
    endpoint.host = std::move(host);
    endpoint.port = port_;
    return endpoint;
  }

  bool reads_at_once = true;
  int accepted = 0;
  int end_status = 0;
  std::string received;
  std::function<void(std::string_view)> when_bytes;

 private:
  using Any = Handle<uv_any_handle>;

  Any make_any() {
    auto memory = std::make_unique<uv_any_handle>();
    if (is_tcp_) {
      check(uv_tcp_init(loop_.get(), &memory->tcp), "tcp");
    } else {
      check(uv_pipe_init(loop_.get(), &memory->pipe, 0), "pipe");
    }
    memory->handle.data = this;
    return Any(memory.release());
  }
  void listen() {
    check(uv_listen(&listening_->stream, 16,
                    [](uv_stream_t* server, int status) {
                      check(status, "listening");
                      static_cast<LoopbackServer*>(server->data)->accept();
                    }),
          "listen");
  }
  void accept() {
    peer_ = make_any();
    check(uv_accept(&listening_->stream, &peer_->stream), "accept");
    ++accepted;
    if (reads_at_once) start_reading();
  }
  static void allocate(uv_handle_t* handle, size_t, uv_buf_t* buffer) {
    auto& self = *static_cast<LoopbackServer*>(handle->data);
    self.buffer_.resize(65536);
    *buffer = uv_buf_init(self.buffer_.data(), 65536);
  }
  static void on_input(uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
    auto& self = *static_cast<LoopbackServer*>(stream->data);
    if (size < 0) {
      self.end_status = static_cast<int>(size);
      self.hang_up();
      return;
    }
    const std::string_view bytes(buffer->base, static_cast<std::size_t>(size));
    self.received += bytes;
    if (self.when_bytes && !bytes.empty()) self.when_bytes(bytes);
  }

  Loop& loop_;
  bool is_tcp_;
  std::uint16_t port_ = 0;
  std::string buffer_;
  Any listening_;
  Any peer_;
};

}  // namespace redlock::uv::test
