#include <algorithm>
#include <csignal>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "common/session/exit_code.hpp"
#include "common/session/json.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "common/system/output_reader.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {
namespace {

/// Prints what its watchers see, a line at a time, until one of them fails or output does.
class Report {
 public:
  explicit Report(const Settings& settings) : settings_(settings) {}

  void add(const std::string& resource, const Inspection& inspection) {
    const bool json = settings_.format == Settings::Format::json;
    const std::string line = json
                                 ? sighting_json(resource, inspection)
                                 : sighting_text(Style::of_standard_output(), resource, inspection);
    const std::lock_guard lock(mutex_);
    const int printed = print_result(line);
    if (printed != code(ExitCode::done)) end(printed);
  }
  void fail(const std::string& resource, const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!result_) end(report_failure(settings_, resource, error));
  }
  /// The reader has ended: end as SIGPIPE ends other programs.
  void reader_gone() {
    const std::lock_guard lock(mutex_);
    end(code_of_signal(SIGPIPE));
  }
  /// A stop is requested by a signal, or by the first failure.
  [[nodiscard]] std::stop_source& over() noexcept { return over_; }
  [[nodiscard]] int result() const { return result_.value_or(code(ExitCode::done)); }

 private:
  void end(int result) {
    result_ = result_.value_or(result);
    over_.request_stop();
  }

  const Settings& settings_;
  std::mutex mutex_;
  std::optional<int> result_;
  std::stop_source over_;
};

}  // namespace

int verb_watch(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  std::vector<std::string> resources = resources_of(given);
  std::sort(resources.begin(), resources.end());
  resources.erase(std::unique(resources.begin(), resources.end()), resources.end());

  Session session(settings, signals);
  Result<Client> client = session.connect();
  if (!client) return report_failure(settings, resources.front(), client.error());

  Report report(settings);
  SignalWatcher watcher(signals, [&report](int) { report.over().request_stop(); });
  const OutputReader reader([&report] { report.reader_gone(); });
  {
    std::vector<std::jthread> watchers;
    watchers.reserve(resources.size());
    for (const std::string& resource : resources) {
      watchers.emplace_back([&, stop = report.over().get_token()] {
        const auto watched = client->watch(
            resource, [&](const Inspection& seen) { report.add(resource, seen); }, stop);
        if (!watched) report.fail(resource, watched.error());
      });
    }
  }
  const int signal = watcher.finish();
  return signal != 0 ? code_of_signal(signal) : report.result();
}

}  // namespace redlock::cli
