#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "quorum-lock/exit_code.hpp"
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

std::vector<std::string> tokens_on(const Inspection& inspection) {
  std::set<std::string> tokens;
  for (const NodeInspection& node : inspection.nodes) {
    switch (node.kind) {
      case LockKind::none:
      case LockKind::reserved:
        break;
      case LockKind::exclusive:
      case LockKind::other:
        tokens.insert(node.holder.value_or(std::string()));
        break;
      case LockKind::shared:
      case LockKind::reentrant:
        tokens.insert(node.tokens.begin(), node.tokens.end());
        break;
      case LockKind::interval:
        tokens.insert(std::string(interval_token));
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

bool any_still_there(const std::vector<std::string>& tokens, const Inspection& inspection) {
  const std::vector<std::string> now = tokens_on(inspection);
  return std::any_of(tokens.begin(), tokens.end(), [&now](const std::string& token) {
    return std::find(now.begin(), now.end(), token) != now.end();
  });
}

enum class Reply { yes, no };

Reply ask() {
  // On standard error, so that it is seen when standard output goes to a file.
  std::fputs(
      "Break it? A holder that is alive is not notified, and renews it if nobody else is "
      "quicker. [y/N] ",
      stderr);
  std::string line;
  if (!std::getline(std::cin, line)) return Reply::no;
  return line == "y" || line == "Y" || line == "yes" ? Reply::yes : Reply::no;
}

int report(const Settings& settings, std::string_view outcome, const std::string& resource,
           const std::vector<std::string>& tokens, const Inspection& inspection) {
  if (settings.format == Settings::Format::json) {
    return print_result(break_json(outcome, resource, tokens, inspection));
  }
  if (settings.detail == Settings::Detail::quiet) return code(ExitCode::done);
  const Style style = Style::of_standard_output();
  if (tokens.empty()) {
    return print_result(fmt::format("{} {}, nothing to break\n", as_printable(resource),
                                    style.paint(Style::Colour::good, "free")));
  }
  std::string text;
  for (const std::string& token : tokens) {
    text += fmt::format("{} {}  token {}\n", style.paint(Style::Colour::warning, "broken"),
                        as_printable(resource), as_printable(token));
  }
  return print_result(text);
}

/// Nothing was broken: one line, and with --json what the nodes store.
int report_not_broken(const Settings& settings, std::string_view outcome,
                      const std::string& resource, const Inspection& inspection,
                      std::string_view why, ExitCode exit_code) {
  const int printed = settings.format == Settings::Format::json
                          ? print_result(break_json(outcome, resource, {}, inspection))
                          : code(ExitCode::done);
  print_error(why);
  return printed == code(ExitCode::done) ? code(exit_code) : printed;
}

/// Deletes exactly these tokens. The verdict comes from a second inspection: a token on fewer nodes
/// than a quorum is released too, but the release itself has to call that "not the holder".
int break_tokens(Client& client, const Settings& settings, const std::string& resource,
                 const std::vector<std::string>& tokens) {
  for (const std::string& text : tokens) {
    if (Token::parse(text)) continue;
    print_error(fmt::format(
        "RESOURCE: '{}' holds a value of {} bytes, no lock token has more than {}: delete it "
        "with redis-cli if it is not wanted",
        resource, text.size(), limits::token_bytes));
    return code(ExitCode::usage);
  }
  std::string problem;
  for (const std::string& text : tokens) {
    const Result<RoundReport> released = client.break_lock(resource, *Token::parse(text));
    if (!released && released.error().code != Errc::not_holder) problem = released.error().message;
  }
  const Result<Inspection> after = client.inspect(resource);
  if (!after) return report_failure(settings, resource, after.error());
  const bool too_few = count_answered(*after) < after->quorum;
  if (too_few || any_still_there(tokens, *after)) {
    const std::string what = too_few ? too_few_answered(resource, *after)
                                     : fmt::format("'{}' could not be broken", resource);
    return report_not_broken(settings, "unavailable", resource, *after,
                             problem.empty() ? what : fmt::format("{}: {}", what, problem),
                             ExitCode::unavailable);
  }
  return report(settings, "released", resource, tokens, *after);
}

}  // namespace

int verb_break(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  const std::string resource = resource_of(given);
  const bool sure = given.flag("yes");
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
  const std::vector<std::string> tokens = tokens_on(*before);
  if (tokens.empty()) return report(settings, "free", resource, tokens, *before);
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
  if (!sure && ask() == Reply::no) {
    const bool split = before->state == Inspection::State::split;
    return report_not_broken(settings, split ? "split" : "held", resource, *before,
                             fmt::format("'{}' was left as it is", resource), ExitCode::taken);
  }
  const int broken = break_tokens(client.value(), settings, resource, tokens);
  if (broken != code(ExitCode::done) || !has_unlisted_holds(*before)) return broken;
  print_error(fmt::format("'{}' has more holders than were shown: break it again", resource));
  return code(ExitCode::taken);
}

}  // namespace redlock::cli
