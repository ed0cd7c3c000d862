#include "quorum-lock/locks/break_many.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "common/session/exit_code.hpp"
#include "common/session/holder_text.hpp"
#include "common/session/json.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/session/table.hpp"
#include "common/text/duration.hpp"
#include "common/text/glob.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/locks/breaking.hpp"
#include "quorum-lock/locks/chosen_locks.hpp"
#include "quorum-lock/locks/lock_table.hpp"
#include "redlock/limits.hpp"
#include "redlock/listing.hpp"

namespace redlock::cli {
namespace {

/// Breaks many locks, and reports the result for every lock that was shown.
class ManyBreaker {
 public:
  ManyBreaker(Client& client, const Settings& settings, const ManyBreaking& many,
              BreakProgress& progress)
      : client_(client), settings_(settings), many_(many), progress_(progress) {}

  [[nodiscard]] int run(const admin::LockList& list) {
    for (const std::string& line : list_warnings(list, many_.keys_per_node)) print_warning(line);
    Result<ChosenLocks> chosen = choose_locks(client_, list, many_);
    if (!chosen) return fail(chosen.error());
    for (const std::string& resource : chosen->values) {
      print_error(
          fmt::format("'{}' holds a value that is not a lock token, and is left", resource));
      left_any_ = true;
    }
    if (chosen->locks.empty()) return report_nothing();
    if (!show(*chosen)) return print_result({});
    warn_of_short_delay(*chosen);
    if (!many_.sure && !confirm_break(counted(chosen->locks.size()), many_.delay)) {
      return report_refusal(chosen->locks.size());
    }
    std::vector<BreakVerdict> verdicts(chosen->locks.size());
    progress_.chosen = verdicts.size();
    for_each_at_once(verdicts.size(), [&](std::size_t i) {
      verdicts[i] = break_one(chosen->locks[i]);
      if (verdicts[i].outcome == "released") ++progress_.broken;
    });
    return report(chosen->locks, std::move(verdicts));
  }

  [[nodiscard]] int fail(const Error& error) const {
    const auto outcome = outcome_of(error.code);
    const int printed = outcome && json() ? print_json(*outcome, {}) : code(ExitCode::done);
    print_error(error.message);
    return printed == code(ExitCode::done) ? code(exit_code_of(error.code)) : printed;
  }

 private:
  [[nodiscard]] bool json() const { return settings_.format == Settings::Format::json; }
  [[nodiscard]] bool quiet() const { return settings_.detail == Settings::Detail::quiet; }

  [[nodiscard]] int print_json(std::string_view outcome,
                               const std::vector<BreakResult>& results) const {
    return print_result(
        breaks_json(outcome, many_.pattern, many_.holder.value_or(std::string()), results));
  }

  static std::string counted(std::size_t count) {
    return count == 1 ? "this lock" : fmt::format("these {} locks", count);
  }

  [[nodiscard]] int report_nothing() const {
    const int exit_code = code(left_any_ ? ExitCode::taken : ExitCode::done);
    if (json()) {
      const int printed = print_json(left_any_ ? "held" : "free", {});
      return printed == code(ExitCode::done) ? exit_code : printed;
    }
    if (quiet() || left_any_) return exit_code;
    std::string text = "no locks";
    if (!many_.pattern.empty()) text += fmt::format(" match '{}'", as_printable(many_.pattern));
    if (many_.holder) {
      text += fmt::format("{} held by '{}'", many_.pattern.empty() ? "" : " and are",
                          as_printable(*many_.holder));
    }
    return print_result(text + ", nothing to break\n");
  }

  /// Returns false if the locks could not be printed.
  [[nodiscard]] bool show(const ChosenLocks& chosen) const {
    if (quiet() && many_.sure) return true;
    const std::string shown = joined_lines(
        lock_lines(Style::of_standard_output(), chosen.rows, std::nullopt, chosen.names));
    // With --quiet, the locks are shown only because the question follows.
    if (!json() && !quiet()) return print(shown);
    print_on_standard_error(shown);
    return true;
  }

  void warn_of_short_delay(const ChosenLocks& chosen) const {
    auto longest = std::chrono::nanoseconds::zero();
    for (const ChosenLock& lock : chosen.locks) {
      longest = std::max(longest, lease_beyond_delay(lock.before, many_.delay));
    }
    if (longest == std::chrono::nanoseconds::zero()) return;
    print_warning(fmt::format("a holder's lease may be valid for {}, longer than the delay of {}",
                              format_duration(longest), format_duration(many_.delay)));
  }

