#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string_view>
#include <system_error>

#include "common/system/platform.hpp"

namespace redlock::cli::platform {
namespace {

Descriptor required(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return Descriptor(fd);
}

/// In one call: of Linux 5.9, whose number glibc knows from 2.32 on.
bool close_range_from([[maybe_unused]] int first) noexcept {
#if defined(SYS_close_range) && !defined(REDLOCK_OLD_LIBC)
  return ::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0;
#else
  return false;
#endif
}

/// Those that /proc lists. Without opendir(), which allocates.
bool close_listed_from(int first) noexcept {
  const int list = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (list < 0) return false;
  // As the kernel writes an entry: two numbers of 8 bytes, its size, its type, its name.
  constexpr std::size_t size_at = 16;
  constexpr std::size_t name_at = 19;
  std::array<char, 2048> entries{};
  long size = 0;
  while ((size = ::syscall(SYS_getdents64, list, entries.data(), entries.size())) > 0) {
    const char* const end = entries.data() + size;
    std::uint16_t entry_size = 0;
    for (const char* entry = entries.data(); entry < end; entry += entry_size) {
      std::memcpy(&entry_size, entry + size_at, sizeof entry_size);
      int fd = 0;
      const char* name = entry + name_at;
      for (; *name >= '0' && *name <= '9'; ++name) fd = fd * 10 + (*name - '0');
      // "." and ".." begin with no digit.
      if (name != entry + name_at && fd >= first && fd != list) static_cast<void>(::close(fd));
    }
  }
  static_cast<void>(::close(list));
  return size == 0;
}

}  // namespace

int open_socket(int family, int type) noexcept { return ::socket(family, type | SOCK_CLOEXEC, 0); }

bool open_pipe(std::array<int, 2>& ends) noexcept { return ::pipe2(ends.data(), O_CLOEXEC) == 0; }

bool open_message_pair(std::array<int, 2>& ends) noexcept {
  return ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0;
}

ssize_t send_quietly(int socket, const void* data, std::size_t size) noexcept {
  return ::send(socket, data, size, MSG_NOSIGNAL);
}

void close_all_from(int first) noexcept {
  // The last way takes minutes if the limit is a billion, as in some containers.
  if (close_range_from(first) || close_listed_from(first)) return;
  const long end = ::sysconf(_SC_OPEN_MAX);
  for (long fd = first; fd < end; ++fd) static_cast<void>(::close(static_cast<int>(fd)));
}

Wakeup::Wakeup() : source_(required(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}

void Wakeup::notify() const noexcept {
  const std::uint64_t one = 1;
  while (::write(source_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void Wakeup::clear() const noexcept {
  std::uint64_t count = 0;
  // Empty when nobody has notified.
  if (::read(source_.get(), &count, sizeof count) < 0) return;
}

PollTimer::PollTimer()
    : fd_(required(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd")) {}

void PollTimer::set(std::chrono::nanoseconds from_now) {
  // Zero would disarm it.
  from_now_ = std::max(from_now, std::chrono::nanoseconds{1});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(from_now_);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = (from_now_ - seconds).count();
  if (::timerfd_settime(fd_.get(), 0, &spec, nullptr) != 0) {
    throw std::system_error(errno, std::generic_category(), "timerfd_settime");
  }
}

int PollTimer::timeout() const noexcept { return -1; }

void PollTimer::clear() const noexcept {
  std::uint64_t count = 0;
  if (::read(fd_.get(), &count, sizeof count) < 0) return;
}

struct SignalQueue::State {
  Descriptor fd;
};

SignalQueue::SignalQueue(const sigset_t& blocked)
    : state_(std::make_unique<State>(
          State{required(::signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd")})) {}

SignalQueue::~SignalQueue() = default;

int SignalQueue::fd() const noexcept { return state_->fd.get(); }

std::optional<int> SignalQueue::take() const noexcept {
  signalfd_siginfo info{};
  if (::read(fd(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

int open_child_signals() noexcept {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  return ::signalfd(-1, &child, SFD_NONBLOCK);
}

void clear_child_signals(int fd) noexcept {
  signalfd_siginfo info{};
  while (::read(fd, &info, sizeof info) > 0) {
  }
}

bool expect_child() noexcept { return true; }

bool die_with_parent() noexcept { return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0; }

bool adopt_orphans() noexcept { return ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

bool has_strangers(pid_t /*group*/) noexcept { return false; }

void name_process(const char* name) noexcept { static_cast<void>(::prctl(PR_SET_NAME, name)); }

Children::Children() noexcept : list_(::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC)) {}

pid_t Children::next() noexcept {
  pid_t pid = 0;
  for (;;) {
    if (position_ == size_) {
      const ssize_t count = ::read(list_.get(), text_.data(), text_.size());
      if (count <= 0) return 0;
      position_ = 0;
      size_ = static_cast<std::size_t>(count);
    }
    const char c = text_[position_++];
    if (c >= '0' && c <= '9') {
      pid = pid * 10 + (c - '0');
    } else if (pid != 0) {
      return pid;
    }
  }
}

std::optional<std::chrono::nanoseconds> cpu_time_of(pid_t pid) noexcept {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

char** environment() noexcept { return environ; }

std::string cpu_model() {
  std::ifstream stream("/proc/cpuinfo");
  constexpr std::string_view name = "model name";
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with(name) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::vector<unsigned> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> allowed;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return allowed;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) allowed.push_back(cpu);
  }
  return allowed;
}

bool has_mapped(pid_t pid, const std::string& file) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/maps");
  // At the end of its line: another file's name may begin like this one's. A process that ends
  // meanwhile ends the lines.
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with(file)) return true;
  }
  return false;
}

}  // namespace redlock::cli::platform
