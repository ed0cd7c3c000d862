#include "quorum-lock/supervise/supervisor.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stop_token>
#include <system_error>

#include "common/session/output.hpp"

namespace redlock::cli {

using std::chrono::nanoseconds;

Supervisor::Supervisor(const Lease& lease, const LeaseSeen& since, nanoseconds ttl, LossPlan plan,
                       GuardedCommand& command, const Signals& signals, const Terminal& terminal)
    : lease_(lease),
      command_(command),
      signals_(signals),
      terminal_(terminal),
      had_terminal_(terminal.held_by(command.pid())),
      supervision_(plan, ttl, since.at, since.valid_until) {}

Ending Supervisor::run(const std::function<void()>& on_losing) {
  on_losing_ = on_losing;
  const std::stop_callback on_lost(lease_.lost(), [this] { lost_.notify(); });
  for (;;) {
    take_events();
    look_at_lease();
    if (supervision_.finished(BootClock::now())) return supervision_.ending();
    arm_timer();
    wait_for_something();
    take_signals();
  }
}

void Supervisor::look_at_lease() {
  // The deadline is read before the state, so that a renewal in between is not taken for the end.
  const auto valid_until = lease_.valid_until();
  using State = Supervision::LeaseView::State;
  const State state = lease_.valid() ? State::live : State::over;
  const Supervision::Order order = supervision_.look(BootClock::now(), {valid_until, state});
  if (supervision_.is_losing() && !said_losing_) {
    said_losing_ = true;
    on_losing_();
  }
  carry_out(order);
}

void Supervisor::carry_out(Supervision::Order order) {
  using Delivery = GuardedCommand::Delivery;
  switch (order) {
    case Supervision::Order::none:
      return;
    case Supervision::Order::terminate:
      if (command_.signal_group(SIGTERM) == Delivery::refused) on_refused(command_.pid());
      // A stopped process would not handle SIGTERM.
      static_cast<void>(command_.signal_group(SIGCONT));
      return;
    case Supervision::Order::kill:
      if (command_.kill_everything() == Delivery::refused) on_refused(command_.pid());
      return;
  }
}

void Supervisor::on_refused(pid_t pid) {
  supervision_.signal_refused();
  if (said_refused_) return;
  said_refused_ = true;
  print_error(fmt::format(
      "process {} of the command runs as another user and cannot be signalled: it cannot be {}",
      pid, supervision_.is_losing() ? "ended" : "sent signals or ended"));
}

void Supervisor::take_signals() {
  while (const auto signal = signals_.take()) {
    if (*signal == SIGCONT) {
      if (had_terminal_) terminal_.give_to(command_.pid());
      // If the lease ended while this process was stopped, the command must not run again.
      look_at_lease();
      if (supervision_.ending().sent == Ending::Sent::kill) continue;
    }
    if (*signal != SIGCHLD) pass_on(*signal);
  }
}

void Supervisor::pass_on(int signal) {
  if (supervision_.ending().wait_status) return;
  if (command_.signal_group(signal) == GuardedCommand::Delivery::refused) {
    on_refused(command_.pid());
  }
}

void Supervisor::take_events() {
  while (const auto event = command_.next()) {
    switch (event->kind) {
      case CommandEvent::Kind::stopped:
        on_stopped(event->value);
        break;
      case CommandEvent::Kind::ended:
        supervision_.command_ended(event->value);
        break;
      case CommandEvent::Kind::nothing_left:
        supervision_.nothing_left();
        break;
      case CommandEvent::Kind::refused:
        on_refused(event->value);
        break;
      case CommandEvent::Kind::guard_lost:
        print_error("the guard of the command was killed, so the command gets SIGKILL");
        break;
    }
  }
}

void Supervisor::on_stopped(int signal) {
  // Somebody has stopped the command on purpose, by SIGSTOP or without a terminal: the lock is kept
  // for it.
  if (!terminal_.present() || signal == SIGSTOP || supervision_.is_losing()) return;
  if ((signal == SIGTTIN || signal == SIGTTOU) && terminal_.ours()) {
    had_terminal_ = true;
    terminal_.give_to(command_.pid());
    static_cast<void>(command_.signal_group(SIGCONT));
    return;
  }
  if (!job_control_available()) {
    static_cast<void>(command_.signal_group(SIGCONT));
    return;
  }
  // Ctrl-Z: the user wants the shell back, so this process stops too. Nothing is renewed meanwhile;
  // see take_signals() for what happens when it is continued too late.
  terminal_.take_back_from(command_.pid());
  static_cast<void>(::kill(0, SIGSTOP));
}

void Supervisor::wait_for_something() const {
  std::array<pollfd, 4> watched = {pollfd{signals_.fd(), POLLIN, 0}, pollfd{timer_.fd(), POLLIN, 0},
                                   pollfd{lost_.fd(), POLLIN, 0}, pollfd{command_.fd(), POLLIN, 0}};
  if (::poll(watched.data(), watched.size(), timer_.timeout()) < 0 && errno != EINTR) {
    throw std::system_error(errno, std::generic_category(), "poll");
  }
  timer_.clear();
  lost_.clear();
}

void Supervisor::arm_timer() {
  const auto now = BootClock::now();
  timer_.set(supervision_.next_look(now) - now);
}

}  // namespace redlock::cli
