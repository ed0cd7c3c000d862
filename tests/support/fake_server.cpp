#include "support/fake_server.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "support/loop_thread.hpp"
#include "support/sockets.hpp"

namespace redlock::test {
namespace {

// Long enough for the peer to have read one piece before the next arrives, most of the time.
constexpr std::chrono::microseconds pause_between_chunks(200);

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string first_word(const Command& command) {
  return command.empty() ? std::string() : upper(command[0]);
}

std::string first_two_words(const Command& command) {
  std::string words = first_word(command);
  if (command.size() > 1) words.append(1, ' ').append(upper(command[1]));
  return words;
}

struct Connection {
  Fd socket;
  RespParser parser;
  std::string unsent;
  std::string filler;
  FakeAnswer::Then then = FakeAnswer::Then::go_on;
  bool finished = false;

  [[nodiscard]] bool ending() const noexcept { return then != FakeAnswer::Then::go_on; }
};

std::optional<Command> as_command(const Reply& value) {
  if (value.kind != Reply::Kind::array || value.elements.empty()) return std::nullopt;
  Command command;
  for (const auto& element : value.elements) {
    if (element.kind != Reply::Kind::string) return std::nullopt;
    command.push_back(element.string);
  }
  return command;
}

}  // namespace

FakeAnswer FakeAnswer::endless(std::string first, std::string filler) {
  FakeAnswer answer(std::move(first));
  answer.filler = std::move(filler);
  return answer;
}

struct FakeServer::Impl {
  PortReservation port = reserve_port();
  Fd listener = listen_on("127.0.0.1", port.port());
  std::list<Connection> connections;

  mutable std::mutex mutex;
  CommandHandler general;
  std::map<std::string, CommandHandler> overrides;
  std::vector<Command> commands;
  std::string greeting;

  std::atomic<std::size_t> chunk{0};
  std::atomic<std::size_t> accepted{0};
  std::atomic<std::size_t> open{0};
  std::atomic<std::size_t> malformed{0};

  // Last: the thread ends before anything it uses goes away.
  LoopThread thread{[this] { turn(); }};

  explicit Impl(CommandHandler handler) : general(std::move(handler)) {}

