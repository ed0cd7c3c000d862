#include "bench/measure/bench_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "bench/measure/endpoint.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {

BenchPlan read_bench_plan(const Arguments& given, std::chrono::nanoseconds default_duration) {
  BenchPlan plan;
  plan.settings = resolve_settings(given, NodesNeeded::optional);
  if (plan.settings.quorum) throw UsageError("--quorum: not with bench: it measures majorities");
  if (plan.settings.nodes.empty() && !plan.settings.local) plan.settings.local = 5;
  plan.in_flight = given.numbers("in-flight").value_or(std::vector<std::uint64_t>{1, 64});
  plan.duration = given.positive_duration("duration").value_or(default_duration);
  if (plan.duration > std::chrono::hours{1}) {
    throw UsageError("--duration: at most 1h is allowed");
  }
  plan.repetitions = given.number("repetitions").value_or(5);
  return plan;
}

std::vector<std::uint64_t> choose_plain_nodes(const Arguments& given, std::string_view mode,
                                              std::uint64_t usual, Settings& settings) {
  if (settings.quorum) throw UsageError("--quorum: not with bench: it measures majorities");
  const std::size_t present = settings.local.value_or(settings.nodes.size());
  std::vector<std::uint64_t> counts =
      given.numbers("nodes-count")
          .value_or(std::vector<std::uint64_t>{present == 0 ? usual : present});
  const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
  if (settings.nodes.empty()) {
    settings.local = std::max<std::size_t>(present, most);
  } else if (most > present) {
    throw UsageError(
        fmt::format("--nodes-count: {} is more than the {} nodes given", most, present));
  }
  for (const std::string& node : settings.nodes) {
    if (plain_endpoint(node) && settings.password.empty()) continue;
    throw UsageError(fmt::format(
        "--mode {}: cannot measure '{}': only nodes without TLS, user name and database number, "
        "with the password in the URL",
        mode, without_password(node)));
  }
  return counts;
}

}  // namespace redlock::cli
