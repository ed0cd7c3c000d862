#include "quorum-lock/supervise/held_command.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>
#include <variant>

#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/system/child_process.hpp"
#include "common/system/signals.hpp"
#include "common/system/terminal.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"
#include "quorum-lock/locks/acquisition.hpp"
#include "quorum-lock/supervise/guarded_command.hpp"
#include "quorum-lock/supervise/loss_plan.hpp"
#include "quorum-lock/supervise/supervisor.hpp"

namespace redlock::cli {
namespace {

AcquireOptions acquire_options(const HeldCommand& request) {
  const auto& terms = request.terms;
  AcquireOptions options;
  options.ttl = terms.ttl;
  options.fencing = terms.fencing;
  options.orphan_ttl = terms.orphan_ttl;
  options.name = terms.name;
  if (request.max_hold) options.max_hold = *request.max_hold;
  if (request.max_renewals) options.max_renewals = *request.max_renewals;
  return options;
}

std::string join(const std::vector<std::string>& nodes) {
  std::string list;
  for (const std::string& node : nodes) list += (list.empty() ? "" : ",") + node;
  return list;
}

/// As options take it: "5s".
std::string option_text(std::chrono::nanoseconds duration) {
  using std::chrono::duration_cast;
  if (duration % std::chrono::seconds(1) == std::chrono::nanoseconds::zero()) {
    return fmt::format("{}s", duration_cast<std::chrono::seconds>(duration).count());
  }
  if (duration % std::chrono::milliseconds(1) == std::chrono::nanoseconds::zero()) {
    return fmt::format("{}ms", duration_cast<std::chrono::milliseconds>(duration).count());
  }
  return fmt::format("{}us", duration_cast<std::chrono::microseconds>(duration).count());
}

std::vector<std::string> command_environment(const HeldCommand& request, const Session& session,
                                             const Lease& lease) {
  std::vector<std::string> additions = {"QUORUM_LOCK_RESOURCE=" + request.subject.resource,
                                        "QUORUM_LOCK_TOKEN=" + lease.token().str()};
  // The command and its children need not know the password.
  std::vector<std::string_view> removals = {"QUORUM_LOCK_PASSWORD"};
  if (request.target.kind() == Target::Kind::permit) {
    additions.push_back("QUORUM_LOCK_PERMIT=" + lease.resource());
  } else {
    removals.emplace_back("QUORUM_LOCK_PERMIT");
  }
  if (const auto number = lease.fencing_token()) {
    additions.push_back("QUORUM_LOCK_FENCING_TOKEN=" + to_string(*number));
  } else {
    // An inherited number must not be taken for one of this lease.
    removals.emplace_back("QUORUM_LOCK_FENCING_TOKEN");
  }
  if (session.is_local()) {
    additions.push_back("QUORUM_LOCK_NODES=" + join(session.nodes()));
    removals.emplace_back("QUORUM_LOCK_LOCAL");
    removals.emplace_back("QUORUM_LOCK_LOCAL_SENTINEL");
    // All clients of a node need the same.
    additions.push_back("QUORUM_LOCK_MAX_TTL=" + option_text(request.settings.client.max_ttl));
    for (const std::string& each : session.environment_of_local_nodes()) additions.push_back(each);
    if (!request.settings.client.prefix.empty()) {
      additions.push_back("QUORUM_LOCK_PREFIX=" + request.settings.client.prefix);
    }
  } else if (const char* nodes = std::getenv("QUORUM_LOCK_NODES")) {
    // The command and its children need not know it, and /proc shows the environment.
    for (const std::string& node : split_list(nodes)) {
      if (has_password(node)) removals.emplace_back("QUORUM_LOCK_NODES");
    }
  }
  return environment_with(additions, removals);
}

int report_start_failure(const HeldCommand& request, int error) {
  print_error(fmt::format("COMMAND: '{}' cannot be executed: {}{}",
                          as_printable(request.command.front()), std::strerror(error),
                          error == ENOENT ? request.if_not_found : std::string()));
  return code(error == ENOENT ? ExitCode::not_found : ExitCode::not_executable);
}

/// The reason why the lease was not renewed, as far as the client knows.
std::string loss_reason(const HeldCommand& request, const std::string& missing,
                        const Ending& ending, std::chrono::nanoseconds held) {
  if (request.max_renewals && ending.renewals >= *request.max_renewals) {
    return fmt::format("all {} renewals of --max-renewals are used up", *request.max_renewals);
  }
  const LossPlan plan = plan_loss(request.terms.ttl, request.kill_after);
  if (request.max_hold) {
    // A lease that was renewed so recently would have been renewed again if there were no limit.
    const bool lately =
        ending.silence < request.terms.ttl / 3 && held + request.terms.ttl >= *request.max_hold;
    const bool over = held + plan.term_lead + request.terms.ttl / 100 >= *request.max_hold;
    if (over || (lately && ending.shortened.count() == 0)) {
      const std::string limit = format_duration(*request.max_hold);
      if (held >= *request.max_hold) return fmt::format("--max-hold of {} is over", limit);
      return fmt::format("--max-hold of {} is over in {}, by when the command has to be gone",
                         limit, format_duration(*request.max_hold - held));
    }
  }
  if (ending.stopped > request.terms.ttl / 3) {
    return fmt::format("this process was stopped for {}, or the machine slept",
                       format_duration(ending.stopped));
  }
  std::string reason =
      fmt::format("no quorum of nodes renewed it for {}", format_duration(ending.silence));
  if (ending.shortened.count() > 0) {
    reason += fmt::format(", and nodes took back {} of it: a clock set forward, or a key gone",
                          format_duration(ending.shortened));
  }
  if (!missing.empty()) reason += "; " + missing;
  return reason;
}

/// The end of the command itself, from its wait status only.
std::string how_it_ended(const Ending& ending) {
  if (!ending.wait_status) {
    return ending.remains == Ending::Remains::beyond_our_rights
               ? "the command still runs: it cannot be signalled"
               : "the command still runs: SIGKILL has not ended it";
  }
  const int status = *ending.wait_status;
  if (WIFSIGNALED(status)) {
    return "the command was ended by " + name_of_signal(WTERMSIG(status));
  }
  if (ending.sent == Ending::Sent::nothing) return "the command had ended by then";
  return fmt::format("the command ended with exit code {} {}", WEXITSTATUS(status),
                     ending.sent == Ending::Sent::kill ? "before SIGKILL" : "after SIGTERM");
}

std::string what_remains(const Ending& ending) {
  if (!ending.wait_status || ending.remains == Ending::Remains::none) return {};
  return ending.remains == Ending::Remains::beyond_our_rights
             ? "; processes that it has started still run: they cannot be signalled"
             : "; processes that it has started still run: SIGKILL has not ended them";
}

int command_exit_code(int wait_status) {
  return WIFSIGNALED(wait_status) ? code_of_signal(WTERMSIG(wait_status))
                                  : WEXITSTATUS(wait_status);
}

/// Releases the lock. As far as this process knows, the command had the lock until its end, but the
/// nodes decide that.
int release(const HeldCommand& request, Lease& lease, int exit_code) {
  const Result<Round> released = lease.release();
  if (released) return exit_code;
  if (released.error().code == Errc::not_holder) {
    print_error(fmt::format("lost '{}' while the command ran: {}", request.subject.resource,
                            released.error().message));
    return code(ExitCode::lost);
  }
  print_note(request.settings, fmt::format("not released everywhere, it stays until its TTL: {}",
                                           released.error().message));
  return exit_code;
}

/// Runs the command to its end. The number is the errno if the command could not be started.
std::variant<Ending, int> supervise(const HeldCommand& request, const ChildRequest& child,
                                    const Lease& lease, const std::function<void()>& on_losing,
                                    const Signals& signals, const Terminal& terminal) {
  const LeaseSeen since(lease);
  auto started = GuardedCommand::start(child, signals);
  if (const int* error = std::get_if<int>(&started)) return *error;
  auto& command = std::get<GuardedCommand>(started);
  Supervisor supervisor(lease, since, request.terms.ttl,
                        plan_loss(request.terms.ttl, request.kill_after), command, signals,
                        terminal);
  const Ending ending = supervisor.run(on_losing);
  terminal.take_back_from(command.pid());
  return ending;
}

int report_loss(const HeldCommand& request, const std::string& missing, Lease& lease,
                const Ending& ending, std::chrono::nanoseconds held) {
  print_error(fmt::format("lost '{}' after {}: {}; {}{}", request.subject.resource,
                          format_duration(held), loss_reason(request, missing, ending, held),
                          how_it_ended(ending), what_remains(ending)));
  if (ending.wait_status && ending.remains == Ending::Remains::none) {
    // The keys left on the nodes would only block others; the loss is known.
    static_cast<void>(lease.release());
  } else {
    // The command still runs, so the lease is left to keep others out until it ends.
    static_cast<void>(lease.detach());
  }
  return code(ExitCode::lost);
}

int hold_and_run(const HeldCommand& request, const std::string& program, const Session& session,
                 Client& client, Lease& lease, LockStatus& status, const Signals& signals) {
  const Terminal terminal;
  ChildRequest child;
  child.program = program;
  child.arguments = request.command;
  child.environment = command_environment(request, session, lease);
  child.terminal = terminal.for_new_command();
  const auto acquired_at = BootClock::now();
  const LockStatus::Hold hold(status, lease);
  std::string missing;
  const auto on_losing = [&] {
    status.end();
    if (const auto metrics = client.metrics()) missing = describe_missing(*metrics);
  };
  const auto supervised = supervise(request, child, lease, on_losing, signals, terminal);
  status.end();
  if (const int* error = std::get_if<int>(&supervised)) {
    static_cast<void>(lease.release());
    return report_start_failure(request, *error);
  }
  const auto& ending = std::get<Ending>(supervised);
  const auto held = BootClock::now() - acquired_at;
  const bool lost = ending.lock == Ending::Lock::lost;
  if (lost || WIFSIGNALED(*ending.wait_status)) terminal.restore_modes();
  return lost ? report_loss(request, missing, lease, ending, held)
              : release(request, lease, command_exit_code(*ending.wait_status));
}

}  // namespace

int run_under_lock(const HeldCommand& request, const Signals& signals) {
  // Before the lock is taken: a typing error must not make others wait.
  const FoundProgram program = find_program(request.command.front());
  if (program.problem != 0) return report_start_failure(request, program.problem);

  Session session(request.settings, signals);
  Result<Client> client = session.connect();
  if (!client) return report_failure(request.settings, request.subject, client.error());
  const MetricsExport metrics(request.metrics, request.subject.resource, *client, request.settings);
  LockStatus status(request.status, request.subject, request.target, *client, metrics,
                    request.settings);
  Acquisition acquisition =
      request.adopted
          ? adopt_until_signal(*client, *request.adopted, acquire_options(request), signals)
          : acquire_until_signal(*client, request.target, request.terms.wait,
                                 acquire_options(request), request.settings, signals);
  if (acquisition.signal != 0) return code_of_signal(acquisition.signal);
  if (!acquisition.lease) {
    Subject subject = request.subject;
    subject.holder_name = acquisition.holder_name;
    const Error& error = acquisition.lease.error();
    const int failed = report_failure(request.settings, subject, error);
    return code_of_refusal(error, request.target, failed, request.conflict_code);
  }
  if (request.settings.detail == Settings::Detail::verbose) {
    print_note(request.settings,
               fmt::format("{} '{}', token {}", request.adopted ? "adopted" : "acquired",
                           acquisition.lease->resource(), acquisition.lease->token().view()));
  }
  return hold_and_run(request, program.path, session, *client, acquisition.lease.value(), status,
                      signals);
}

}  // namespace redlock::cli
