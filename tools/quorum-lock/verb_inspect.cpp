#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "quorum-lock/exit_code.hpp"
#include "quorum-lock/json.hpp"
#include "quorum-lock/output.hpp"
#include "quorum-lock/session.hpp"
#include "quorum-lock/settings.hpp"
#include "quorum-lock/verb.hpp"
#include "quorum-lock/verdict.hpp"

namespace redlock::cli {

std::size_t count_answered(const Inspection& inspection) {
  return static_cast<std::size_t>(
      std::count_if(inspection.nodes.begin(), inspection.nodes.end(),
                    [](const NodeInspection& node) { return node.error.empty(); }));
}

std::string too_few_answered(const std::string& resource, const Inspection& inspection) {
  std::string line =
      fmt::format("unavailable: {} of {} nodes answered for '{}', {} are needed",
                  count_answered(inspection), inspection.nodes.size(), resource, inspection.quorum);
  for (const NodeInspection& node : inspection.nodes) {
    if (!node.error.empty()) {
      fmt::format_to(std::back_inserter(line), "; {}: {}", node.url, node.error);
    }
  }
  return line;
}

int verb_inspect(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  const std::string resource = resource_of(given);

  Session session(settings, signals);
  const EndOnSignal end_on_signal(signals, session);
  Result<Client> client = session.connect();
  if (!client) return report_failure(settings, resource, client.error());
  const Result<Inspection> inspection = client->inspect(resource);
  if (!inspection) return report_failure(settings, resource, inspection.error());

  const int printed =
      print_result(settings.format == Settings::Format::json
                       ? inspection_json(resource, *inspection)
                       : inspection_text(Style::of_standard_output(), resource, *inspection));
  if (count_answered(*inspection) < inspection->quorum) {
    print_error(too_few_answered(resource, *inspection));
    return code(ExitCode::unavailable);
  }
  return printed;
}

}  // namespace redlock::cli
