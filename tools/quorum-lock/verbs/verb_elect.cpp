#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "common/session/exit_code.hpp"
#include "common/session/json.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/system/output_reader.hpp"
#include "common/system/wait_for_end.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/locks/wait_notice.hpp"
#include "quorum-lock/supervise/held_command.hpp"
#include "quorum-lock/supervise/lock_status.hpp"
#include "quorum-lock/supervise/metrics_export.hpp"
#include "quorum-lock/verbs/verb.hpp"
#include "redlock/election.hpp"

namespace redlock::cli {
namespace {

struct Candidacy {
  Settings settings;
  std::string election;
  std::string candidate;
  std::chrono::nanoseconds ttl{};
  std::chrono::nanoseconds wait = forever;
  MetricsTargets metrics{};
  StatusTarget status{};
};

/// Host and process: the default name, unique among the candidates.
std::string default_candidate() {
  std::array<char, 65> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::string name = fmt::format("{}/{}", host.data(), ::getpid());
  return name.size() <= limits::name_bytes ? name : name.substr(name.size() - limits::name_bytes);
}

int run_while_leader(const Candidacy& candidacy, const Arguments& given, const Signals& signals) {
  HeldCommand request{.settings = candidacy.settings, .target = candidacy.election};
  request.subject = candidacy.election;
  request.terms.ttl = candidacy.ttl;
  request.terms.wait = candidacy.wait;
  request.terms.fencing = true;
  request.terms.name = candidacy.candidate;
  request.command = given.command;
  request.kill_after = given.duration("kill-after");
  request.metrics = candidacy.metrics;
  request.status = candidacy.status;
  return run_under_lock(request, signals);
}

std::string elected_text(const Candidacy& candidacy, const Leadership& leadership) {
  if (candidacy.settings.format == Settings::Format::json) {
    return leader_json(candidacy.election, Leader{candidacy.candidate, leadership.lease().token()},
                       leadership.term());
  }
  return fmt::format("elected {}  {}  term {}\n", as_printable(candidacy.election),
                     as_printable(candidacy.candidate), leadership.term().value());
}

std::string leader_text(const Candidacy& candidacy, const std::optional<Leader>& leader) {
  if (candidacy.settings.format == Settings::Format::json) {
    return leader_json(candidacy.election, leader, std::nullopt);
  }
  if (!leader) return "no leader\n";
  return fmt::format("leader {}\n", as_printable(leader->candidate.empty() ? leader->token.view()
                                                                           : leader->candidate));
}

int lead(const Candidacy& candidacy, Client& client, LockStatus& status, const Signals& signals) {
  ElectionOptions options;
  options.candidate = candidacy.candidate;
  options.ttl = candidacy.ttl;
  Election election(client, candidacy.election, options);
  std::stop_source over;
  WaitNotice notice(client, candidacy.settings, candidacy.election, candidacy.wait);
  SignalWatcher watcher(signals, [&over](int) { over.request_stop(); });
  auto elected = candidacy.wait == forever
                     ? election.campaign(over.get_token())
                     : election.try_campaign_for(candidacy.wait, over.get_token());
  notice.end();
  if (!elected) {
    const int signal = watcher.finish();
    if (signal != 0) return code_of_signal(signal);
    return report_failure(candidacy.settings, candidacy.election, elected.error());
  }
  const LockStatus::Hold hold(status, elected->lease());
  const bool says_so = candidacy.settings.format == Settings::Format::json ||
                       candidacy.settings.detail != Settings::Detail::quiet;
  const int printed = print_result(says_so ? elected_text(candidacy, *elected) : std::string());
  if (printed != code(ExitCode::done)) return printed;
  const std::stop_token lost = elected->lost();
  {
    const std::stop_callback on_loss(lost, [&over] { over.request_stop(); });
    wait_for_end(over.get_token(), forever);
  }
  const int signal = watcher.finish();
  const bool was_lost = lost.stop_requested();
  std::string missing;
  if (was_lost) {
    if (const auto metrics = client.metrics()) missing = describe_missing(*metrics);
  }
  status.end();
  static_cast<void>(elected->resign());
  if (was_lost) {
    print_error(fmt::format("lost the leadership of '{}': its deadline passed{}{}",
                            candidacy.election, missing.empty() ? "" : "; ", missing));
    return code(ExitCode::lost);
  }
  return code_of_signal(signal);
}

int observe(const Candidacy& candidacy, Client& client, const Signals& signals) {
  Election election(client, candidacy.election);
  std::stop_source over;
  SignalWatcher watcher(signals, [&over](int) { over.request_stop(); });
  int printed = code(ExitCode::done);
  std::atomic<bool> is_read = true;
  const OutputReader reader([&] {
    is_read = false;
    over.request_stop();
  });
  const auto observed = election.observe(
      [&](const std::optional<Leader>& leader) {
        printed = print_result(leader_text(candidacy, leader));
        if (printed != code(ExitCode::done)) over.request_stop();
      },
      over.get_token());
  const int signal = watcher.finish();
  if (!observed) return report_failure(candidacy.settings, candidacy.election, observed.error());
  if (signal != 0 || !is_read) return code_of_signal(signal != 0 ? signal : SIGPIPE);
  return printed;
}

/// Reports that there is no leader, or that too few nodes answer.
int report_no_leader(const Candidacy& candidacy, Election& election) {
  const auto leader = election.leader();
  if (!leader) return report_failure(candidacy.settings, candidacy.election, leader.error());
  const int printed = print_result(leader_text(candidacy, *leader));
  // A leader may have been elected in this moment.
  if (leader->has_value() || printed != code(ExitCode::done)) return printed;
  print_error(fmt::format("no leader of '{}' within {}", candidacy.election,
                          format_duration(candidacy.wait)));
  return code(ExitCode::taken);
}

/// Observes until there is a leader, or the wait is over.
int observe_until_led(const Candidacy& candidacy, Client& client, const Signals& signals) {
  Election election(client, candidacy.election);
  std::stop_source over;
  SignalWatcher watcher(signals, [&over](int) { over.request_stop(); });
  const std::jthread timer([&](const std::stop_token& done) {
    wait_for_end(done, candidacy.wait);
    over.request_stop();
  });
  std::optional<Leader> seen;
  const auto observed = election.observe(
      [&](const std::optional<Leader>& leader) {
        // A leader that is seen first when the wait is over still counts.
        if (!leader || seen) return;
        seen = leader;
        over.request_stop();
      },
      over.get_token());
  const int signal = watcher.finish();
  if (!observed) return report_failure(candidacy.settings, candidacy.election, observed.error());
  if (seen) return print_result(leader_text(candidacy, seen));
  return signal != 0 ? code_of_signal(signal) : report_no_leader(candidacy, election);
}

}  // namespace

int verb_elect(const Arguments& given, const Signals& signals) {
  Candidacy candidacy;
  candidacy.settings = resolve_settings(given, NodesNeeded::required);
  candidacy.election = resource_of(given);
  // A name at the top level of a file names the clients of all verbs, on all hosts that have the
  // file.
  const auto* name = given.find("name");
  if (name != nullptr && name->layer != Arguments::Layer::top_level) {
    candidacy.candidate = name_of(given, "name");
  }
  if (candidacy.candidate.empty()) candidacy.candidate = default_candidate();
  candidacy.ttl = ttl_of(given, candidacy.settings).value_or(default_ttl(candidacy.settings));
  candidacy.wait = wait_of(given).value_or(forever);
  if (given.flag("observe") && !given.command.empty()) {
    throw UsageError("--observe: not together with COMMAND");
  }
  if (given.flag("observe") && given.asked_for("status-listen")) {
    throw UsageError("--status-listen: not together with --observe: an observer never leads");
  }
  candidacy.metrics = metrics_targets_of(given);
  candidacy.status = status_target_of(given);
  candidacy.status.holding = "leader";
  candidacy.status.waiting = "candidate";
  candidacy.status.name = candidacy.candidate;
  if (!given.command.empty()) {
    if (given.command.front().empty()) throw UsageError("COMMAND: must not be empty");
    return run_while_leader(candidacy, given, signals);
  }

  Session session(candidacy.settings, signals);
  Result<Client> client = session.connect();
  if (!client) return report_failure(candidacy.settings, candidacy.election, client.error());
  const MetricsExport metrics(candidacy.metrics, candidacy.election, *client, candidacy.settings);
  if (!given.flag("observe")) {
    LockStatus status(candidacy.status, candidacy.election, candidacy.election, *client, metrics,
                      candidacy.settings);
    return lead(candidacy, *client, status, signals);
  }
  return given.find("wait") == nullptr ? observe(candidacy, *client, signals)
                                       : observe_until_led(candidacy, *client, signals);
}

}  // namespace redlock::cli
