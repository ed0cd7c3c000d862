#include "quorum-lock/metrics_export.hpp"

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
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "quorum-lock/output.hpp"
#include "quorum-lock/text.hpp"
#include "quorum-lock/usage_error.hpp"
#include "quorum-lock/written_file.hpp"
#include "redlock/clock.hpp"
#include "redlock/metrics.hpp"

namespace redlock::cli {
namespace {

constexpr auto file_period = std::chrono::seconds(5);
/// How long nobody is let in after there was no descriptor or memory for a connection: it would be
/// there to be accepted all the time.
constexpr auto pause_without_room = std::chrono::seconds(1);
/// A reader that is slower delays the others, which are few.
constexpr auto longest_exchange = std::chrono::seconds(2);

int milliseconds_until(BootClock::time_point instant) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(instant - BootClock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 60'000));
}

// --- the listener -----------------------------------------------------------------------------

std::string show_listen_address(const ListenAddress& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", address.host, address.port)
               : fmt::format("{}:{}", address.host, address.port);
}

/// The socket, or why there is none.
std::variant<Descriptor, std::string> listen_on(const ListenAddress& address) {
  const auto cannot = [&address](const char* why) {
    return fmt::format("--metrics-listen: cannot listen on '{}': {}",
                       as_printable(show_listen_address(address)), why);
  };
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int failed = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &list);
  if (failed != 0) return cannot(::gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(list, ::freeaddrinfo);
  int error = 0;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    Descriptor socket(platform::open_socket(one->ai_family, SOCK_STREAM));
    const int on = 1;
    const bool listens =
        socket.valid() &&
        ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        ::bind(socket.get(), one->ai_addr, one->ai_addrlen) == 0 &&
        ::listen(socket.get(), 16) == 0 &&
        // A connection that was reset in the meantime must not block the thread.
        ::fcntl(socket.get(), F_SETFL, O_NONBLOCK) == 0;
    if (listens) return socket;
    error = errno;
  }
  return cannot(std::strerror(error));
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

bool is_lack_of_room(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/// One connection, until a deadline or the end of the export.
class Exchange {
 public:
  Exchange(const Descriptor& connection, int finish)
      : watched_{pollfd{connection.get(), 0, 0}, pollfd{finish, POLLIN, 0}} {}

  /// All of the request's head; empty: there was none in time.
  [[nodiscard]] std::string read() {
    std::string request;
    std::array<char, 2048> buffer{};
    while (!is_complete_http_request(request)) {
      if (!wait(POLLIN)) return {};
      const ssize_t size = ::recv(watched_[0].fd, buffer.data(), buffer.size(), 0);
      if (size == 0) return {};
      if (size < 0 && !is_passing(errno)) return {};
      if (size > 0) request.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return request;
  }

  void write(std::string_view answer) {
    while (!answer.empty() && wait(POLLOUT)) {
      const ssize_t size = platform::send_quietly(watched_[0].fd, answer.data(), answer.size());
      if (size < 0 && !is_passing(errno)) return;
      if (size > 0) answer.remove_prefix(static_cast<std::size_t>(size));
    }
    static_cast<void>(::shutdown(watched_[0].fd, SHUT_WR));
  }

 private:
  [[nodiscard]] static bool is_passing(int error) {
    return error == EINTR || error == EAGAIN || error == EWOULDBLOCK;
  }
  [[nodiscard]] bool wait(short event) {
    watched_[0].events = event;
    for (;;) {
      const int ready = ::poll(watched_.data(), watched_.size(), milliseconds_until(until_));
      if (ready < 0 && errno == EINTR) continue;
      return ready > 0 && watched_[1].revents == 0;
    }
  }

  std::array<pollfd, 2> watched_;
  BootClock::time_point until_ = BootClock::now() + longest_exchange;
};

}  // namespace

MetricsTargets metrics_targets_of(const Arguments& given) {
  MetricsTargets targets;
  targets.file = given.text("metrics-file");
  if (targets.file) require_writable("metrics-file", *targets.file);
  if (const auto listen = given.text("metrics-listen")) {
    targets.listen = parse_listen_address(*listen);
  }
  targets.required = given.flag("metrics-required");
  return targets;
}

MetricsExport::MetricsExport(MetricsTargets targets, std::string_view resource,
                             const Client& client, const Settings& settings)
    : targets_(std::move(targets)),
      resource_(as_utf8(resource)),
      client_(client),
      settings_(settings) {
  if (targets_.listen) {
    auto socket = listen_on(*targets_.listen);
    if (const std::string* why = std::get_if<std::string>(&socket)) {
      if (targets_.required) throw UsageError(*why);
      print_warning(*why);
      targets_.listen.reset();
    } else {
      listener_ = std::get<Descriptor>(std::move(socket));
    }
    if (targets_.listen && targets_.listen->port == "0") {
      targets_.listen->port = port_of(listener_);
      print_note(settings_,
                 fmt::format("metrics: http://{}/metrics", show_listen_address(*targets_.listen)));
    }
  }
  if (targets_.file || targets_.listen) thread_ = std::thread([this] { run(); });
}

MetricsExport::~MetricsExport() {
  if (!thread_.joinable()) return;
  finish_.notify();
  thread_.join();
  if (targets_.file) write_file();
}

std::string MetricsExport::page() const {
  const Result<Metrics> metrics = client_.metrics();
  return metrics ? to_prometheus(*metrics, {{"resource", resource_}}) : std::string();
}

void MetricsExport::write_file() {
  const int error = replace_file(*targets_.file, page());
  if (error != 0 && !file_failed_) {
    print_warning(fmt::format("--metrics-file: '{}' cannot be written: {}",
                              as_printable(*targets_.file), std::strerror(error)));
  }
  file_failed_ = error != 0;
}

void MetricsExport::serve_one() {
  const Descriptor connection(::accept(listener_.get(), nullptr, nullptr));
  if (!connection.valid()) {
    if (is_lack_of_room(errno)) listen_at_ = BootClock::now() + pause_without_room;
    return;
  }
  static_cast<void>(::fcntl(connection.get(), F_SETFD, FD_CLOEXEC));
  static_cast<void>(::fcntl(connection.get(), F_SETFL, O_NONBLOCK));
  Exchange exchange(connection, finish_.fd());
  const std::string request = exchange.read();
  if (!request.empty()) exchange.write(answer_http(request, [this] { return page(); }));
}

void MetricsExport::run() noexcept {
  auto next_file = BootClock::now();
  for (;;) {
    if (targets_.file && BootClock::now() >= next_file) {
      write_file();
      next_file = BootClock::now() + file_period;
    }
    const bool listens = BootClock::now() >= listen_at_;
    std::array<pollfd, 2> watched = {pollfd{finish_.fd(), POLLIN, 0},
                                     pollfd{listens ? listener_.get() : -1, POLLIN, 0}};
    auto wake_at = BootClock::time_point::max();
    if (targets_.file) wake_at = next_file;
    if (!listens) wake_at = std::min(wake_at, listen_at_);
    const bool waits = wake_at != BootClock::time_point::max();
    const int timeout = waits ? milliseconds_until(wake_at) : -1;
    if (::poll(watched.data(), watched.size(), timeout) < 0 && errno != EINTR) return;
    if (watched[0].revents != 0) return;
    if (watched[1].revents != 0) serve_one();
  }
}

}  // namespace redlock::cli
