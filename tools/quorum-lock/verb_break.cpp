#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "quorum-lock/duration.hpp"
#include "quorum-lock/exit_code.hpp"
#include "quorum-lock/holder_text.hpp"
#include "quorum-lock/json.hpp"
#include "quorum-lock/output.hpp"
#include "quorum-lock/session.hpp"
#include "quorum-lock/settings.hpp"
#include "quorum-lock/text.hpp"
#include "quorum-lock/usage_error.hpp"
#include "quorum-lock/verb.hpp"
#include "quorum-lock/verdict.hpp"

namespace redlock::cli {
namespace {

std::vector<Token> tokens_on(const Inspection& inspection) {
  std::set<Token> tokens;
  for (const NodeInspection& node : inspection.nodes) {
    switch (node.kind) {
      case LockKind::none:
      case LockKind::reserved:
      case LockKind::other:
        break;
      case LockKind::exclusive:
        if (node.holder) tokens.insert(*node.holder);
        break;
      case LockKind::shared:
      case LockKind::owned:
        tokens.insert(node.tokens.begin(), node.tokens.end());
        break;
      case LockKind::interval:
        tokens.insert(*Token::parse(interval_token));
        break;
    }
  }
  return {tokens.begin(), tokens.end()};
}

/// Whether a node has more holds than it listed.
bool has_unlisted_holds(const Inspection& inspection) {
  return std::any_of(inspection.nodes.begin(), inspection.nodes.end(),
                     [](const NodeInspection& node) { return node.holds > node.tokens.size(); });
}

/// Whether a node stores what no token deletes: a key that is no lock, or a hold without a token,
/// which it counts and does not list. A mark of a waiting client may take the place of one in the
/// list.
bool has_what_is_no_token(const Inspection& inspection) {
  constexpr std::size_t surely_listed = limits::holds_listed - 1;
  return std::any_of(
      inspection.nodes.begin(), inspection.nodes.end(), [](const NodeInspection& node) {
        const bool unlisted = node.holds > node.tokens.size();
        return node.kind == LockKind::other || (unlisted && node.tokens.size() < surely_listed);
      });
}

bool any_still_there(const std::vector<Token>& tokens, const Inspection& inspection) {
  const std::vector<Token> now = tokens_on(inspection);
  return std::any_of(tokens.begin(), tokens.end(), [&now](const Token& token) {
    return std::find(now.begin(), now.end(), token) != now.end();
  });
}

enum class Reply { yes, no };

Reply ask(std::chrono::nanoseconds delay) {
  // On standard error, so that it is seen when standard output goes to a file.
  const std::string question =
      delay == std::chrono::nanoseconds::zero()
          ? "Break it? A holder that is alive is not notified, and renews it if nobody else is "
            "quicker. [y/N] "
          : fmt::format(
                "Break it? A holder that is alive is not notified. Nobody can acquire it "
                "for {}. [y/N] ",
                format_duration(delay));
  std::fputs(question.c_str(), stderr);
  std::string line;
  if (!std::getline(std::cin, line)) return Reply::no;
  return line == "y" || line == "Y" || line == "yes" ? Reply::yes : Reply::no;
}

/// What is broken, and on which terms.
struct Breaking {
  const Settings& settings;
  std::string resource;
  std::vector<Token> tokens;          ///< that were shown
  std::chrono::nanoseconds delay{0};  ///< zero: none
  bool has_unlisted_holds = false;    ///< the delay begins behind the last one
};

/// `delay`: what was imposed.
int report(const Breaking& what, std::string_view outcome, std::chrono::nanoseconds delay,
           const Inspection& inspection) {
  if (what.settings.format == Settings::Format::json) {
    return print_result(break_json(outcome, what.resource, what.tokens, delay, inspection));
  }
  if (what.settings.detail == Settings::Detail::quiet) return code(ExitCode::done);
  const Style style = Style::of_standard_output();
  const std::string resource = as_printable(what.resource);
  if (outcome == "free") {
    const std::string nothing =
        what.tokens.empty() ? "nothing to break" : "released before it was broken";
    return print_result(
        fmt::format("{} {}, {}{}\n", resource, style.paint(Style::Colour::good, "free"), nothing,
                    what.delay == std::chrono::nanoseconds::zero() ? "" : ", no delay imposed"));
  }
  std::string text;
  for (const Token& token : what.tokens) {
    text += fmt::format("{} {}  token {}\n", style.paint(Style::Colour::warning, "broken"),
                        resource, as_printable(token.view()));
  }
  if (delay > std::chrono::nanoseconds::zero()) {
    text += fmt::format("nobody can acquire {} for {}\n", resource, format_duration(delay));
  }
  return print_result(text);
}

/// Nothing was broken: one line, and with --json what the nodes store.
int report_not_broken(const Settings& settings, std::string_view outcome,
                      const std::string& resource, const Inspection& inspection,
                      std::string_view why, ExitCode exit_code) {
  const int printed = settings.format == Settings::Format::json
                          ? print_result(break_json(outcome, resource, {}, {}, inspection))
                          : code(ExitCode::done);
  print_error(why);
  return printed == code(ExitCode::done) ? code(exit_code) : printed;
}

/// Where tokens were deleted, also where the nodes were too few for a round to call it that.
struct BrokenOn {
  bool any = false;
  std::set<std::string> nodes;  ///< and those for whose answers no round has waited

