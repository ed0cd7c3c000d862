#include "support/redis_server.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "clock/clock_file.hpp"
#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/programs.hpp"
#include "support/resp_client.hpp"
#include "support/sockets.hpp"
#include "support/spawn.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

constexpr int start_attempts = 20;
// Logged once the server has bound its ports: an answer before that may come from a stranger that
// won the race for the port.
constexpr std::string_view bound_message = "Server initialized";
constexpr std::string_view bound_message_of_a_sentinel = "Sentinel ID is";

}  // namespace

struct RedisServer::Impl {
  enum class Progress { waiting, loading, ready, lost_port };

  explicit Impl(RedisServerOptions wanted) : options(std::move(wanted)) {}

  RedisServerOptions options;
  const pid_t owner = ::getpid();
  TempDir directory;
  PortReservation port;
  PortReservation tls_port;
  std::optional<wall_clock::ClockFile> clock;
  mutable std::mutex process_mutex;
  mutable std::atomic<pid_t> pid{-1};
  std::size_t log_start = 0;

  mutable std::mutex client_mutex;
  mutable std::optional<RespClient> client;

  std::filesystem::path log_file() const { return directory.path() / "redis.log"; }
  std::filesystem::path data_directory() const { return directory.path() / "data"; }
  std::filesystem::path socket_file() const { return directory.path() / "redis.sock"; }
  std::string log_since_start() const { return read_file(log_file()).substr(log_start); }

  void reserve_ports();
  void launch();
  Progress wait() const;
  Progress probe() const;
  Progress ask() const;
  bool alive() const;
  void end(int signal);
  RespClient connect(std::chrono::milliseconds limit) const;
  std::vector<std::string> command_line() const;
  [[noreturn]] void fail(const std::string& what) const;
};

void RedisServer::Impl::fail(const std::string& what) const {
  throw std::runtime_error("redis-server on port " + std::to_string(port.port()) + " " + what +
                           "; its log:\n" + read_file(log_file()));
}

void RedisServer::Impl::reserve_ports() {
  port = reserve_port(options.bind);
  if (options.tls) tls_port = reserve_port(options.bind);
}

std::vector<std::string> RedisServer::Impl::command_line() const {
  std::vector<std::string> words{options.program,
                                 "--port",
                                 std::to_string(port.port()),
                                 "--bind",
                                 options.bind,
                                 "--save",
                                 "",
                                 "--appendonly",
                                 "no",
                                 "--daemonize",
                                 "no",
                                 "--dir",
                                 data_directory().native(),
                                 "--unixsocket",
                                 socket_file().native()};
  const auto add = [&words](std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
  };
  if (!options.password.empty()) add({"--requirepass", options.password});
  if (options.tls) {
    const bool required = options.tls->clients == ClientCertificates::required;
    add({"--tls-port", std::to_string(tls_port.port()), "--tls-cert-file",
         options.tls->certificate.native(), "--tls-key-file", options.tls->key.native(),
         "--tls-ca-cert-file", options.tls->ca.native(), "--tls-auth-clients",
         required ? "yes" : "no"});
  }
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  return words;
}

