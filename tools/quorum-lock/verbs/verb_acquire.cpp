#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "common/session/exit_code.hpp"
#include "common/session/json.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "quorum-lock/locks/acquisition.hpp"
#include "quorum-lock/locks/lock_target.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {

int verb_acquire(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  const Target target = target_of(given);
  Subject subject = subject_of(given.words);
  AcquireOptions options;
  options.ttl = ttl_of(given, settings).value_or(default_ttl(settings));
  options.renew = false;  // this process ends
  options.fencing = given.flag("fencing");
  options.orphan_ttl = orphan_ttl_of(given, settings);
  const auto wait = wait_of(given).value_or(std::chrono::nanoseconds{0});
  const int conflict_code = conflict_code_of(given);

  Session session(settings, signals);
  Result<Client> client = session.connect();
  if (!client) return report_failure(settings, subject, client.error());
  Acquisition acquisition =
      acquire_until_signal(client.value(), target, wait, std::move(options), settings, signals);
  if (acquisition.signal != 0) return code_of_signal(acquisition.signal);
  if (!acquisition.lease) {
    subject.holder_name = acquisition.holder_name;
    const Error& error = acquisition.lease.error();
    const int failed = report_failure(settings, subject, error);
    return code_of_refusal(error, target, failed, conflict_code);
  }

  Lease lease = std::move(acquisition.lease).value();
  if (target.kind() == Target::Kind::permit) subject.permit = lease.resource();
  const int printed = print_result(
      settings.format == Settings::Format::json
          ? acquired_json(subject, target, lease)
          : acquired_text(Style::of_standard_output(), settings, subject, target, lease));
  // If the token could not be printed, the lease is released: it would only block the resource.
  if (printed != code(ExitCode::done)) return printed;
  if (!lease.detach().resources.empty()) return printed;
  print_error(fmt::format("'{}' was lost while its token was printed", subject.resource));
  return code(ExitCode::unavailable);
}

}  // namespace redlock::cli
