#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "common/servers/private_server.hpp"
#include "redlock/client.hpp"
#include "redlock/deployment.hpp"
#include "redlock/testing.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("redlock::TestDeployment: " + what);
}

template <typename Value>
Value required(Result<Value> result) {
  if (!result) fail(result.error().message);
  return *std::move(result);
}

void wait_for(pid_t child, int states) noexcept {
  siginfo_t info{};
  // The child is left to be reaped, so that its number stays ours.
  while (::waitid(P_PID, static_cast<id_t>(child), &info, states | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
}

class Directory {
 public:
  Directory() = default;
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    std::error_code ignored;
    if (::getpid() == owner_) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  // A forked copy of the process, of a death test for example, leaves everything to its parent.
  const pid_t owner_ = ::getpid();
  const std::string path_ = cli::make_temporary_directory();
};

/// A server and the thread that started it, which lives as long: the kernel ends the server when
/// that thread ends, and a thread of the test may end before.
class Server {
 public:
  explicit Server(cli::PrivateServer process) : process_(std::move(process)) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    if (::getpid() == owner_) {
      kill();
    } else if (keeper_.joinable()) {
      keeper_.detach();
    }
  }

  [[nodiscard]] std::string url() const { return "unix://" + process_.address.path; }

  void launch() {
    kill();
    std::promise<void> launched;
    std::future<void> result = launched.get_future();
    keeper_ = std::thread([this, launched = std::move(launched)]() mutable {
      // The test's signal handlers run in threads of the test.
      sigset_t all;
      sigfillset(&all);
      static_cast<void>(::pthread_sigmask(SIG_SETMASK, &all, nullptr));
      try {
        static std::mutex one_at_a_time;  // platform::expect_child() knows no threads
        const std::lock_guard lock(one_at_a_time);
        process_.launch({});
      } catch (...) {
        return launched.set_exception(std::current_exception());
      }
      const pid_t pid = process_.pid;
      launched.set_value();
      wait_for(pid, WEXITED);
    });
    result.get();
  }

  void wait_until_ready() const {
    if (!process_.wait_until_ready()) fail("redis-server ended: " + process_.last_log_line());
  }

  void signal(int number) const {
    if (!runs() || ::kill(process_.pid, number) != 0) fail("the node was killed");
    if (number == SIGSTOP) wait_for(process_.pid, WSTOPPED | WEXITED);
  }

  [[nodiscard]] bool runs() const noexcept { return process_.pid > 0; }

  void kill() noexcept {
    if (runs()) static_cast<void>(::kill(process_.pid, SIGKILL));
    if (keeper_.joinable()) keeper_.join();
    process_.end();
  }

 private:
  const pid_t owner_ = ::getpid();
  cli::PrivateServer process_;
  std::thread keeper_{};
};

}  // namespace

class TestDeployment::Impl {
 public:
  Impl(std::size_t nodes, std::chrono::milliseconds max_ttl) {
    const std::string program = cli::find_server();
    if (program.empty()) fail("neither redis-server nor valkey-server is in PATH");
    options_.max_ttl = max_ttl;
    for (std::size_t node = 0; node < nodes; ++node) {
      cli::PrivateServer process;
      process.program = program;
      process.directory = directory_.path();
      process.number = node;
      process.address.path = process.file("sock");
      servers_.push_back(std::make_unique<Server>(std::move(process)));
      servers_.back()->launch();
      options_.nodes.push_back(servers_.back()->url());
    }
    for (const auto& server : servers_) server->wait_until_ready();
    ClientOptions patient = options_;
    patient.node.shortest_timeout = patient.node.longest_timeout = std::chrono::seconds{20};
    static_cast<void>(required(admin::bootstrap(patient)));
  }

  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
  [[nodiscard]] Server& server(std::size_t node) {
    if (node < servers_.size()) return *servers_[node];
    throw std::out_of_range("redlock::TestDeployment: there is no node " + std::to_string(node) +
                            ": there are " + std::to_string(servers_.size()) + ", numbered from 0");
  }

  /// The client that is not under test.
  Client& other() {
    if (!other_) {
      ClientOptions options = options_;
      options.name = "another client";
      other_ = required(Client::create(std::move(options)));
    }
    return *other_;
  }

 private:
  Directory directory_{};
  std::vector<std::unique_ptr<Server>> servers_{};
  ClientOptions options_{};
  std::optional<Client> other_{};
};

TestDeployment::TestDeployment(std::size_t nodes, std::chrono::milliseconds max_ttl)
    : impl_(std::make_unique<Impl>(nodes, max_ttl)) {}

TestDeployment::~TestDeployment() = default;

ClientOptions TestDeployment::options() const { return impl_->options(); }
void TestDeployment::stop(std::size_t node) { impl_->server(node).signal(SIGSTOP); }
void TestDeployment::resume(std::size_t node) { impl_->server(node).signal(SIGCONT); }
void TestDeployment::kill(std::size_t node) { impl_->server(node).kill(); }

void TestDeployment::start(std::size_t node) {
  Server& server = impl_->server(node);
  if (server.runs()) fail("the node runs already");
  server.launch();
  server.wait_until_ready();
}

void TestDeployment::wait_until_all_vote() {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + 2 * options().max_ttl + std::chrono::seconds{10};
  // This client makes nodes members again, also if the program under test has none now. It may not
  // have noticed yet that a node is down.
  static_cast<void>(impl_->other());
  for (;;) {
    const auto check = required(admin::check(options()));
    if (std::all_of(check.nodes.begin(), check.nodes.end(),
                    [](const admin::NodeCheck& node) { return node.votes; })) {
      return;
    }
    if (steady_clock::now() > deadline) fail("not all nodes vote");
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

Lease TestDeployment::hold(Target target, AcquireOptions options) {
  options.ttl = std::min(options.ttl, impl_->options().max_ttl);
  return required(impl_->other().try_acquire(std::move(target), std::move(options)));
}

void TestDeployment::break_lock(std::string_view resource) {
  const Inspection inspection = required(impl_->other().inspect(resource));
  std::vector<Token> tokens;
  for (const NodeInspection& node : inspection.nodes) {
    tokens.insert(tokens.end(), node.tokens.begin(), node.tokens.end());
    if (node.holder) tokens.push_back(*node.holder);
  }
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  std::size_t broken = 0;
  for (const Token& token : tokens) {
    broken += impl_->other().break_lock(resource, token) ? 1U : 0U;
  }
  if (broken == 0) fail("nobody holds '" + std::string(resource) + "'");
}

}  // namespace REDLOCK_ABI
}  // namespace redlock