void RedisServer::Impl::launch() {
  std::filesystem::create_directories(data_directory());
  // The socket of a killed server would otherwise refuse connections, as if the new server were
  // dead.
  std::error_code ignored;
  std::filesystem::remove(socket_file(), ignored);
  const Fd log(::open(log_file().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log.valid()) {
    throw std::system_error(errno, std::generic_category(), log_file().native());
  }
  log_start = read_file(log_file()).size();
  auto environment = options.environment;
  if (options.clock == ServerClock::movable) {
    if (!clock) clock.emplace(directory.path() / "clock");
    const auto more = clock->environment(clock_preload());
    environment.insert(environment.end(), more.begin(), more.end());
  }
  pid = spawn({.arguments = command_line(),
               .environment = std::move(environment),
               .directory = directory.path(),
               .output = log.get(),
               .errors = log.get()});
}

bool RedisServer::Impl::alive() const {
  const std::lock_guard lock(process_mutex);
  if (pid < 0) return false;
  if (::waitpid(pid, nullptr, WNOHANG) == 0) return true;
  pid = -1;
  return false;
}

RedisServer::Impl::Progress RedisServer::Impl::ask() const {
  try {
    auto probing = RespClient::unix_socket(socket_file().native(), std::chrono::seconds(2));
    const auto reply = probing.call({"PING"});
    return reply.string.starts_with("LOADING") ? Progress::loading : Progress::ready;
  } catch (const std::runtime_error&) {
    return Progress::waiting;
  }
}

RedisServer::Impl::Progress RedisServer::Impl::probe() const {
  const bool lives = alive();
  const std::string text = log_since_start();
  if (!lives) {
    if (text.find("Address already in use") != std::string::npos) return Progress::lost_port;
    fail("ended while starting");
  }
  const bool bound = text.find(bound_message) != std::string::npos ||
                     text.find(bound_message_of_a_sentinel) != std::string::npos;
  return bound ? ask() : Progress::waiting;
}

RedisServer::Impl::Progress RedisServer::Impl::wait() const {
  auto progress = Progress::waiting;
  const auto loading_accepted = std::chrono::steady_clock::now() + options.loading_grace;
  const auto decided = [&] {
    progress = probe();
    const bool patient = std::chrono::steady_clock::now() < loading_accepted;
    if (progress == Progress::loading && !patient) progress = Progress::ready;
    return progress == Progress::ready || progress == Progress::lost_port;
  };
  if (!eventually(decided, options.start_limit)) fail("does not answer");
  return progress;
}

void RedisServer::Impl::end(int signal) {
  const std::lock_guard lock(process_mutex);
  if (pid < 0) return;
  ::kill(pid, signal);
  // A stopped process does not act on SIGTERM.
  ::kill(pid, SIGCONT);
  const bool ended = eventually([this] { return ::waitpid(pid, nullptr, WNOHANG) != 0; },
                                std::chrono::seconds(20));
  if (!ended) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  pid = -1;
}

RespClient RedisServer::Impl::connect(std::chrono::milliseconds limit) const {
  auto connection = RespClient::unix_socket(socket_file().native(), limit);
  if (!options.password.empty()) {
    const auto reply = connection.call({"AUTH", options.password});
    if (!reply.is_ok()) throw std::runtime_error("AUTH refused: " + reply.string);
  }
  // Lets a test distinguish this connection from those under test; a refusal is the test's own ACL.
  connection.call({"CLIENT", "SETNAME", "test-observer"});
  return connection;
}

RedisServer::RedisServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RedisServer::RedisServer(RedisServerOptions options) : RedisServer(launch(std::move(options))) {
  wait_until_ready();
}

RedisServer RedisServer::launch(RedisServerOptions options) {
  RedisServer server(std::make_unique<Impl>(std::move(options)));
  server.impl_->reserve_ports();
  server.impl_->launch();
  return server;
}

RedisServer::~RedisServer() {
  // A forked copy of the test process must leave its parent's server alone.
  if (impl_ && ::getpid() == impl_->owner) impl_->end(SIGKILL);
}

RedisServer::RedisServer(RedisServer&&) noexcept = default;

RedisServer& RedisServer::operator=(RedisServer&& other) noexcept {
  if (this != &other) {
    const RedisServer previous = std::move(*this);
    impl_ = std::move(other.impl_);
  }
  return *this;
}

void RedisServer::wait_until_ready() {
  for (int attempt = 0; attempt < start_attempts; ++attempt) {
    if (impl_->wait() == Impl::Progress::ready) return;
    impl_->reserve_ports();
    impl_->launch();
  }
  impl_->fail("found no free port");
}

const std::string& RedisServer::host() const noexcept { return impl_->options.bind; }
std::uint16_t RedisServer::port() const noexcept { return impl_->port.port(); }
std::uint16_t RedisServer::tls_port() const noexcept { return impl_->tls_port.port(); }

std::string RedisServer::url() const {
  const auto& password = impl_->options.password;
  return "redis://" + (password.empty() ? "" : ":" + password + "@") + host() + ":" +
         std::to_string(port());
}

std::string RedisServer::short_url() const {
  return impl_->options.password.empty() ? host() + ":" + std::to_string(port()) : url();
}

std::string RedisServer::tls_url() const {
  const auto& password = impl_->options.password;
  return "rediss://" + (password.empty() ? "" : ":" + password + "@") + host() + ":" +
         std::to_string(tls_port());
}

std::string RedisServer::unix_url() const { return "unix://" + unix_path().native(); }
std::filesystem::path RedisServer::unix_path() const { return impl_->socket_file(); }
std::filesystem::path RedisServer::data_directory() const { return impl_->data_directory(); }
std::string RedisServer::log() const { return read_file(impl_->log_file()); }
RedisServerOptions& RedisServer::options() noexcept { return impl_->options; }
pid_t RedisServer::pid() const noexcept { return impl_->pid; }
bool RedisServer::running() const { return impl_->alive(); }
bool RedisServer::stopped() const { return running() && process_stopped(pid()); }

void RedisServer::kill() { impl_->end(SIGKILL); }
void RedisServer::terminate() { impl_->end(SIGTERM); }

void RedisServer::stop() {
  if (!running() || ::kill(pid(), SIGSTOP) != 0) impl_->fail("does not run");
  if (!eventually([this] { return stopped(); })) impl_->fail("does not stop");
}

void RedisServer::resume() {
  if (!running() || ::kill(pid(), SIGCONT) != 0) impl_->fail("does not run");
  if (!eventually([this] { return !stopped(); })) impl_->fail("does not resume");
}

void RedisServer::start(Data data) {
  if (running()) impl_->fail("runs already");
  if (data == Data::wipe) std::filesystem::remove_all(impl_->data_directory());
  for (int attempt = 0; attempt < start_attempts; ++attempt) {
    impl_->launch();
    if (impl_->wait() == Impl::Progress::ready) return;
  }
  impl_->fail("lost its port");
}

void RedisServer::restart(Data data) {
  kill();
  start(data);
}

void RedisServer::move_clock(std::chrono::seconds from_machine) {
  if (!impl_->clock) impl_->fail("was started under the machine's clock");
  impl_->clock->move(from_machine);
  if (!running() || stopped()) return;
  // Valkey 9.1 reads the wall clock once per millisecond, and between readings adds the time of a
  // clock that was not moved.
  const bool seen = eventually([&] {
    const auto expected = std::chrono::system_clock::now() + from_machine;
    return std::chrono::abs(wall_clock() - expected) < std::chrono::milliseconds(500);
  });
  if (!seen) impl_->fail("does not follow its clock");
}

std::chrono::system_clock::time_point RedisServer::wall_clock() const {
  const Reply reply = command({"TIME"});
  return std::chrono::system_clock::time_point(
      std::chrono::seconds(std::stoll(reply.elements.at(0).string)) +
      std::chrono::microseconds(std::stoll(reply.elements.at(1).string)));
}

Reply RedisServer::command(const Command& words, std::chrono::milliseconds limit) const {
  const std::lock_guard lock(impl_->client_mutex);
  auto& client = impl_->client;
  if (client && client->stale()) client.reset();
  try {
    if (!client) client = impl_->connect(limit);
    client->set_limit(limit);
    return client->call(words);
  } catch (const std::runtime_error&) {
    // The answer may still come, and would be taken for the answer to the next command.
    if (client) client->reset();
    client.reset();
    throw;
  }
}

std::optional<std::string> RedisServer::get(const std::string& key) const {
  auto reply = command({"GET", key});
  if (reply.is_error()) throw std::runtime_error("GET " + key + ": " + reply.string);
  return reply.is_nil() ? std::nullopt : std::optional(std::move(reply.string));
}

bool RedisServer::is_since(int major, int minor) const {
  constexpr std::string_view field = "redis_version:";
  const std::string info = command({"INFO", "server"}).string;
  const auto begin = info.find(field);
  if (begin == std::string::npos) throw std::runtime_error("INFO names no version: " + info);
  std::istringstream version(info.substr(begin + field.size()));
  std::pair<int, int> seen;
  char dot{};
  version >> seen.first >> dot >> seen.second;
  return seen >= std::pair(major, minor);
}

std::int64_t RedisServer::pttl(const std::string& key) const {
  const auto reply = command({"PTTL", key});
  if (reply.is_error()) throw std::runtime_error("PTTL " + key + ": " + reply.string);
  return reply.integer;
}

}  // namespace redlock::test
