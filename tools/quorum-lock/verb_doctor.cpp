#include <fmt/format.h>

#include "quorum-lock/deployment_check.hpp"
#include "quorum-lock/exit_code.hpp"
#include "quorum-lock/output.hpp"
#include "quorum-lock/session.hpp"
#include "quorum-lock/settings.hpp"
#include "quorum-lock/text.hpp"
#include "quorum-lock/usage_error.hpp"
#include "quorum-lock/verb.hpp"

namespace redlock::cli {

int verb_doctor(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  if (!given.words.empty()) {
    throw UsageError(fmt::format("'{}': doctor takes no resource", as_printable(given.words[0])));
  }

  Session session(settings, signals);
  const EndOnSignal end_on_signal(signals, session);
  const Result<admin::DeploymentCheck> check =
      admin::check(client_options(settings, session.nodes()));
  if (!check) {
    print_error(check.error().message);
    return code(exit_code_of(check.error().code));
  }
  const int printed = print_result(settings.format == Settings::Format::json
                                       ? check_json(*check)
                                       : check_text(Style::of_standard_output(), settings, *check));
  return check->findings.empty() ? printed : code(ExitCode::failure);
}

}  // namespace redlock::cli