  void add(const RoundReport& round) {
    for (const NodeReport& node : round.nodes) {
      any = any || node.vote == Vote::granted;
      if (node.vote == Vote::granted || node.vote == Vote::pending) nodes.insert(node.url);
    }
  }
};

/// The tokens are gone. Whether nobody can acquire the resource for the delay is a fact of the
/// nodes, not of this program.
int judge_delay(const Breaking& what, const BrokenOn& broken_on, const Inspection& after) {
  const auto delayed = static_cast<std::size_t>(std::count_if(
      after.nodes.begin(), after.nodes.end(), [&broken_on](const NodeInspection& node) {
        const bool keeps = node.kind == LockKind::exclusive && !delay_text(node.holder).empty();
        return keeps && broken_on.nodes.contains(node.url);
      }));
  const std::string obstacle = holder_text(after);
  if (!broken_on.any && delayed == 0) {
    if (after.state == Inspection::State::free) {
      return report(what, "free", std::chrono::nanoseconds::zero(), after);
    }
    const bool known = after.state != Inspection::State::indeterminate;
    return report_not_broken(
        what.settings, known ? to_string(after.state) : "unavailable", what.resource, after,
        fmt::format("'{}' was released before it was broken, and no delay imposed; {}",
                    what.resource, known ? obstacle : "too few nodes say who has it now"),
        known ? ExitCode::taken : ExitCode::unavailable);
  }
  // Those who enter before the last hold is broken are refused: it is broken again.
  if (delayed >= after.quorum || what.has_unlisted_holds) {
    const bool imposed = delayed >= after.quorum;
    return report(what, "released", imposed ? what.delay : std::chrono::nanoseconds::zero(), after);
  }
  if (what.settings.format == Settings::Format::json &&
      report(what, "released", std::chrono::nanoseconds::zero(), after) != code(ExitCode::done)) {
    return code(ExitCode::failure);
  }
  print_error(
      fmt::format("'{}' was broken, but the delay could not be imposed: {} of {} nodes keep "
                  "it, {} needed; {}",
                  what.resource, delayed, after.nodes.size(), after.quorum,
                  obstacle.empty() ? "it can be acquired at once" : obstacle));
  return code(ExitCode::unavailable);
}

/// Deletes exactly these tokens. The verdict comes from a second inspection: a token on fewer nodes
/// than a quorum is released too, but the release itself has to call that "not the holder".
int break_tokens(Client& client, const Breaking& what) {
  std::string problem;
  BrokenOn broken_on;
  for (const Token& token : what.tokens) {
    const Result<RoundReport> released =
        client.break_lock(what.resource, token, {.delay = what.delay});
    broken_on.add(released ? *released : released.error().round);
    if (!released && released.error().code != Errc::not_holder) problem = released.error().message;
  }
  Result<Inspection> after = client.inspect(what.resource);
  // A node that did not know the script by its digest is asked again, behind the inspection.
  if (after && any_still_there(what.tokens, *after)) after = client.inspect(what.resource);
  if (!after) return report_failure(what.settings, what.resource, after.error());
  const bool too_few = count_answered(*after) < after->quorum;
  if (too_few || any_still_there(what.tokens, *after)) {
    const std::string problems = too_few ? too_few_answered(what.resource, *after)
                                         : fmt::format("'{}' could not be broken", what.resource);
    return report_not_broken(what.settings, "unavailable", what.resource, *after,
                             problem.empty() ? problems : fmt::format("{}: {}", problems, problem),
                             ExitCode::unavailable);
  }
  if (what.delay > std::chrono::nanoseconds::zero()) return judge_delay(what, broken_on, *after);
  return report(what, "released", what.delay, *after);
}

std::chrono::nanoseconds delay_of(const Arguments& given, const Settings& settings) {
  const auto delay = given.positive_duration("delay").value_or(std::chrono::nanoseconds::zero());
  if (delay > settings.max_ttl) {
    throw UsageError(fmt::format("--delay: {} is not allowed: up to {}, which is --max-ttl",
                                 format_duration(delay), format_duration(settings.max_ttl)));
  }
  return delay;
}

/// A holder that does not notice works until its lease ends. With --quiet, too: nothing else says
/// that two may work at once.
void warn_of_short_delay(const Breaking& what, const Inspection& before) {
  const auto left = longest_left(before);
  const bool is_lease = before.kind == LockKind::exclusive && delay_text(before.holder).empty();
  if (what.delay == std::chrono::nanoseconds::zero() || !is_lease || !left || *left <= what.delay)
    return;
  print_warning(fmt::format("the holder's lease may be valid for {}, longer than the delay of {}",
                            format_duration(*left), format_duration(what.delay)));
}

}  // namespace

int verb_break(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  const std::string resource = resource_of(given);
  const bool sure = given.flag("yes");
  const std::chrono::nanoseconds delay = delay_of(given, settings);
  if (!sure && ::isatty(STDIN_FILENO) != 1) {
    throw UsageError("--yes: needed where standard input is no terminal to ask at");
  }

  Session session(settings, signals);
  const EndOnSignal end_on_signal(signals, session);
  Result<Client> client = session.connect();
  if (!client) return report_failure(settings, resource, client.error());
  const Result<Inspection> before = client->inspect(resource);
  if (!before) return report_failure(settings, resource, before.error());
  if (count_answered(*before) < before->quorum) {
    return report_not_broken(settings, "unavailable", resource, *before,
                             too_few_answered(resource, *before), ExitCode::unavailable);
  }
  if (has_what_is_no_token(*before)) {
    print_error(
        fmt::format("RESOURCE: '{}' holds a value that is no lock token: delete it with redis-cli "
                    "if it is not wanted",
                    resource));
    return code(ExitCode::usage);
  }
  const Breaking what{settings, resource, tokens_on(*before), delay, has_unlisted_holds(*before)};
  if (what.tokens.empty()) return report(what, "free", std::chrono::nanoseconds::zero(), *before);
  if (settings.detail != Settings::Detail::quiet || !sure) {
    const Style style = Style::of_standard_output();
    const std::string shown = inspection_text(style, resource, *before);
    // With --quiet only because it asks.
    if (settings.format == Settings::Format::json || settings.detail == Settings::Detail::quiet) {
      print_on_standard_error(shown);
    } else if (!print(shown)) {
      return print_result({});
    }
  }
  warn_of_short_delay(what, *before);
  if (!sure && ask(delay) == Reply::no) {
    const bool split = before->state == Inspection::State::split;
    return report_not_broken(settings, split ? "split" : "held", resource, *before,
                             fmt::format("'{}' was left as it is", resource), ExitCode::taken);
  }
  const int broken = break_tokens(client.value(), what);
  if (broken != code(ExitCode::done) || !what.has_unlisted_holds) return broken;
  print_error(fmt::format("'{}' has more holders than were shown: break it again", resource));
  return code(ExitCode::taken);
}

}  // namespace redlock::cli
