#include "support/spawn.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <semaphore>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <linux/close_range.h>

#include "support/sockets.hpp"

namespace redlock::test {
namespace {

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const auto end = rest.find(':');
    std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  errno = ENOENT;
  throw_errno("no such program: " + name);
}

std::string_view variable_name(std::string_view entry) { return entry.substr(0, entry.find('=')); }

std::vector<std::string> merged_environment(const std::vector<std::string>& additions) {
  std::vector<std::string> result = additions;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool replaced = false;
    for (const auto& addition : additions) {
      replaced = replaced || variable_name(addition) == variable_name(*entry);
    }
    if (!replaced) result.emplace_back(*entry);
  }
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

// Above 2, so that setting up one standard stream cannot overwrite the source of another.
Fd high_copy(int fd) {
  const Fd null(fd >= 0 ? -1 : ::open("/dev/null", O_RDWR | O_CLOEXEC));
  Fd copy(::fcntl(fd >= 0 ? fd : null.get(), F_DUPFD_CLOEXEC, 3));
  if (!copy.valid()) throw_errno("dup");
  return copy;
}

/// All that the child needs, prepared before the fork: between fork and exec only functions that
/// are safe in a signal handler may run, because another thread may have held the allocator.
struct Prepared {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<char*> argument_pointers;
  std::vector<char*> environment_pointers;
  std::string directory;
  std::array<Fd, 3> streams;
  ProcessGroup group;
  pid_t parent;
};

// Runs after a fork that a sanitizer has not followed.
[[noreturn]] void become(const Prepared& prepared, int error_pipe) noexcept {
  const auto give_up = [error_pipe]() {
    const int error = errno;
    static_cast<void>(!::write(error_pipe, &error, sizeof error));
    ::_exit(127);
  };
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up();
  // The parent may have died before the line above: nobody would be left to end this child.
  if (::getppid() != prepared.parent) ::_exit(127);
  if (prepared.group == ProcessGroup::own && ::setpgid(0, 0) != 0) give_up();
  sigset_t none;
  ::sigemptyset(&none);
  if (::sigprocmask(SIG_SETMASK, &none, nullptr) != 0) give_up();
  // Ignored signals stay ignored over exec, and a tested program must meet the usual world.
  for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) {
    if (::signal(number, SIG_DFL) == SIG_ERR) give_up();
  }
  for (int stream = 0; stream < 3; ++stream) {
    if (::dup2(prepared.streams[static_cast<std::size_t>(stream)].get(), stream) < 0) give_up();
  }
  // A connection leaked into a child would stay open after the test closed it. If the kernel lacks
  // the call, close-on-exec at each open is the only defence.
  static_cast<void>(::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC));
  if (!prepared.directory.empty() && ::chdir(prepared.directory.c_str()) != 0) give_up();
  ::execve(prepared.program.c_str(), prepared.argument_pointers.data(),
           prepared.environment_pointers.data());
  give_up();
  ::_exit(127);
}

pid_t fork_and_exec(const SpawnRequest& request) {
  Prepared prepared{
      find_program(request.arguments.at(0)),
      request.arguments,
      merged_environment(request.environment),
      {},
      {},
      request.directory.native(),
      {high_copy(request.input), high_copy(request.output), high_copy(request.errors)},
      request.group,
      ::getpid()};
  prepared.argument_pointers = pointers(prepared.arguments);
  prepared.environment_pointers = pointers(prepared.environment);

  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe");
  const Fd error_source(ends[0]);
  Fd error_sink(ends[1]);
  if (error_sink.get() < 3) error_sink = high_copy(error_sink.get());
  const pid_t pid = ::fork();
  if (pid < 0) throw_errno("fork");
  if (pid == 0) become(prepared, error_sink.get());
  error_sink.reset();
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(error_source.get(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  if (count == 0) return pid;
  ::waitpid(pid, nullptr, 0);
  errno = error;
  throw_errno("start " + prepared.program);
}

class Spawner {
 public:
  Spawner() : owner_(::getpid()), thread_([this] { run(); }) {}

  ~Spawner() {
    if (::getpid() != owner_) {
      // In a forked copy of the process the thread does not exist and could not be joined.
      thread_.detach();
      return;
    }
    changed_.release();
    thread_.join();
  }

  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  pid_t start(const SpawnRequest& request) {
    if (::getpid() != owner_) return fork_and_exec(request);
    std::packaged_task<pid_t()> task([&request] { return fork_and_exec(request); });
    auto result = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.release();
    return result.get();
  }

 private:
  void run() {
    for (;;) {
      changed_.acquire();
      std::unique_lock lock(mutex_);
      if (tasks_.empty()) return;
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  const pid_t owner_;
  std::mutex mutex_;
  // Released once for each task, and once more at the end. Not a condition variable: destroying one
  // that is waited on blocks, and in a forked copy the waiting thread does not exist.
  std::counting_semaphore<> changed_{0};
  std::deque<std::packaged_task<pid_t()>> tasks_;
  std::thread thread_;
};

}  // namespace

pid_t spawn(const SpawnRequest& request) {
  static Spawner spawner;
  return spawner.start(request);
}

}  // namespace redlock::test
