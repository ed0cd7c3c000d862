#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "common/session/exit_code.hpp"
#include "common/session/holder_text.hpp"
#include "common/session/json.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "common/session/verdict.hpp"
#include "common/system/signals.hpp"
#include "common/system/wait_for_end.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {
namespace {

bool is_free(const Inspection& seen) { return seen.state == Inspection::State::free; }

int report_state(const Settings& settings, const std::string& resource, const Inspection& seen) {
  const bool json = settings.format == Settings::Format::json;
  int printed = code(ExitCode::done);
  if (json) {
    printed = print_result(sighting_json(resource, seen));
  } else if (is_free(seen) && settings.detail != Settings::Detail::quiet) {
    printed = print_result(sighting_text(Style::of_standard_output(), resource, seen));
  }
  if (is_free(seen) || printed != code(ExitCode::done)) return printed;
  print_error(fmt::format("'{}' is not free: {}", as_printable(resource), holder_text(seen)));
  return code(ExitCode::taken);
}

}  // namespace

int verb_wait(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  const std::string resource = resource_of(given);
  const std::chrono::nanoseconds wait = wait_of(given).value_or(forever);

  Session session(settings, signals);
  Result<Client> client = session.connect();
  if (!client) return report_failure(settings, resource, client.error());

  std::stop_source over;
  SignalWatcher watcher(signals, [&over](int) { over.request_stop(); });
  std::optional<Inspection> last;
  if (wait.count() > 0) {
    const std::jthread limit([&over, wait] {
      wait_for_end(over.get_token(), wait);
      over.request_stop();
    });
    const auto watched = client->watch(
        resource,
        [&](const Inspection& seen) {
          last = seen;
          if (is_free(seen)) over.request_stop();
        },
        over.get_token());
    over.request_stop();
    if (!watched) return report_failure(settings, resource, watched.error());
  }
  const int signal = watcher.finish();
  if (signal != 0) return code_of_signal(signal);
  if (last && is_free(*last)) return report_state(settings, resource, *last);
  // Of what happened while the wait ended, the nodes know more than the last change.
  const Result<Inspection> now = client->inspect(resource);
  if (!now) return report_failure(settings, resource, now.error());
  if (count_answered(*now) < now->quorum) {
    print_error(too_few_answered(resource, *now));
    return code(ExitCode::unavailable);
  }
  return report_state(settings, resource, *now);
}

}  // namespace redlock::cli
