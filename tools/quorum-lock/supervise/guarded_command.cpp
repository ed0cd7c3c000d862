#include "quorum-lock/supervise/guarded_command.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "common/system/exec_plan.hpp"
#include "common/system/platform.hpp"
#include "quorum-lock/supervise/command_guard.hpp"

namespace redlock::cli {
namespace {

void wait_for_end(pid_t pid) noexcept {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// The first message of the guard: the command's number, or the negative errno of what failed.
pid_t read_start(int link) noexcept {
  pid_t pid = 0;
  ssize_t count = 0;
  do {
    count = ::recv(link, &pid, sizeof pid, 0);
  } while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(sizeof pid) ? pid : -EIO;
}

void order(int link, GuardOrder what) noexcept {
  // If the guard is gone, its command was left to the kernel and to us.
  static_cast<void>(platform::send_quietly(link, &what, sizeof what));
}

}  // namespace

std::variant<GuardedCommand, int> GuardedCommand::start(const ChildRequest& request,
                                                        const Signals& signals) {
  try {
    ExecPlan plan(request, signals.for_children());
    std::array<int, 2> ends{};
    if (!platform::open_message_pair(ends)) return errno;
    Descriptor link(ends[0]);
    Descriptor far_end(ends[1]);
    // If the guard is killed, the processes that it guards become our children.
    if (!platform::adopt_orphans()) return errno;
    const pid_t guard = ::fork();
    if (guard < 0) return errno;
    if (guard == 0) {
      // If the guard kept this end, it would not notice that the holder has gone.
      link.reset();
      guard_command(plan, far_end.get());
    }
    far_end.reset();
    const pid_t pid = read_start(link.get());
    const int error = pid < 0 ? -pid : plan.wait_for_exec();
    if (error == 0) return GuardedCommand(pid, guard, std::move(link));
    order(link.get(), GuardOrder::dismiss);
    wait_for_end(guard);
    // The dead child may have taken the foreground.
    if (request.terminal >= 0) static_cast<void>(::tcsetpgrp(request.terminal, ::getpgrp()));
    return error;
  } catch (const std::system_error& error) {
    return error.code().value();
  }
}

GuardedCommand::GuardedCommand(pid_t pid, pid_t guard, Descriptor link) noexcept
    : pid_(pid), guard_(guard), link_(std::move(link)) {}

GuardedCommand::GuardedCommand(GuardedCommand&& other) noexcept
    : pid_(other.pid_),
      guard_(std::exchange(other.guard_, -1)),
      link_(std::move(other.link_)),
      adopted_(other.adopted_),
      number_(other.number_) {}

GuardedCommand::~GuardedCommand() {
  if (guard_ < 0) return;
  order(link_.get(), GuardOrder::dismiss);
  wait_for_end(guard_);
}

std::optional<CommandEvent> GuardedCommand::next() {
  if (adopted_ != Adopted::no) return look_at_own_child();
  continue_guard();
  CommandEvent event{};
  const ssize_t count = ::recv(link_.get(), &event, sizeof event, MSG_DONTWAIT);
  if (count == static_cast<ssize_t>(sizeof event)) {
    if (event.kind == CommandEvent::Kind::ended) number_ = Number::free_for_others;
    return event;
  }
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  return lose_guard();
}

void GuardedCommand::continue_guard() const noexcept {
  siginfo_t stop{};
  // WSTOPPED only: lose_guard() collects the guard's end.
  const int found = ::waitid(P_PID, static_cast<id_t>(guard_), &stop, WSTOPPED | WNOHANG);
  if (found == 0 && stop.si_pid == guard_) static_cast<void>(::kill(guard_, SIGCONT));
}

std::optional<CommandEvent> GuardedCommand::lose_guard() {
  link_.reset();
  wait_for_end(std::exchange(guard_, -1));
  adopted_ = Adopted::running;
  // The command is killed now: nobody would end it if this process were killed.
  static_cast<void>(::kill(-pid_, SIGKILL));
  return CommandEvent{CommandEvent::Kind::guard_lost, 0};
}

std::optional<CommandEvent> GuardedCommand::look_at_own_child() {
  if (adopted_ == Adopted::all_reported) return std::nullopt;
  if (adopted_ == Adopted::running) {
    int status = 0;
    const pid_t pid = ::waitpid(pid_, &status, WNOHANG | WUNTRACED);
    if (pid == 0 || (pid < 0 && errno == EINTR)) return std::nullopt;
    if (pid > 0 && WIFSTOPPED(status)) {
      return CommandEvent{CommandEvent::Kind::stopped, WSTOPSIG(status)};
    }
    adopted_ = Adopted::ended;
    number_ = Number::free_for_others;
    // The guard may have reaped the command and died before it could report that: then nobody knows
    // the status.
    constexpr int killed_status = SIGKILL;
    return CommandEvent{CommandEvent::Kind::ended, pid > 0 ? status : killed_status};
  }
  while (::waitpid(-pid_, nullptr, WNOHANG) > 0) {
  }
  if (::kill(-pid_, 0) == 0 || errno == EPERM) return std::nullopt;
  adopted_ = Adopted::all_reported;
  return CommandEvent{CommandEvent::Kind::nothing_left, 0};
}

GuardedCommand::Delivery GuardedCommand::signal_group(int signal) const noexcept {
  if (::kill(-pid_, signal) != 0 && errno == EPERM) return Delivery::refused;
  // The call above succeeds if any process of the group may be signalled, so the command itself is
  // checked.
  return ::kill(pid_, 0) != 0 && errno == EPERM ? Delivery::refused : Delivery::done;
}

GuardedCommand::Delivery GuardedCommand::kill_everything() const noexcept {
  if (adopted_ == Adopted::no) order(link_.get(), GuardOrder::kill);
  return number_ == Number::ours ? signal_group(SIGKILL) : Delivery::done;
}

}  // namespace redlock::cli
