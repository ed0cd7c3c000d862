#include <fmt/format.h>

#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/line/config_report.hpp"
#include "quorum-lock/line/layers.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {

int verb_config(const Arguments& given) {
  if (given.words.empty()) throw UsageError("config: allowed is config check");
  if (given.words.front() != "check") {
    throw UsageError(fmt::format("config: '{}' is not known: allowed is config check",
                                 as_printable(given.words.front())));
  }
  if (given.words.size() > 1) {
    throw UsageError(fmt::format("config check: '{}' is one too many: --config names the file",
                                 as_printable(given.words[1])));
  }
  if (!config_of(given)) {
    throw UsageError("--config: none given: config check --config FILE says what FILE means");
  }
  const ConfigReport report = check_config(given);
  for (const std::string& mistake : report.mistakes) print_error(mistake);
  if (report.mistakes.empty()) {
    for (const std::string& line : ignored_variables()) print_warning(line);
  }
  if (given.flag("json")) {
    const int printed = print_result(config_json(report));
    if (printed != code(ExitCode::done)) return printed;
  } else if (report.mistakes.empty()) {
    const int printed = print_result(config_text(Style::of_standard_output(), report));
    if (printed != code(ExitCode::done)) return printed;
  }
  return code(report.mistakes.empty() ? ExitCode::done : ExitCode::usage);
}

}  // namespace redlock::cli
