#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "common/system/child_process.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/verbs/deployment_check.hpp"
#include "quorum-lock/verbs/finding_changes.hpp"
#include "quorum-lock/verbs/plugin_output.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {
namespace {

constexpr std::chrono::nanoseconds default_interval = std::chrono::seconds(5);
constexpr std::chrono::nanoseconds shortest_interval = std::chrono::milliseconds(100);
constexpr std::chrono::nanoseconds longest_interval = std::chrono::hours(24);

std::chrono::nanoseconds interval_of(const Arguments& given) {
  const auto interval = given.duration("interval");
  if (!interval) return default_interval;
  const std::string& origin = given.find("interval")->origin;
  if (*interval < shortest_interval || *interval > longest_interval) {
    throw UsageError(
        fmt::format("{}: {} is not allowed: 100ms to 24h", origin, format_duration(*interval)));
  }
  return *interval;
}

void refuse_combinations(const Arguments& given, const Settings& settings) {
  if (!given.words.empty()) {
    throw UsageError(fmt::format("'{}': doctor takes no resource", as_printable(given.words[0])));
  }
  const bool watches = given.flag("watch");
  if (!watches && given.find("interval") != nullptr &&
      given.find("interval")->layer == Arguments::Layer::command_line) {
    throw UsageError("--interval: only with --watch");
  }
  if (!given.flag("nagios")) return;
  if (watches) throw UsageError("--nagios: not together with --watch");
  if (settings.format == Settings::Format::json) {
    throw UsageError("--nagios: not together with --json");
  }
}

/// Asks the nodes, and says what is wrong with them.
class Doctor {
 public:
  Doctor(const Settings& settings, ClientOptions options)
      : settings_(settings), options_(std::move(options)) {}

  [[nodiscard]] int check() const {
    const Result<admin::DeploymentCheck> check = admin::check(options_);
    if (!check) return refuse(check.error());
    const int printed = print_result(whole(*check));
    return check->findings.empty() ? printed : code(ExitCode::failure);
  }

  [[nodiscard]] int check_for_monitoring() const {
    const Result<admin::DeploymentCheck> check = admin::check(options_);
    const PluginOutput output = check ? plugin_output(*check, options_.guards.restart)
                                      : plugin_unknown(check.error().message);
    return print(output.line) ? output.exit_code : plugin_unknown({}).exit_code;
  }

  /// Checks again and again until output fails. `verdict` is the exit code of the last check.
  [[nodiscard]] int watch(std::chrono::nanoseconds interval, std::atomic<int>& verdict) const {
    FindingChanges changes;
    for (bool first = true;; first = false) {
      const Result<admin::DeploymentCheck> check = admin::check(options_);
      if (!check) return refuse(check.error());
      verdict = code(check->findings.empty() ? ExitCode::done : ExitCode::failure);
      if (const auto change = changes.take(check->findings)) {
        const bool whole_check = first || settings_.format == Settings::Format::json;
        const int printed = print_result(
            whole_check ? whole(*check)
                        : change_text(Style::of_standard_output(), settings_, *check,
                                      grants(*check), *change, std::chrono::system_clock::now()));
        if (printed != code(ExitCode::done)) return printed;
      }
      std::this_thread::sleep_for(interval);
    }
  }

 private:
  static int refuse(const Error& error) {
    print_error(error.message);
    return code(exit_code_of(error.code));
  }
  [[nodiscard]] std::string whole(const admin::DeploymentCheck& check) const {
    return settings_.format == Settings::Format::json
               ? check_json(check)
               : check_text(Style::of_standard_output(), settings_, check, grants(check));
  }
  [[nodiscard]] Grants grants(const admin::DeploymentCheck& check) const {
    return grants_of(check, options_.guards.restart);
  }

  const Settings& settings_;
  const ClientOptions options_;
};

}  // namespace

int verb_doctor(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  refuse_combinations(given, settings);
  const std::chrono::nanoseconds interval = interval_of(given);

  Session session(settings, signals);
  constexpr int none = -1;
  std::atomic<int> verdict = none;
  const EndOnSignal end_on_signal(signals, session, [&verdict](int signal) {
    const int last = verdict;
    return last == none ? code_of_signal(signal) : last;
  });
  const Doctor doctor(settings, client_options(settings, session.nodes()));
  if (given.flag("watch")) {
    const EndWithReader end_with_reader(session);
    return doctor.watch(interval, verdict);
  }
  return given.flag("nagios") ? doctor.check_for_monitoring() : doctor.check();
}

}  // namespace redlock::cli
