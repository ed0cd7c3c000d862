#include "quorum-lock/locks/breaking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "common/session/confirm.hpp"
#include "common/session/holder_text.hpp"
#include "common/session/output.hpp"
#include "common/session/verdict.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"
#include "redlock/limits.hpp"

namespace redlock::cli {
namespace {

bool any_still_there(const std::vector<Token>& tokens, const Inspection& inspection) {
  const std::vector<Token> now = tokens_on(inspection);
  return std::any_of(tokens.begin(), tokens.end(), [&now](const Token& token) {
    return std::find(now.begin(), now.end(), token) != now.end();
  });
}

/// The number of holds whose tokens are listed: the token of a delay is not a hold's.
std::size_t listed_holds(const NodeInspection& node) {
  return node.tokens.size() - (delay_next_to_holds(node) ? 1 : 0);
}

/// Whether tokens were deleted, even if on too few nodes for a successful round.
struct BrokenOn {
  bool any = false;
  /// The nodes that deleted a token, or whose answers no round has waited for.
  std::set<std::string> nodes;

  void add(const Round& round) {
    for (const NodeVote& node : round.nodes) {
      any = any || node.vote == Vote::granted;
      if (node.vote == Vote::granted || node.vote == Vote::pending) nodes.insert(node.url);
    }
  }
};

BreakVerdict tokens_gone(std::string_view outcome, const Breaking& what,
                         std::chrono::nanoseconds delay, Inspection after) {
  return {.outcome = outcome, .tokens = what.tokens, .delay = delay, .after = std::move(after)};
}

/// Judges the delay after the tokens are gone. Only the nodes know whether everybody is kept out
/// for the delay.
BreakVerdict judge_delay(const Breaking& what, const BrokenOn& broken_on, Inspection after) {
  const auto delayed = static_cast<std::size_t>(std::count_if(
      after.nodes.begin(), after.nodes.end(), [&broken_on](const NodeInspection& node) {
        const bool is_last = node.kind == LockKind::exclusive && !delay_text(node.holder).empty();
        return (is_last || delay_next_to_holds(node)) && broken_on.nodes.contains(node.url);
      }));
  const std::string obstacle = holder_text(after);
  const auto none = std::chrono::nanoseconds::zero();
  if (!broken_on.any && delayed == 0) {
    if (after.state == Inspection::State::free) {
      return tokens_gone("free", what, none, std::move(after));
    }
    const bool known = after.state != Inspection::State::indeterminate;
    const std::string_view outcome = known ? to_string(after.state) : "unavailable";
    return not_broken(
        outcome, std::move(after),
        fmt::format("'{}' was released before it was broken, and no delay imposed; {}",
                    what.resource, known ? obstacle : "too few nodes say who has it now"),
        known ? ExitCode::taken : ExitCode::unavailable);
  }
  const bool imposed = delayed >= after.quorum;
  // If there are holds that were not listed, the lock is broken again, and the nodes refuse new
  // holds until then.
  const bool is_enough = imposed || what.has_unlisted_holds;
  BreakVerdict verdict =
      tokens_gone("released", what, imposed ? what.delay : none, std::move(after));
  if (is_enough) return verdict;
  verdict.exit_code = ExitCode::unavailable;
  verdict.why = fmt::format(
      "'{}' was broken, but the delay could not be imposed: it is on {} of {}, {} needed; {}",
      what.resource, delayed, counted(verdict.after.nodes.size(), "node"), verdict.after.quorum,
      obstacle.empty() ? "it can be acquired at once" : obstacle);
  return verdict;
}

}  // namespace

std::vector<Token> tokens_on(const Inspection& inspection) {
  std::set<Token> tokens;
  for (const NodeInspection& node : inspection.nodes) {
    switch (node.kind) {
      case LockKind::none:
      case LockKind::other:
        break;
      case LockKind::reserved:
        if (const auto token = Token::parse(
                fmt::format("{}{}", reservation_prefix, node.next.value_or(NextClient()).id))) {
          tokens.insert(*token);
        }
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

bool has_unlisted_holds(const Inspection& inspection) {
  return std::any_of(inspection.nodes.begin(), inspection.nodes.end(),
                     [](const NodeInspection& node) { return node.holds > listed_holds(node); });
}

bool has_what_is_no_token(const Inspection& inspection) {
  constexpr std::size_t surely_listed = limits::holds_listed - 1;
  return std::any_of(
      inspection.nodes.begin(), inspection.nodes.end(), [](const NodeInspection& node) {
        const bool unlisted = node.holds > listed_holds(node);
        return node.kind == LockKind::other || (unlisted && node.tokens.size() < surely_listed);
      });
}

BreakVerdict not_broken(std::string_view outcome, Inspection inspection, std::string why,
                        ExitCode exit_code) {
  return {.outcome = outcome,
          .after = std::move(inspection),
          .why = std::move(why),
          .exit_code = exit_code};
}

/// The verdict comes from a second inspection: a token on fewer nodes than a quorum is released
/// too, but the release itself has to call that "not the holder".
Result<BreakVerdict> break_tokens(Client& client, const Breaking& what) {
  std::string problem;
  BrokenOn broken_on;
  for (const Token& token : what.tokens) {
    const Result<Round> released = client.break_lock(what.resource, token, {.delay = what.delay});
    broken_on.add(released ? *released : released.error().round);
    if (!released && released.error().code != Errc::not_holder) problem = released.error().message;
  }
  Result<Inspection> after = client.inspect(what.resource);
  // A node that did not know the script by its digest is asked again, after the inspection.
  if (after && any_still_there(what.tokens, *after)) after = client.inspect(what.resource);
  if (!after) return std::move(after).error();
  const bool too_few = count_answered(*after) < after->quorum;
  if (too_few || any_still_there(what.tokens, *after)) {
    const std::string problems = too_few ? too_few_answered(what.resource, *after)
                                         : fmt::format("'{}' could not be broken", what.resource);
    return not_broken("unavailable", *std::move(after),
                      problem.empty() ? problems : fmt::format("{}: {}", problems, problem),
                      ExitCode::unavailable);
  }
  BreakVerdict verdict = what.delay > std::chrono::nanoseconds::zero()
                             ? judge_delay(what, broken_on, *std::move(after))
                             : tokens_gone("released", what, what.delay, *std::move(after));
  verdict.deleted_any = broken_on.any;
  return verdict;
}

std::chrono::nanoseconds lease_beyond_delay(const Inspection& before,
                                            std::chrono::nanoseconds delay) {
  const auto left = longest_left(before);
  const bool is_lease = before.kind == LockKind::exclusive && delay_text(before.holder).empty();
  const bool is_short = delay != std::chrono::nanoseconds::zero() && is_lease && left;
  return is_short && *left > delay ? *left : std::chrono::nanoseconds::zero();
}

std::string broken_text(const Breaking& what, const BreakVerdict& verdict) {
  const Style style = Style::of_standard_output();
  const std::string resource = as_printable(what.resource);
  if (verdict.outcome == "free") {
    return fmt::format("{} {}, {}{}\n", resource, style.paint(Style::Colour::good, "free"),
                       what.tokens.empty() ? "nothing to break" : "released before it was broken",
                       what.delay == std::chrono::nanoseconds::zero() ? "" : ", no delay imposed");
  }
  std::string text;
  for (const Token& token : verdict.tokens) {
    text += fmt::format("{} {}  token {}\n", style.paint(Style::Colour::warning, "broken"),
                        resource, as_printable(token.view()));
  }
  if (verdict.delay > std::chrono::nanoseconds::zero()) {
    text += fmt::format("nobody can acquire {} for {}\n", resource, format_duration(verdict.delay));
  }
  return text;
}

bool confirm_break(std::string_view what, std::chrono::nanoseconds delay) {
  const std::string question =
      delay == std::chrono::nanoseconds::zero()
          ? fmt::format(
                "Break {}? A holder that is alive is not notified, and renews it if nobody "
                "else is quicker.",
                what)
          : fmt::format(
                "Break {}? A holder that is alive is not notified. Nobody can acquire it "
                "for {}.",
                what, format_duration(delay));
  require_somebody_to_ask();
  return confirm(question);
}

}  // namespace redlock::cli
