#include "quorum-lock/supervisor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <stop_token>
#include <system_error>

namespace redlock::cli {
namespace {

using std::chrono::nanoseconds;

/// How often the rest of a group is looked at that nobody reports the end of.
constexpr auto group_interval = std::chrono::milliseconds{2};
/// How long a process may take to die of SIGKILL before we stop waiting: one that is stuck in the
/// kernel does not come back, and can not do anything either.
constexpr auto death_limit = std::chrono::seconds{2};

BootClock::time_point later(BootClock::time_point from, nanoseconds by) {
  const auto left = BootClock::time_point::max() - from;
  return by > left ? BootClock::time_point::max() : from + by;
}

Descriptor required(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return Descriptor(fd);
}

}  // namespace

Supervisor::Supervisor(const Lease& lease, nanoseconds ttl, LossPlan plan,
                       const ChildProcess& child, const Signals& signals, const Terminal& terminal)
    : lease_(lease),
      plan_(plan),
      ttl_(ttl),
      child_(child),
      signals_(signals),
      terminal_(terminal),
      had_terminal_(terminal.held_by(child.pid())),
      // BOOTTIME, as the lease: after a suspend the command must not run on for what was left.
      timer_(required(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd")),
      lost_(required(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      valid_until_(lease.valid_until()),
      renewed_at_(BootClock::now()) {}

Ending Supervisor::run() {
  const std::stop_callback on_lost(lease_.lost(), [this] {
    const std::uint64_t one = 1;
    // The timer would tell a moment later if this could not.
    if (::write(lost_.get(), &one, sizeof one) < 0) return;
  });
  for (;;) {
    look_at_child();
    look_at_lease();
    if (finished()) break;
    arm_timer();
    std::array<pollfd, 3> watched = {pollfd{signals_.fd(), POLLIN, 0},
                                     pollfd{timer_.get(), POLLIN, 0},
                                     pollfd{lost_.get(), POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "poll");
    }
    for (const int fd : {timer_.get(), lost_.get()}) {
      std::uint64_t count = 0;
      // Empty when it was not this one that woke us.
      if (::read(fd, &count, sizeof count) < 0) continue;
    }
    take_signals();
  }
  ending_.wait_status = *child_status_;
  return ending_;
}

void Supervisor::look_at_lease() {
  const auto now = BootClock::now();
  const auto valid_until = lease_.valid_until();
  if (valid_until > valid_until_) {
    valid_until_ = valid_until;
    renewed_at_ = now;
    ++ending_.renewals;
  }
  switch (phase_) {
    case Phase::running:
      if (child_status_ && lease_.valid()) return;
      if (now >= valid_until_ - plan_.term_lead || !lease_.valid()) begin_termination(now);
      return;
    case Phase::terminating:
      if (now >= kill_at_) kill_group(now);
      return;
    case Phase::killed:
      reap_orphans();
      return;
  }
}

void Supervisor::begin_termination(BootClock::time_point now) {
  ending_.lock = Ending::Lock::lost;
  ending_.silence = now - renewed_at_;
  // What the command leaves behind becomes ours to reap, so that the end of its group can be seen
  // also where process 1 does not reap.
  static_cast<void>(::prctl(PR_SET_CHILD_SUBREAPER, 1));
  if (now >= valid_until_) {
    // Too late for manners: this process was stopped or the machine slept, and somebody else may
    // hold the lock by now.
    kill_group(now);
    return;
  }
  phase_ = Phase::terminating;
  kill_at_ = later(now, plan_.kill_after);
  ending_.last_signal = SIGTERM;
  child_.signal_group(SIGTERM);
  // A stopped process would not see it.
  child_.signal_group(SIGCONT);
}

void Supervisor::kill_group(BootClock::time_point now) {
  phase_ = Phase::killed;
  give_up_at_ = later(now, death_limit);
  if (child_.group_exists()) {
    ending_.last_signal = SIGKILL;
    child_.signal_group(SIGKILL);
  }
}

void Supervisor::take_signals() {
  while (const auto signal = signals_.take()) {
    if (*signal == SIGCONT) {
      if (had_terminal_) terminal_.give_to(child_.pid());
      // If the lease ended while this process was stopped, the command must not run again.
      look_at_lease();
      if (phase_ == Phase::killed) continue;
    }
    if (*signal != SIGCHLD) pass_on(*signal);
  }
}

void Supervisor::pass_on(int signal) {
  if (!child_status_) child_.signal_group(signal);
}

void Supervisor::look_at_child() {
  int status = 0;
  while (!child_status_) {
    const pid_t pid = ::waitpid(child_.pid(), &status, WNOHANG | WUNTRACED);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return;
    if (WIFSTOPPED(status)) {
      on_child_stopped(WSTOPSIG(status));
    } else {
      child_status_ = status;
    }
  }
}

void Supervisor::on_child_stopped(int signal) {
  // By SIGSTOP, or without a terminal: somebody's own doing; the lock is kept for it.
  if (!terminal_.present() || signal == SIGSTOP || phase_ != Phase::running) return;
  if ((signal == SIGTTIN || signal == SIGTTOU) && terminal_.ours()) {
    had_terminal_ = true;
    terminal_.give_to(child_.pid());
    child_.signal_group(SIGCONT);
    return;
  }
  if (!job_control_available()) {
    child_.signal_group(SIGCONT);
    return;
  }
  // Ctrl-Z: the user wants the shell back, so this process stops too. Nothing is renewed meanwhile;
  // see take_signals() for what happens when it is continued too late.
  terminal_.take_back_from(child_.pid());
  static_cast<void>(::kill(0, SIGSTOP));
}

void Supervisor::reap_orphans() const {
  if (!child_status_) return;
  while (::waitpid(-child_.pid(), nullptr, WNOHANG) > 0) {
  }
}

bool Supervisor::finished() const {
  if (!child_status_) return false;
  switch (phase_) {
    case Phase::running:
      return true;
    case Phase::terminating:
      reap_orphans();
      return !child_.group_exists();
    case Phase::killed:
      return !child_.group_exists() || BootClock::now() >= give_up_at_;
  }
  return true;
}

BootClock::time_point Supervisor::next_deadline() const {
  const auto now = BootClock::now();
  switch (phase_) {
    case Phase::running:
      // Often enough to count the renewals, which come at a third of the TTL at the earliest.
      return std::min(valid_until_ - plan_.term_lead,
                      now + std::max<nanoseconds>(ttl_ / 8, group_interval));
    case Phase::terminating:
      return child_status_ ? std::min(kill_at_, now + group_interval) : kill_at_;
    case Phase::killed:
      return now + group_interval;
  }
  return now;
}

void Supervisor::arm_timer() const {
  // Zero would disarm it.
  const auto left = std::max<nanoseconds>(next_deadline() - BootClock::now(), nanoseconds{1});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = (left - seconds).count();
  if (::timerfd_settime(timer_.get(), 0, &spec, nullptr) != 0) {
    throw std::system_error(errno, std::generic_category(), "timerfd_settime");
  }
}

}  // namespace redlock::cli
