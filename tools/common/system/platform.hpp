#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/system/descriptor.hpp"

/// Functions that differ between systems: platform_linux.cpp for Linux, platform_posix.cpp for all
/// others, as well as POSIX can (REDLOCK_PORTABLE=ON compiles that one on Linux too). `own_program`
/// is in files of its own: elsewhere it needs libuv, which redlock::testing does without.
namespace redlock::cli::platform {

// --- Descriptors that no program inherits. -1 with errno when they cannot be made;
// async-signal-safe.

[[nodiscard]] int open_socket(int family, int type) noexcept;
[[nodiscard]] bool open_pipe(std::array<int, 2>& ends) noexcept;
/// Two connected sockets for messages of a few bytes, with an end that the other side sees.
[[nodiscard]] bool open_message_pair(std::array<int, 2>& ends) noexcept;
/// send() without SIGPIPE.
ssize_t send_quietly(int socket, const void* data, std::size_t size) noexcept;
/// Closes all descriptors from this one on, but for one that die_with_parent() needs.
void close_all_from(int first) noexcept;

// --- What poll() can wait for. The constructors throw std::system_error.

/// From another thread.
class Wakeup {
 public:
  Wakeup();
  [[nodiscard]] int fd() const noexcept { return source_.get(); }
  void notify() const noexcept;
  void clear() const noexcept;

 private:
  Descriptor source_;
  Descriptor sink_;
};

/// A time that passes in suspend too. May wake early: after a second where poll() does not know
/// that clock.
class PollTimer {
 public:
  PollTimer();
  void set(std::chrono::nanoseconds from_now);
  /// -1: there is no descriptor, and poll()'s timeout is used.
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] int timeout() const noexcept;
  void clear() const noexcept;

 private:
  Descriptor fd_;
  std::chrono::nanoseconds from_now_{};
};

/// Signals that all threads block, in the order of their arrival.
class SignalQueue {
 public:
  explicit SignalQueue(const sigset_t& blocked);
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;
  [[nodiscard]] int fd() const noexcept;
  [[nodiscard]] std::optional<int> take() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// For a process of one thread that blocks all signals: a descriptor that SIGCHLD makes readable.
[[nodiscard]] int open_child_signals() noexcept;
void clear_child_signals(int fd) noexcept;

// --- Processes. Async-signal-safe, but for own_program().

/// In the parent before it forks, and in the child once it leads a process group of its own: from
/// then on SIGKILL ends it when its parent ends. False with errno.
[[nodiscard]] bool expect_child() noexcept;
[[nodiscard]] bool die_with_parent() noexcept;

/// Orphans among this process' descendants become its children, if the system can do that. False
/// with errno.
[[nodiscard]] bool adopt_orphans() noexcept;

/// Whether a process still runs that was started by a command (a child of this process that was
/// reaped) and that waitpid() does not report. On systems that adopt no orphans: its process group.
[[nodiscard]] bool has_strangers(pid_t group) noexcept;

/// Sets the name that the process list shows and killall(1) finds; does nothing if a process cannot
/// be renamed.
void name_process(const char* name) noexcept;

/// The children of a process of one thread, at a moment.
class Children {
 public:
  Children() noexcept;
  /// False: they cannot be listed.
  [[nodiscard]] bool known() const noexcept { return list_.valid(); }
  /// The next child; 0: no more.
  [[nodiscard]] pid_t next() noexcept;

 private:
  Descriptor list_;
  std::array<char, 4096> text_{};
  std::size_t position_ = 0;
  std::size_t size_ = 0;
};

/// Of this process, to be executed again.
[[nodiscard]] std::string own_program();
/// CPU time of a process, if the system reports it.
[[nodiscard]] std::optional<std::chrono::nanoseconds> cpu_time_of(pid_t pid) noexcept;
[[nodiscard]] char** environment() noexcept;
/// The processor's name, if the system reports it.
[[nodiscard]] std::string cpu_model();
/// The numbers of the processors that this process may use; empty: the system does not limit them.
[[nodiscard]] std::vector<unsigned> allowed_cpus();
/// Whether a process has mapped a file; false if the system does not report it.
[[nodiscard]] bool has_mapped(pid_t pid, const std::string& file);

}  // namespace redlock::cli::platform
