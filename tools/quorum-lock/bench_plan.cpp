#include "quorum-lock/bench_plan.hpp"

#include "quorum-lock/usage_error.hpp"

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

}  // namespace redlock::cli
