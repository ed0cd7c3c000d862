#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "quorum-lock/acquisition.hpp"
#include "quorum-lock/child_process.hpp"
#include "quorum-lock/duration.hpp"
#include "quorum-lock/exit_code.hpp"
#include "quorum-lock/loss_plan.hpp"
#include "quorum-lock/output.hpp"
#include "quorum-lock/session.hpp"
#include "quorum-lock/settings.hpp"
#include "quorum-lock/supervisor.hpp"
#include "quorum-lock/terminal.hpp"
#include "quorum-lock/text.hpp"
#include "quorum-lock/usage_error.hpp"
#include "quorum-lock/verb.hpp"

namespace redlock::cli {
namespace {

struct RunRequest {
  Settings settings;
  std::string resource;
  std::vector<std::string> command;
  std::chrono::nanoseconds ttl;
  std::chrono::nanoseconds wait;
  std::optional<std::chrono::nanoseconds> max_hold;
  std::optional<std::uint64_t> max_renewals;
  std::optional<std::chrono::nanoseconds> kill_after;
  bool fencing = false;
  std::optional<std::chrono::nanoseconds> orphan_ttl;
};

RunRequest read_request(const Arguments& given) {
  if (given.words.size() > 1) {
    throw UsageError(fmt::format(
        "RESOURCE: '{}' is a second one: several resources are not available in this version "
        "(COMMAND stands behind --)",
        as_printable(given.words[1])));
  }
  RunRequest request;
  request.settings = resolve_settings(given, NodesNeeded::required);
  request.resource = resource_of(given);
  request.command = given.command;
  if (request.command.empty() || request.command.front().empty()) {
    throw UsageError("COMMAND: none given: it stands behind --, as in: run RESOURCE -- COMMAND");
  }
  request.ttl = ttl_of(given, request.settings).value_or(default_ttl(request.settings));
  request.wait = given.duration("wait").value_or(std::chrono::seconds{30});
  request.max_hold = given.positive_duration("max-hold");
  request.max_renewals = given.number("max-renewals", 0, UINT64_MAX);
  request.kill_after = given.duration("kill-after");
  request.fencing = given.flag("fencing");
  request.orphan_ttl = orphan_ttl_of(given, request.settings);
  return request;
}

AcquireOptions acquire_options(const RunRequest& request) {
  AcquireOptions options;
  options.ttl = request.ttl;
  options.wait = request.wait;
  options.fencing = request.fencing;
  options.orphan_ttl = request.orphan_ttl;
  options.refusal_detail = AcquireOptions::RefusalDetail::holder_and_remaining;
  RenewalOptions renewal;
  if (request.max_hold) renewal.max_hold = *request.max_hold;
  if (request.max_renewals) renewal.max_renewals = *request.max_renewals;
  options.renewal = renewal;
  return options;
}

std::string join(const std::vector<std::string>& nodes) {
  std::string list;
  for (const std::string& node : nodes) list += (list.empty() ? "" : ",") + node;
  return list;
}

std::vector<std::string> command_environment(const RunRequest& request, const Session& session,
                                             const Lease& lease) {
  std::vector<std::string> additions = {"QUORUM_LOCK_RESOURCE=" + request.resource,
                                        "QUORUM_LOCK_TOKEN=" + lease.token().str()};
  std::vector<std::string_view> removals;
  if (const auto number = lease.fencing_token()) {
    additions.push_back("QUORUM_LOCK_FENCING_TOKEN=" + std::to_string(*number));
  } else {
    // Somebody else's must not be taken for ours.
    removals.emplace_back("QUORUM_LOCK_FENCING_TOKEN");
  }
  if (session.is_local()) {
    additions.push_back("QUORUM_LOCK_NODES=" + join(session.nodes()));
  } else if (const char* nodes = std::getenv("QUORUM_LOCK_NODES")) {
    // The command and its children need not know it, and /proc shows the environment.
    for (const std::string& node : split_list(nodes)) {
      if (has_password(node)) removals.emplace_back("QUORUM_LOCK_NODES");
    }
  }
  return environment_with(additions, removals);
}

int report_start_failure(const std::string& command, int error) {
  print_error(fmt::format("COMMAND: '{}' can not be executed: {}", command, std::strerror(error)));
  return code(error == ENOENT ? ExitCode::not_found : ExitCode::not_executable);
}

/// Why the lease was not renewed, as far as can be told from here.
std::string loss_reason(const RunRequest& request, const Session& session, const Ending& ending,
                        std::chrono::nanoseconds held) {
  if (request.max_renewals && ending.renewals >= *request.max_renewals) {
    return fmt::format("all {} renewals of --max-renewals are used up", *request.max_renewals);
  }
  const LossPlan plan = plan_loss(request.ttl, request.kill_after);
  if (request.max_hold) {
    // What was renewed so lately would have lived on, had it been allowed to.
    const bool lately = ending.silence < request.ttl / 3 && held + request.ttl >= *request.max_hold;
    const bool over = held + plan.term_lead + request.ttl / 100 >= *request.max_hold;
    if (over || lately) {
      return fmt::format("--max-hold of {} is over", format_duration(*request.max_hold));
    }
  }
  std::string reason =
      fmt::format("no quorum of nodes renewed it for {}", format_duration(ending.silence));
  const std::string down = session.watch().describe_down();
  if (!down.empty()) reason += "; " + down;
  return reason;
}

std::string how_it_ended(const Ending& ending) {
  if (ending.last_signal == SIGKILL) return "the command was ended with SIGKILL";
  if (ending.last_signal == SIGTERM) return "the command was ended with SIGTERM";
  return "the command had ended by then";
}

int command_exit_code(int wait_status) {
  return WIFSIGNALED(wait_status) ? code_of_signal(WTERMSIG(wait_status))
                                  : WEXITSTATUS(wait_status);
}

/// The lock was the command's to the end, as far as this process knows; the nodes have the last
/// word.
int release(const RunRequest& request, Lease& lease, int exit_code) {
  const Result<RoundReport> released = lease.release();
  if (released) return exit_code;
  if (released.error().code == Errc::not_holder) {
    print_error(fmt::format("lost '{}' while the command ran: {}", request.resource,
                            released.error().message));
    return code(ExitCode::lost);
  }
  print_note(request.settings, fmt::format("not released everywhere, it stays until its TTL: {}",
                                           released.error().message));
  return exit_code;
}

int hold_and_run(const RunRequest& request, const std::string& program, const Session& session,
                 Lease& lease, const Signals& signals) {
  const Terminal terminal;
  ChildRequest child_request;
  child_request.program = program;
  child_request.arguments = request.command;
  child_request.environment = command_environment(request, session, lease);
  child_request.terminal = terminal.for_new_command();
  const auto acquired_at = BootClock::now();
  const auto started = ChildProcess::start(child_request, signals);
  if (const int* error = std::get_if<int>(&started)) {
    static_cast<void>(lease.release());
    return report_start_failure(request.command.front(), *error);
  }
  const auto& child = std::get<ChildProcess>(started);
  Supervisor supervisor(lease, request.ttl, plan_loss(request.ttl, request.kill_after), child,
                        signals, terminal);
  const Ending ending = supervisor.run();
  const auto held = BootClock::now() - acquired_at;
  terminal.take_back_from(child.pid());
  if (WIFSIGNALED(ending.wait_status) || ending.lock == Ending::Lock::lost) {
    terminal.restore_modes();
  }
  const int exit_code = command_exit_code(ending.wait_status);
  if (ending.lock == Ending::Lock::kept) return release(request, lease, exit_code);

  print_error(fmt::format("lost '{}' after {}: {}; {}", request.resource, format_duration(held),
                          loss_reason(request, session, ending, held), how_it_ended(ending)));
  // What is left of it on the nodes would only block others; that it is lost is known.
  static_cast<void>(lease.release());
  return code(ExitCode::lost);
}

}  // namespace

int verb_run(const Arguments& given, const Signals& signals) {
  const RunRequest request = read_request(given);
  // Before the lock is taken: a typing error must not make others wait.
  const FoundProgram program = find_program(request.command.front());
  if (program.problem != 0) return report_start_failure(request.command.front(), program.problem);

  Session session(request.settings, signals);
  Result<Client> client = session.connect();
  if (!client) return report_failure(request.settings, request.resource, client.error());
  Acquisition acquisition =
      acquire_until_signal(client.value(), request.resource, acquire_options(request), signals);
  if (acquisition.signal != 0) return code_of_signal(acquisition.signal);
  if (!acquisition.lease) {
    return report_failure(request.settings, request.resource, acquisition.lease.error());
  }
  if (request.settings.detail == Settings::Detail::verbose) {
    print_error(fmt::format("acquired '{}', token {}", request.resource,
                            acquisition.lease->token().view()));
  }
  return hold_and_run(request, program.path, session, acquisition.lease.value(), signals);
}

}  // namespace redlock::cli
