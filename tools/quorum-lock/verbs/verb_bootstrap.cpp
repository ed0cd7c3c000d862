#include <fmt/format.h>

#include <chrono>

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

int verb_bootstrap(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  if (!given.words.empty()) {
    throw UsageError(
        fmt::format("'{}': bootstrap takes no resource", as_printable(given.words[0])));
  }

  Session session(settings, signals);
  const EndOnSignal end_on_signal(signals, session);
  const bool json = settings.format == Settings::Format::json;
  admin::ChangeOptions change;
  change.after_loss = given.flag("after-loss");
  change.on_progress = [&settings](const admin::ChangeProgress& progress) {
    if (progress.kind == admin::ChangeProgress::Kind::waiting) {
      print_note(settings, progress_text(progress));
    }
  };
  const ClientOptions options = client_options(settings, session.nodes());
  const Result<admin::Membership> before = admin::members(options);
  const Result<admin::DeploymentCheck> opened = admin::bootstrap(options, change);
  if (!opened) {
    print_error(opened.error().message);
    // Wrong usage is not a refusal: no node was asked.
    if (json && opened.error().code != Errc::invalid_argument &&
        print_result(refused_json(opened.error().message)) != code(ExitCode::done)) {
      return code(ExitCode::failure);
    }
    return code(exit_code_of(opened.error().code));
  }
  const bool differs =
      before && !before->deployment.empty() &&
      (before->members.size() != opened->members ||
       before->max_ttl != std::chrono::ceil<std::chrono::milliseconds>(options.max_ttl));
  if (differs) {
    print_warning(fmt::format("this was a deployment of {} members with a max TTL of {}",
                              before->members.size(), format_duration(before->max_ttl)));
  }
  return print_result(json ? opened_json(*opened)
                           : opened_text(Style::of_standard_output(), settings, *opened));
}

}  // namespace redlock::cli
