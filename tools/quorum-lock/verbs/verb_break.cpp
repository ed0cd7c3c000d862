#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "common/session/confirm.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/json.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "common/session/verdict.hpp"
#include "common/text/duration.hpp"
#include "common/text/glob.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/locks/break_many.hpp"
#include "quorum-lock/locks/breaking.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {
namespace {

/// Prints the result; with --json also what the nodes store.
int report(const Settings& settings, const Breaking& what, const BreakVerdict& verdict) {
  int printed = code(ExitCode::done);
  if (settings.format == Settings::Format::json) {
    printed = print_result(
        break_json({verdict.outcome, what.resource, verdict.tokens, verdict.delay, verdict.after}));
  } else if (verdict.why.empty() && settings.detail != Settings::Detail::quiet) {
    printed = print_result(broken_text(what, verdict));
  }
  if (verdict.why.empty()) return printed;
  print_error(verdict.why);
  return printed == code(ExitCode::done) ? code(verdict.exit_code) : printed;
}

std::chrono::nanoseconds delay_of(const Arguments& given, const Settings& settings) {
  const auto delay = given.positive_duration("delay").value_or(std::chrono::nanoseconds::zero());
  if (delay > settings.client.max_ttl) {
    throw UsageError(fmt::format("--delay: {} is not allowed: up to {}, which is --max-ttl",
                                 format_duration(delay), format_duration(settings.client.max_ttl)));
  }
  return delay;
}

/// Warns if the delay is shorter than the holder's lease: a holder that does not notice the break
/// works until its lease ends. The warning comes even with --quiet, because nothing else says that
/// two may work at once.
void warn_of_short_delay(const Breaking& what, const Inspection& before) {
  const auto left = lease_beyond_delay(before, what.delay);
  if (left == std::chrono::nanoseconds::zero()) return;
  print_warning(fmt::format("the holder's lease may be valid for {}, longer than the delay of {}",
                            format_duration(left), format_duration(what.delay)));
}

/// Returns false if the lock could not be printed.
bool show(const Settings& settings, bool sure, const std::string& resource,
          const Inspection& before) {
  if (settings.detail == Settings::Detail::quiet && sure) return true;
  const std::string shown = inspection_text(Style::of_standard_output(), resource, before);
  // With --quiet, the lock is shown only because the question follows.
  if (settings.format != Settings::Format::json && settings.detail != Settings::Detail::quiet) {
    return print(shown);
  }
  print_on_standard_error(shown);
  return true;
}

int break_one(Client& client, const Settings& settings, const std::string& resource,
              std::chrono::nanoseconds delay, bool sure) {
  const Result<Inspection> before = client.inspect(resource);
  if (!before) return report_failure(settings, resource, before.error());
  Breaking what{resource, tokens_on(*before), delay, has_unlisted_holds(*before)};
  if (count_answered(*before) < before->quorum) {
    return report(settings, what,
                  not_broken("unavailable", *before, too_few_answered(resource, *before),
                             ExitCode::unavailable));
  }
  if (has_what_is_no_token(*before)) {
    print_error(fmt::format(
        "RESOURCE: '{}' holds a value that is not a lock token: delete it with redis-cli "
        "if it is not wanted",
        resource));
    return code(ExitCode::usage);
  }
  if (what.tokens.empty()) return report(settings, what, {.outcome = "free", .after = *before});
  if (!show(settings, sure, resource, *before)) return print_result({});
  warn_of_short_delay(what, *before);
  if (!sure && !confirm_break("it", delay)) {
    const bool split = before->state == Inspection::State::split;
    return report(settings, what,
                  not_broken(split ? "split" : "held", *before,
                             fmt::format("'{}' was left as it is", resource), ExitCode::taken));
  }
  const Result<BreakVerdict> verdict = break_tokens(client, what);
  if (!verdict) return report_failure(settings, resource, verdict.error());
  const int broken = report(settings, what, *verdict);
  if (broken != code(ExitCode::done) || !what.has_unlisted_holds) return broken;
  print_error(fmt::format("'{}' has more holders than were shown: break it again", resource));
  return code(ExitCode::taken);
}

}  // namespace

int verb_break(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  const std::optional<std::string> holder = holder_glob_of(given);
  std::string resource;
  if (!holder || !given.words.empty()) resource = resource_of(given);
  const bool is_glob = looks_like_glob(resource);
  const bool is_one = !holder && (!is_glob || is_literal_glob(resource));
  if (is_one && is_glob) resource = unescaped_glob(resource);
  if (is_one && given.asked_for("limit")) {
    throw UsageError("--limit: only with a PATTERN or --holder");
  }
  const bool sure = given.flag("yes");
  const std::chrono::nanoseconds delay = delay_of(given, settings);

  Session session(settings, signals);
  BreakProgress progress;
  const EndOnSignal end_on_signal(signals, session, [&progress](int signal) {
    if (progress.chosen > 0) {
      print_error(fmt::format("interrupted: {} of {} broken", progress.broken.load(),
                              counted(progress.chosen.load(), "lock")));
    }
    return code_of_signal(signal);
  });
  Result<Client> client = session.connect();
  if (!client) return report_failure(settings, resource, client.error());
  if (is_one) return break_one(*client, settings, resource, delay, sure);
  ManyBreaking many{.pattern = is_glob ? resource : escaped_glob(resource),
                    .holder = holder,
                    .delay = delay,
                    .sure = sure,
                    .keys_per_node = given.number("limit").value_or(limits::keys_listed)};
  return break_many(*client, client_options(settings, session.nodes()), settings, many, progress);
}

}  // namespace redlock::cli
