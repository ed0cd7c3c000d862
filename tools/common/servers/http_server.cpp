#include "common/servers/http_server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

/// How long nobody is let in after there was no descriptor or memory for a connection: it would be
/// there to be accepted all the time.
constexpr auto pause_without_room = std::chrono::seconds(1);
constexpr auto longest_exchange = std::chrono::seconds(2);
constexpr std::size_t most_exchanges = 64;

bool is_passing(int error) {
  return error == EINTR || error == EAGAIN || error == EWOULDBLOCK || error == ECONNABORTED;
}

bool is_lack_of_room(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/// Throws UsageError.
Descriptor listen_on(std::string_view option, const ListenAddress& address) {
  const auto cannot = [&](const char* why) {
    return UsageError(fmt::format("--{}: cannot listen on '{}': {}", option,
                                  as_printable(show_listen_address(address)), why));
  };
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int failed = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &list);
  if (failed != 0) throw cannot(::gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(list, ::freeaddrinfo);
  int error = 0;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    Descriptor socket(platform::open_socket(one->ai_family, SOCK_STREAM));
    const int on = 1;
    const bool listens =
        socket.valid() &&
        ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        ::bind(socket.get(), one->ai_addr, one->ai_addrlen) == 0 &&
        ::listen(socket.get(), static_cast<int>(most_exchanges)) == 0 &&
        // A connection that was reset in the meantime must not block the thread.
        ::fcntl(socket.get(), F_SETFL, O_NONBLOCK) == 0;
    if (listens) return socket;
    error = errno;
  }
  throw cannot(std::strerror(error));
}

std::string port_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXSERV> port{};
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::getsockname(socket.get(), any, &size) != 0 ||
      ::getnameinfo(any, size, nullptr, 0, port.data(), port.size(), NI_NUMERICSERV) != 0) {
    return {};
  }
  return port.data();
}

}  // namespace

HttpListener::HttpListener(std::string_view option, ListenAddress address)
    : address_(std::move(address)),
      socket_(listen_on(option, address_)),
      chose_port_(address_.port == "0") {
  if (chose_port_) address_.port = port_of(socket_);
}

/// One connection.
class HttpServer::Exchange {
 public:
  explicit Exchange(Descriptor connection) : connection_(std::move(connection)) {}

  [[nodiscard]] pollfd watched() const noexcept {
    return {connection_.get(), static_cast<short>(answer_.empty() ? POLLIN : POLLOUT), 0};
  }
  [[nodiscard]] BootClock::time_point until() const noexcept { return until_; }

  /// After poll() has reported something. False: it is over.
  [[nodiscard]] bool go_on(const HttpPages& pages) {
    if (answer_.empty() && !read()) return false;
    if (answer_.empty() && is_complete_http_request(request_)) {
      answer_ = answer_http(request_, pages);
    }
    return answer_.empty() || write();
  }

 private:
  [[nodiscard]] bool read() {
    std::array<char, 2048> buffer{};
    const ssize_t size = ::recv(connection_.get(), buffer.data(), buffer.size(), 0);
    if (size < 0) return is_passing(errno);
    request_.append(buffer.data(), static_cast<std::size_t>(size));
    return size > 0;
  }

  [[nodiscard]] bool write() {
    const ssize_t size = platform::send_quietly(connection_.get(), answer_.data() + written_,
                                                answer_.size() - written_);
    if (size < 0) return is_passing(errno);
    written_ += static_cast<std::size_t>(size);
    if (written_ < answer_.size()) return true;
    static_cast<void>(::shutdown(connection_.get(), SHUT_WR));
    return false;
  }

  Descriptor connection_;
  std::string request_;
  std::string answer_;
  std::size_t written_ = 0;
  BootClock::time_point until_ = BootClock::now() + longest_exchange;
};

HttpServer::HttpServer(HttpListener listener, HttpPages pages)
    : listener_(std::move(listener)), pages_(std::move(pages)) {
  thread_ = std::thread([this] { run(); });
}

HttpServer::~HttpServer() {
  finish_.notify();
  thread_.join();
}

void HttpServer::accept_all() {
  for (std::size_t accepted = 0; accepted < most_exchanges; ++accepted) {
    Descriptor connection(::accept(listener_.fd(), nullptr, nullptr));
    if (!connection.valid()) {
      if (is_lack_of_room(errno)) listen_at_ = BootClock::now() + pause_without_room;
      return;
    }
    static_cast<void>(::fcntl(connection.get(), F_SETFD, FD_CLOEXEC));
    static_cast<void>(::fcntl(connection.get(), F_SETFL, O_NONBLOCK));
    if (exchanges_.size() >= most_exchanges) exchanges_.erase(exchanges_.begin());
    exchanges_.emplace_back(std::move(connection));
  }
}

int HttpServer::poll_timeout() const {
  auto wake_at = BootClock::time_point::max();
  // All have the same limit, so the oldest one is over first.
  if (!exchanges_.empty()) wake_at = exchanges_.front().until();
  const auto now = BootClock::now();
  if (listen_at_ > now) wake_at = std::min(wake_at, listen_at_);
  if (wake_at == BootClock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake_at - now);
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

void HttpServer::run() noexcept {
  std::vector<pollfd> watched;
  for (;;) {
    const bool listens = BootClock::now() >= listen_at_;
    watched.assign(
        {pollfd{finish_.fd(), POLLIN, 0}, pollfd{listens ? listener_.fd() : -1, POLLIN, 0}});
    for (const Exchange& exchange : exchanges_) watched.push_back(exchange.watched());
    if (::poll(watched.data(), watched.size(), poll_timeout()) < 0 && errno != EINTR) {
      // More of them than the process may have descriptors by now.
      if (exchanges_.empty()) return;
      exchanges_.clear();
      continue;
    }
    if (watched[0].revents != 0) return;
    const auto now = BootClock::now();
    std::size_t at = 2;
    std::erase_if(exchanges_, [&](Exchange& exchange) {
      const bool is_ready = watched[at++].revents != 0;
      return (is_ready && !exchange.go_on(pages_)) || now >= exchange.until();
    });
    if (watched[1].revents != 0) accept_all();
  }
}

}  // namespace redlock::cli
