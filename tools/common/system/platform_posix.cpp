#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <thread>

#include "common/system/platform.hpp"

#if defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
#define REDLOCK_HAS_CLOSEFROM
#elif defined(__GLIBC__) && !defined(REDLOCK_OLD_LIBC)
#if __GLIBC_PREREQ(2, 34)
#define REDLOCK_HAS_CLOSEFROM
#endif
#endif

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): not in every unistd.h

namespace redlock::cli::platform {
namespace {

bool close_on_exec(int fd) noexcept { return ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0; }

void prevent_sigpipe([[maybe_unused]] int socket) noexcept {
#ifdef SO_NOSIGPIPE
  const int on = 1;
  static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on));
#endif
}

/// A pipe neither of whose ends blocks.
bool open_waking_pipe(std::array<int, 2>& ends) noexcept {
  return open_pipe(ends) && ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 &&
         ::fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0;
}

void open_waking_pipe(Descriptor& source, Descriptor& sink) {
  std::array<int, 2> ends{-1, -1};
  const bool opened = open_waking_pipe(ends);
  const int error = errno;
  source = Descriptor(ends[0]);
  sink = Descriptor(ends[1]);
  if (!opened) throw std::system_error(error, std::generic_category(), "pipe");
}

void write_byte(int fd, unsigned char byte) noexcept {
  // A full pipe wakes as well.
  while (::write(fd, &byte, 1) < 0 && errno == EINTR) {
  }
}

void drain(int fd) noexcept {
  std::array<char, 256> bytes{};
  while (::read(fd, bytes.data(), bytes.size()) > 0) {
  }
}

/// Ends when this process ends, and then not before: nobody writes to it, and no other process
/// keeps its sink. Made anew by a forked child that has children itself.
struct LifeLine {
  pid_t owner = 0;
  int source = -1;
  int sink = -1;
} life_line;

int child_signals_sink = -1;

}  // namespace

int open_socket(int family, int type) noexcept {
  const int fd = ::socket(family, type, 0);
  if (fd >= 0) {
    static_cast<void>(close_on_exec(fd));
    prevent_sigpipe(fd);
  }
  return fd;
}

bool open_pipe(std::array<int, 2>& ends) noexcept {
  return ::pipe(ends.data()) == 0 && close_on_exec(ends[0]) && close_on_exec(ends[1]);
}

bool open_message_pair(std::array<int, 2>& ends) noexcept {
  // Not every system has SOCK_SEQPACKET here. A few bytes are not torn: each side's messages have
  // one size, and fit into the buffer many times over.
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return false;
  for (const int end : ends) prevent_sigpipe(end);
  return close_on_exec(ends[0]) && close_on_exec(ends[1]);
}

ssize_t send_quietly(int socket, const void* data, std::size_t size) noexcept {
#ifdef MSG_NOSIGNAL
  return ::send(socket, data, size, MSG_NOSIGNAL);
#else
  return ::send(socket, data, size, 0);
#endif
}

void close_all_from(int first) noexcept {
  if (life_line.owner == ::getpid() && life_line.sink >= first) {
    if (life_line.sink != first) life_line.sink = ::dup2(life_line.sink, first);
    static_cast<void>(close_on_exec(first));
    ++first;
  }
#ifdef REDLOCK_HAS_CLOSEFROM
  static_cast<void>(::closefrom(first));
#else
  const long end = ::sysconf(_SC_OPEN_MAX);
  for (long fd = first; fd < end; ++fd) static_cast<void>(::close(static_cast<int>(fd)));
#endif
}

Wakeup::Wakeup() { open_waking_pipe(source_, sink_); }

void Wakeup::notify() const noexcept { write_byte(sink_.get(), 1); }

void Wakeup::clear() const noexcept { drain(source_.get()); }

PollTimer::PollTimer() = default;

void PollTimer::set(std::chrono::nanoseconds from_now) { from_now_ = from_now; }

int PollTimer::timeout() const noexcept {
  using std::chrono::milliseconds;
  // The clock of poll() may stop in suspend.
  constexpr milliseconds longest(1000);
  const auto rounded =
      std::chrono::ceil<milliseconds>(std::min<std::chrono::nanoseconds>(from_now_, longest));
  return static_cast<int>(std::max(rounded, milliseconds(0)).count());
}

void PollTimer::clear() const noexcept {}

