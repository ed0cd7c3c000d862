#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>

#include "quorum-lock/exit_code.hpp"
#include "quorum-lock/held_command.hpp"
#include "quorum-lock/json.hpp"
#include "quorum-lock/metrics_export.hpp"
#include "quorum-lock/output.hpp"
#include "quorum-lock/session.hpp"
#include "quorum-lock/text.hpp"
#include "quorum-lock/usage_error.hpp"
#include "quorum-lock/verb.hpp"
#include "quorum-lock/wait_notice.hpp"
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
  request.resource = candidacy.election;
  request.terms.ttl = candidacy.ttl;
  request.terms.wait = candidacy.wait;
  request.terms.fencing = true;
  request.terms.name = candidacy.candidate;
  request.command = given.command;
  request.kill_after = given.duration("kill-after");
  request.metrics = candidacy.metrics;
  return run_under_lock(request, signals);
}

void wait_for_end(const std::stop_token& over) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, over, [] { return false; });
}

std::string elected_text(const Candidacy& candidacy, const Leadership& leadership) {
  if (candidacy.settings.format == Settings::Format::json) {
    return leader_json(candidacy.election, Leader{candidacy.candidate, leadership.lease().token()},
                       leadership.term());
  }
  return fmt::format("elected {}  {}  term {}\n", as_printable(candidacy.election),
                     as_printable(candidacy.candidate), leadership.term().value());
}

int lead(const Candidacy& candidacy, Client& client, const Signals& signals) {
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
  const int printed = print_result(elected_text(candidacy, *elected));
  if (printed != code(ExitCode::done)) return printed;
  const std::stop_token lost = elected->lost();
  {
    const std::stop_callback on_loss(lost, [&over] { over.request_stop(); });
    wait_for_end(over.get_token());
  }
  const int signal = watcher.finish();
  const bool was_lost = lost.stop_requested();
  static_cast<void>(elected->resign());
  if (was_lost) {
    print_error(
        fmt::format("lost the leadership of '{}': its deadline passed", candidacy.election));
    return code(ExitCode::lost);
  }
  return code_of_signal(signal);
}

int observe(const Candidacy& candidacy, Client& client, const Signals& signals) {
  Election election(client, candidacy.election);
  std::stop_source over;
  SignalWatcher watcher(signals, [&over](int) { over.request_stop(); });
  int printed = code(ExitCode::done);
  const auto observed = election.observe(
      [&](const std::optional<Leader>& leader) {
        const bool json = candidacy.settings.format == Settings::Format::json;
        const std::string who =
            leader ? "leader " + as_printable(leader->candidate.empty() ? leader->token.view()
                                                                        : leader->candidate)
                   : std::string("no leader");
        printed =
            print_result(json ? leader_json(candidacy.election, leader, std::nullopt) : who + "\n");
        if (printed != code(ExitCode::done)) over.request_stop();
      },
      over.get_token());
  const int signal = watcher.finish();
  if (!observed) return report_failure(candidacy.settings, candidacy.election, observed.error());
  return signal != 0 ? code_of_signal(signal) : printed;
}

}  // namespace

int verb_elect(const Arguments& given, const Signals& signals) {
  Candidacy candidacy;
  candidacy.settings = resolve_settings(given, NodesNeeded::required);
  candidacy.election = resource_of(given);
  // At the top level of a file it names the clients of all verbs, on all hosts of the file.
  const auto* name = given.find("name");
  if (name != nullptr && name->layer != Arguments::Layer::top_level) {
    candidacy.candidate = name_of(given, "name");
  }
  if (candidacy.candidate.empty()) candidacy.candidate = default_candidate();
  candidacy.ttl = ttl_of(given, candidacy.settings).value_or(default_ttl(candidacy.settings));
  candidacy.wait = given.duration("wait").value_or(forever);
  if (given.flag("observe") && !given.command.empty()) {
    throw UsageError("--observe: not together with COMMAND");
  }
  candidacy.metrics = metrics_targets_of(given);
  if (!given.command.empty()) {
    if (given.command.front().empty()) throw UsageError("COMMAND: must not be empty");
    return run_while_leader(candidacy, given, signals);
  }

  Session session(candidacy.settings, signals);
  Result<Client> client = session.connect();
  if (!client) return report_failure(candidacy.settings, candidacy.election, client.error());
  const MetricsExport metrics(candidacy.metrics, candidacy.election, *client, candidacy.settings);
  return given.flag("observe") ? observe(candidacy, *client, signals)
                               : lead(candidacy, *client, signals);
}

}  // namespace redlock::cli