  [[nodiscard]] int report_refusal(std::size_t count) const {
    const int printed = json() ? print_json("held", {}) : code(ExitCode::done);
    print_error(count == 1 ? "the lock was left as it is"
                           : fmt::format("{} locks were left as they are", count));
    return printed == code(ExitCode::done) ? code(ExitCode::taken) : printed;
  }

  /// Breaks one lock. A lock that was released after it was shown does not count as broken.
  [[nodiscard]] BreakVerdict break_one(const ChosenLock& lock) const {
    Result<BreakVerdict> broken = break_tokens(client_, lock.what);
    if (!broken) {
      return not_broken(outcome_of(broken.error().code).value_or("unavailable"), {},
                        fmt::format("'{}': {}", lock.what.resource, broken.error().message),
                        exit_code_of(broken.error().code));
    }
    BreakVerdict verdict = *std::move(broken);
    if (verdict.outcome == "released" && !verdict.deleted_any) {
      if (verdict.after.state == Inspection::State::free) {
        verdict.outcome = "free";
        return verdict;
      }
      const std::string_view state = to_string(verdict.after.state);
      const std::string why = fmt::format("'{}' was not broken, it changed hands: {}",
                                          lock.what.resource, holder_text(verdict.after));
      return not_broken(state == "split" ? "split" : "held", std::move(verdict.after), why,
                        ExitCode::taken);
    }
    if (verdict.why.empty() && lock.what.has_unlisted_holds) {
      verdict.why =
          fmt::format("'{}' has more holders than were shown: break it again", lock.what.resource);
      verdict.exit_code = ExitCode::taken;
    }
    return verdict;
  }

  [[nodiscard]] int report(const std::vector<ChosenLock>& locks,
                           std::vector<BreakVerdict> verdicts) const {
    std::string text;
    std::vector<BreakResult> results;
    std::size_t broken = 0;
    ExitCode worst = left_any_ ? ExitCode::taken : ExitCode::done;
    for (std::size_t i = 0; i < locks.size(); ++i) {
      BreakVerdict& verdict = verdicts[i];
      const Breaking& what = locks[i].what;
      if (verdict.outcome == "released") ++broken;
      if (verdict.outcome == "released" || verdict.outcome == "free") {
        text += broken_text(what, verdict);
      }
      if (verdict.exit_code == ExitCode::unavailable || worst == ExitCode::done) {
        worst = verdict.exit_code;
      }
      results.push_back({verdict.outcome, what.resource, std::move(verdict.tokens), verdict.delay,
                         std::move(verdict.after)});
    }
    text += fmt::format("broken: {} of {}\n", broken, locks.size());
    const std::string_view outcome = worst == ExitCode::unavailable ? "unavailable"
                                     : worst != ExitCode::done      ? "held"
                                                                    : "released";
    const int printed = json()    ? print_json(outcome, results)
                        : quiet() ? code(ExitCode::done)
                                  : print_result(text);
    for (const BreakVerdict& verdict : verdicts) {
      if (!verdict.why.empty()) print_error(verdict.why);
    }
    return printed == code(ExitCode::done) ? code(worst) : printed;
  }

  Client& client_;
  const Settings& settings_;
  const ManyBreaking& many_;
  BreakProgress& progress_;
  bool left_any_ = false;
};

}  // namespace

std::optional<std::string> holder_glob_of(const Arguments& given) {
  const auto holder = given.text("holder");
  if (!holder) return std::nullopt;
  if (holder->size() > limits::pattern_bytes) {
    throw UsageError(fmt::format("--holder: has {} bytes: 1 to {} are allowed", holder->size(),
                                 limits::pattern_bytes));
  }
  return looks_like_glob(*holder) ? *holder : escaped_glob(*holder);
}

int break_many(Client& client, const ClientOptions& options, const Settings& settings,
               const ManyBreaking& many, BreakProgress& progress) {
  ManyBreaker breaker(client, settings, many, progress);
  const Result<admin::LockList> list =
      admin::list_locks(options, {.pattern = many.pattern, .keys_per_node = many.keys_per_node});
  if (!list) return breaker.fail(list.error());
  if (list->answered < list->quorum) {
    return breaker.fail(Error{Errc::unavailable, too_few_answered(*list)});
  }
  return breaker.run(*list);
}

}  // namespace redlock::cli
