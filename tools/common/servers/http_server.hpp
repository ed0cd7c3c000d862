#pragma once

#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "common/servers/http_message.hpp"
#include "common/system/descriptor.hpp"
#include "common/system/platform.hpp"
#include "redlock/clock.hpp"

namespace redlock::cli {

/// A socket that listens.
class HttpListener {
 public:
  /// Throws UsageError, which names the option, if it cannot listen there.
  HttpListener(std::string_view option, ListenAddress address);

  /// With the port that the kernel chose in place of 0.
  [[nodiscard]] const ListenAddress& address() const noexcept { return address_; }
  [[nodiscard]] bool chose_port() const noexcept { return chose_port_; }
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }

 private:
  ListenAddress address_;
  Descriptor socket_;
  bool chose_port_ = false;
};

/// Answers requests on a thread of its own, many connections at once. A client that is slow delays
/// nobody, and is dropped after two seconds; if there are too many, the oldest one is dropped.
class HttpServer {
 public:
  /// `pages` is called on the thread of the server and must not block for long.
  HttpServer(HttpListener listener, HttpPages pages);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  class Exchange;

  void run() noexcept;
  void accept_all();
  [[nodiscard]] int poll_timeout() const;

  HttpListener listener_;
  HttpPages pages_;
  std::vector<Exchange> exchanges_;    ///< the oldest first
  BootClock::time_point listen_at_{};  ///< not before
  platform::Wakeup finish_;
  std::thread thread_;
};

}  // namespace redlock::cli