  void turn();
  void accept_all();
  void read_from(Connection& connection);
  void answer(Connection& connection);
  void write_to(Connection& connection);
  CommandHandler record(const Command& command);
  void end_all(FakeAnswer::Then how);
};

void FakeServer::Impl::accept_all() {
  while (listener.valid()) {
    Connection connection;
    connection.socket = accept_from(listener);
    if (!connection.socket.valid()) return;
    ++accepted;
    {
      const std::lock_guard lock(mutex);
      connection.unsent = greeting;
    }
    connections.push_back(std::move(connection));
  }
}

void FakeServer::Impl::read_from(Connection& connection) {
  std::array<char, 65536> buffer;
  for (;;) {
    const auto count = ::recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
    if (count > 0) {
      connection.parser.feed({buffer.data(), static_cast<std::size_t>(count)});
    } else if (count < 0 && errno == EAGAIN) {
      return;
    } else if (count == 0 || errno != EINTR) {
      connection.finished = true;
      return;
    }
  }
}

CommandHandler FakeServer::Impl::record(const Command& command) {
  const std::lock_guard lock(mutex);
  commands.push_back(command);
  for (const auto& word : {first_two_words(command), first_word(command)}) {
    const auto found = overrides.find(word);
    if (found != overrides.end()) return found->second;
  }
  return general;
}

void FakeServer::Impl::answer(Connection& connection) {
  try {
    // Nothing comes after an answer without an end.
    while (!connection.ending() && connection.filler.empty()) {
      const auto value = connection.parser.next();
      if (!value) return;
      const auto command = as_command(*value);
      if (!command) throw std::runtime_error("not a command");
      // Called without the lock: a handler may use the server it belongs to.
      FakeAnswer made = record(*command)(*command);
      connection.unsent += made.bytes;
      connection.filler = std::move(made.filler);
      connection.then = made.then;
    }
  } catch (const std::runtime_error&) {
    ++malformed;
    connection.then = FakeAnswer::Then::close;
  }
}

void FakeServer::Impl::write_to(Connection& connection) {
  const std::size_t limit = chunk;
  for (;;) {
    if (connection.unsent.empty()) connection.unsent = connection.filler;
    if (connection.unsent.empty()) break;
    auto size = connection.unsent.size();
    if (limit > 0) size = std::min(size, limit);
    const auto count =
        ::send(connection.socket.get(), connection.unsent.data(), size, MSG_NOSIGNAL);
    if (count >= 0) {
      connection.unsent.erase(0, static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      connection.finished = true;
      return;
    }
    if (limit > 0) std::this_thread::sleep_for(pause_between_chunks);
    // One piece per turn, so that an endless answer starves neither other connections nor calls.
    if (limit > 0 || !connection.filler.empty()) return;
  }
  if (!connection.ending()) return;
  if (connection.then == FakeAnswer::Then::reset) close_with_reset(connection.socket);
  connection.finished = true;
}

void FakeServer::Impl::turn() {
  accept_all();
  for (auto& connection : connections) {
    read_from(connection);
    // Commands sent before the peer closed are handled, as by a real server.
    answer(connection);
    if (!connection.finished) write_to(connection);
  }
  connections.remove_if([](const Connection& connection) { return connection.finished; });
  open = connections.size();

  std::vector<pollfd> entries{{thread.wake_fd(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
  for (const auto& connection : connections) {
    const bool sending = !connection.unsent.empty() || !connection.filler.empty();
    const int events = sending ? POLLIN | POLLOUT : POLLIN;
    entries.push_back({connection.socket.get(), static_cast<short>(events), 0});
  }
  // An interrupted wait only checks early.
  static_cast<void>(::poll(entries.data(), entries.size(), -1));
}

void FakeServer::Impl::end_all(FakeAnswer::Then how) {
  thread.call([this, how] {
    // Connections in the backlog count as connected for their clients.
    accept_all();
    for (auto& connection : connections) {
      if (how == FakeAnswer::Then::reset) close_with_reset(connection.socket);
    }
    connections.clear();
    open = 0;
  });
}

FakeServer::FakeServer(CommandHandler handler) : impl_(std::make_unique<Impl>(std::move(handler))) {
  impl_->thread.start();
}

FakeServer::FakeServer(FakeRedis redis) : impl_(std::make_unique<Impl>(nullptr)) {
  imitate(std::move(redis));
  impl_->thread.start();
}

FakeServer::~FakeServer() = default;

std::uint16_t FakeServer::port() const noexcept { return impl_->port.port(); }
std::string FakeServer::url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

FakeServer& FakeServer::on(const std::string& word, CommandHandler handler) {
  const std::lock_guard lock(impl_->mutex);
  impl_->overrides[upper(word)] = std::move(handler);
  return *this;
}

void FakeServer::forget(const std::string& word) {
  const std::lock_guard lock(impl_->mutex);
  impl_->overrides.erase(upper(word));
}

void FakeServer::answer_all(CommandHandler handler) {
  const std::lock_guard lock(impl_->mutex);
  impl_->general = std::move(handler);
}

void FakeServer::imitate(FakeRedis redis) {
  redis.port = port();
  answer_all([redis = std::move(redis)](const Command& command) {
    return answer_like_redis(redis, command);
  });
}

void FakeServer::greet(std::string bytes) {
  const std::lock_guard lock(impl_->mutex);
  impl_->greeting = std::move(bytes);
}

void FakeServer::set_chunk(std::size_t bytes) { impl_->chunk = bytes; }

void FakeServer::push(std::string bytes) {
  impl_->thread.call([&] {
    for (auto& connection : impl_->connections) connection.unsent += bytes;
  });
}

void FakeServer::close_connections() { impl_->end_all(FakeAnswer::Then::close); }
void FakeServer::reset_connections() { impl_->end_all(FakeAnswer::Then::reset); }

void FakeServer::refuse() {
  impl_->thread.call([this] { impl_->listener.reset(); });
}

void FakeServer::accept() {
  impl_->thread.call([this] {
    if (!impl_->listener.valid()) impl_->listener = listen_on("127.0.0.1", port());
  });
}

std::vector<Command> FakeServer::commands() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->commands;
}

std::size_t FakeServer::count(const std::string& word) const {
  const std::string wanted = upper(word);
  const auto all = commands();
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& command) {
    return first_word(command) == wanted || first_two_words(command) == wanted;
  }));
}

void FakeServer::clear_commands() {
  const std::lock_guard lock(impl_->mutex);
  impl_->commands.clear();
}

std::size_t FakeServer::connections_accepted() const { return impl_->accepted; }
std::size_t FakeServer::connections_open() const { return impl_->open; }
std::size_t FakeServer::malformed() const { return impl_->malformed; }

}  // namespace redlock::test
