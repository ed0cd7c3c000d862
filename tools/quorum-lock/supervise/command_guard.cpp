#include "quorum-lock/supervise/command_guard.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "common/system/platform.hpp"
#include "quorum-lock/supervise/guarded_command.hpp"

namespace redlock::cli {
namespace {

/// How long the guard sleeps between two rounds of killing: a killed process leaves children of its
/// own.
constexpr int quick_sweep_ms = 2;
constexpr int patient_sweep_ms = 100;
constexpr int quick_sweeps = 500;
/// How often it checks for processes whose end the kernel does not report to it.
constexpr int strangers_ms = 10;

void send_message(int link, const void* message, std::size_t size) noexcept {
  // A failure to send cannot be reported.
  static_cast<void>(platform::send_quietly(link, message, size));
}

class Guard {
 public:
  Guard(pid_t command, int link, int signals) noexcept
      : command_(command), link_(link), signals_(signals) {}

  [[noreturn]] void run() noexcept {
    reap();
    for (;;) {
      // A link that has ended would be readable for ever.
      std::array<pollfd, 2> watched = {pollfd{signals_, POLLIN, 0},
                                       pollfd{holder_ == Holder::there ? link_ : -1, POLLIN, 0}};
      static_cast<void>(::poll(watched.data(), watched.size(), timeout()));
      platform::clear_child_signals(signals_);
      if (watched[1].revents != 0) take_order();
      if (killing_ == Killing::yes) sweep();
      reap();
    }
  }

 private:
  enum class Holder { there, gone };
  enum class Killing { no, yes };

  [[nodiscard]] int timeout() const noexcept {
    if (killing_ == Killing::no) return strangers_ ? strangers_ms : -1;
    return sweeps_ < quick_sweeps ? quick_sweep_ms : patient_sweep_ms;
  }

  void tell(CommandEvent::Kind kind, int value) const noexcept {
    const CommandEvent event{kind, value};
    if (holder_ == Holder::there) send_message(link_, &event, sizeof event);
  }

  void take_order() noexcept {
    GuardOrder order{};
    const ssize_t count = ::recv(link_, &order, sizeof order, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count != static_cast<ssize_t>(sizeof order)) {
      holder_ = Holder::gone;
    } else if (order == GuardOrder::dismiss) {
      ::_exit(0);
    }
    if (killing_ == Killing::no) {
      killing_ = Killing::yes;
      // Kills the whole group at once; then the tree is searched for processes that have left the
      // group.
      if (!reaped_) static_cast<void>(::kill(-command_, SIGKILL));
    }
  }

  /// Kills every child. The children of a killed process become ours, and are killed in the next
  /// round.
  void sweep() noexcept {
    ++sweeps_;
    platform::Children children;
    if (!children.known()) {
      // Only the group can be found, until it has ended and another group can have its number.
      if (!told_end_) static_cast<void>(::kill(-command_, SIGKILL));
      return;
    }
    while (const pid_t pid = children.next()) end_child(pid);
  }

  void end_child(pid_t pid) noexcept {
    if (::kill(pid, SIGKILL) == 0 || errno != EPERM) return;
    if (refused_ != pid) tell(CommandEvent::Kind::refused, pid);
    refused_ = pid;
  }

  void reap() noexcept {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
      if (pid == 0) return;
      if (pid < 0) {
        if (errno == EINTR) continue;
        on_nothing_left();
        return;
      }
      if (pid != command_) continue;
      if (WIFSTOPPED(status)) {
        tell(CommandEvent::Kind::stopped, WSTOPSIG(status));
      } else {
        reaped_ = true;
        tell(CommandEvent::Kind::ended, status);
      }
    }
  }

  void on_nothing_left() noexcept {
    strangers_ = !told_end_ && platform::has_strangers(command_);
    if (strangers_) return;
    if (holder_ == Holder::gone) ::_exit(0);
    killing_ = Killing::no;
    if (told_end_) return;
    told_end_ = true;
    tell(CommandEvent::Kind::nothing_left, 0);
  }

  pid_t command_;
  int link_;
  int signals_;
  Holder holder_ = Holder::there;
  Killing killing_ = Killing::no;
  int sweeps_ = 0;
  pid_t refused_ = 0;
  bool reaped_ = false;
  bool told_end_ = false;
  bool strangers_ = false;  // no child is left, but some that are not our children
};

/// A pipe that holds the command back until the holder can know its number. If the guard were
/// killed before that, nobody would know of a running command.
class Gate {
 public:
  [[nodiscard]] bool make() noexcept { return platform::open_pipe(ends_); }

  void open() const noexcept { static_cast<void>(::write(ends_[1], "", 1)); }

  /// False: the guard has died.
  [[nodiscard]] bool pass() const noexcept {
    // This end would hide the guard's death.
    ::close(ends_[1]);
    char byte = 0;
    ssize_t count = 0;
    do {
      count = ::read(ends_[0], &byte, 1);
    } while (count < 0 && errno == EINTR);
    return count == 1;
  }

 private:
  std::array<int, 2> ends_{};
};

[[noreturn]] void fail_to_start(int link) noexcept {
  const pid_t failure = -errno;
  send_message(link, &failure, sizeof failure);
  ::_exit(1);
}

}  // namespace

void guard_command(const ExecPlan& plan, int link) noexcept {
  sigset_t all;
  sigfillset(&all);
  if (::sigprocmask(SIG_SETMASK, &all, nullptr) != 0 || ::setpgid(0, 0) != 0 ||
      !platform::adopt_orphans() || !platform::expect_child()) {
    fail_to_start(link);
  }
  // The guard has a name of its own: `killall -9 quorum-lock` must leave it alive to end the
  // command.
  platform::name_process("lock-guard");
  const pid_t self = ::getpid();
  Gate gate;
  if (!gate.make()) fail_to_start(link);
  const pid_t command = ::fork();
  if (command < 0) fail_to_start(link);
  if (command == 0) {
    if (!gate.pass()) ::_exit(1);
    plan.become(self);
  }
  static_cast<void>(::setpgid(command, command));
  send_message(link, &command, sizeof command);
  gate.open();

  // None of the holder's descriptors may stay open: connections, and pipes whose readers wait for
  // the end.
  if (::dup2(link, 0) < 0) ::_exit(1);
  platform::close_all_from(1);
  const int signals = platform::open_child_signals();
  // The command dies with us.
  if (signals < 0) ::_exit(1);
  Guard(command, 0, signals).run();
}

}  // namespace redlock::cli
