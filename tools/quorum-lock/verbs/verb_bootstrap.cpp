#include <fmt/format.h>

#include <chrono>

#include "common/session/confirm.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/verbs/deployment_check.hpp"
#include "quorum-lock/verbs/membership.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {
namespace {

int report_refusal(const Settings& settings, const std::string& message, ExitCode exit) {
  print_error(message);
  if (settings.format == Settings::Format::json) {
    const int printed = print_result(refused_json(message));
    if (printed != code(ExitCode::done)) return printed;
  }
  return code(exit);
}

}  // namespace

int verb_bootstrap(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  if (!given.words.empty()) {
    throw UsageError(
        fmt::format("'{}': bootstrap takes no resource", as_printable(given.words[0])));
  }

  Session session(settings, signals);
  const EndOnSignal end_on_signal(signals, session);
  admin::ChangeOptions change;
  change.after_loss = given.flag("after-loss");
  change.on_progress = [&settings](const admin::ChangeProgress& progress) {
    if (progress.kind == admin::ChangeProgress::Kind::waiting) {
      print_note(settings, progress_text(progress));
    }
  };
  const ClientOptions options = client_options(settings, session.nodes());
  if (!given.flag("yes")) {
    const Result<admin::Membership> before = admin::members(options);
    const std::string open =
        before ? deployment_to_change(*before, options.max_ttl) : std::string();
    if (!open.empty()) {
      require_somebody_to_ask(open + ", and ");
      print_warning(open);
      const std::string question = fmt::format(
          "Open a deployment of {} with a max TTL of {} in its place? Stop its clients "
          "first. No lock is granted until the longer max TTL has passed.",
          counted(session.nodes().size(), "member"), format_duration(settings.client.max_ttl));
      if (!confirm(question)) {
        return report_refusal(settings, "the deployment was left as it is", ExitCode::taken);
      }
    }
  }
  const Result<admin::DeploymentCheck> opened = admin::bootstrap(options, change);
  if (!opened) {
    const ExitCode exit = exit_code_of(opened.error().code);
    // Wrong usage is not a refusal: no node was asked.
    if (opened.error().code != Errc::invalid_argument) {
      return report_refusal(settings, opened.error().message, exit);
    }
    print_error(opened.error().message);
    return code(exit);
  }
  const bool json = settings.format == Settings::Format::json;
  return print_result(json ? opened_json(*opened)
                           : opened_text(Style::of_standard_output(), settings, *opened));
}

}  // namespace redlock::cli