/// A thread waits for the signals: so they stay blocked everywhere, and interrupt nothing.
struct SignalQueue::State {
  explicit State(const sigset_t& blocked) : signals(blocked) {
    open_waking_pipe(source, sink);
    struct sigaction action {};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGCHLD, SIGCONT, SIGWINCH}) {
      // If they are ignored by default, they need not become pending. A handler does not outlive
      // the exec of a child, and this one does nothing.
      if (sigismember(&signals, signal) == 1) ::sigaction(signal, &action, nullptr);
    }
    thread = std::thread([this] { run(); });
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    finished = true;
    static_cast<void>(::pthread_kill(thread.native_handle(), SIGCHLD));
    thread.join();
  }

  void run() const noexcept {
    for (;;) {
      int signal = 0;
      if (::sigwait(&signals, &signal) != 0) continue;
      if (finished) return;
      write_byte(sink.get(), static_cast<unsigned char>(signal));
    }
  }

  sigset_t signals;
  Descriptor source;
  Descriptor sink;
  std::atomic<bool> finished = false;
  std::thread thread;
};

SignalQueue::SignalQueue(const sigset_t& blocked) : state_(std::make_unique<State>(blocked)) {}

SignalQueue::~SignalQueue() = default;

int SignalQueue::fd() const noexcept { return state_->source.get(); }

std::optional<int> SignalQueue::take() const noexcept {
  unsigned char signal = 0;
  if (::read(fd(), &signal, 1) != 1) return std::nullopt;
  return signal;
}

int open_child_signals() noexcept {
  std::array<int, 2> ends{};
  if (!open_waking_pipe(ends)) return -1;
  child_signals_sink = ends[1];
  struct sigaction action {};
  action.sa_handler = [](int) {
    const int error = errno;
    write_byte(child_signals_sink, 1);
    errno = error;
  };
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  if (::sigaction(SIGCHLD, &action, nullptr) != 0) return -1;
  return ::sigprocmask(SIG_UNBLOCK, &child, nullptr) == 0 ? ends[0] : -1;
}

void clear_child_signals(int fd) noexcept { drain(fd); }

bool expect_child() noexcept {
  if (life_line.owner == ::getpid()) return true;
  if (life_line.owner != 0) {
    static_cast<void>(::close(life_line.source));
    static_cast<void>(::close(life_line.sink));
    life_line = {};
  }
  std::array<int, 2> ends{};
  if (!open_pipe(ends)) return false;
  life_line = {::getpid(), ends[0], ends[1]};
  return true;
}

namespace {

/// Kills its process group if the life line ends before the leader. As long as it runs, no other
/// group and no other process can have that number.
[[noreturn]] void watch_life_line(pid_t leader) noexcept {
  constexpr int interval_ms = 50;
  sigset_t all;
  sigfillset(&all);
  static_cast<void>(::sigprocmask(SIG_SETMASK, &all, nullptr));
  // Nothing else may be kept open: pipes whose readers wait.
  if (::dup2(life_line.source, 0) < 0) ::_exit(1);
  close_all_from(1);
  for (;;) {
    pollfd watched{0, POLLIN, 0};
    const bool orphaned = ::poll(&watched, 1, interval_ms) > 0;
    if (::kill(leader, 0) != 0 && errno == ESRCH) {
      // Until it is reaped, it would count as one of the group.
      static_cast<void>(::setpgid(0, 0));
      ::_exit(0);
    }
    if (orphaned) static_cast<void>(::kill(0, SIGKILL));
  }
}

}  // namespace

bool die_with_parent() noexcept {
  const pid_t self = ::getpid();
  const pid_t starter = ::fork();
  if (starter < 0) return false;
  if (starter == 0) {
    // Nobody's child: this process may wait for all of its own.
    const pid_t watcher = ::fork();
    if (watcher == 0) watch_life_line(self);
    ::_exit(watcher < 0 ? errno : 0);
  }
  int status = 0;
  while (::waitpid(starter, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
  return errno == 0;
}

bool adopt_orphans() noexcept { return true; }

bool has_strangers(pid_t group) noexcept { return ::kill(-group, 0) == 0 || errno == EPERM; }

void name_process(const char* /*name*/) noexcept {}

Children::Children() noexcept = default;

pid_t Children::next() noexcept {
  // Only if there is a list to read.
  static_cast<void>(text_);
  static_cast<void>(position_);
  static_cast<void>(size_);
  return 0;
}

std::optional<std::chrono::nanoseconds> cpu_time_of([[maybe_unused]] pid_t pid) noexcept {
#if defined(_POSIX_CPUTIME) && _POSIX_CPUTIME >= 0
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
#else
  return std::nullopt;
#endif
}

char** environment() noexcept { return environ; }

std::string cpu_model() { return {}; }
std::vector<unsigned> allowed_cpus() { return {}; }

bool has_mapped(pid_t /*pid*/, const std::string& /*file*/) { return false; }

}  // namespace redlock::cli::platform
