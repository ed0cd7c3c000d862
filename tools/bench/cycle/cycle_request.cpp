#include "bench/cycle/cycle_request.hpp"

#include <utility>

#include "bench/measure/bench_nodes.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

constexpr std::uint64_t most_threads = 512;

std::vector<std::uint64_t> usual_nodes(const Settings& settings) {
  if (!settings.nodes.empty()) return {settings.nodes.size()};
  std::vector<std::uint64_t> counts;
  for (const std::uint64_t count : {1U, 3U, 5U}) {
    if (!settings.local || count < *settings.local) counts.push_back(count);
  }
  if (settings.local) counts.push_back(*settings.local);
  return counts;
}

}  // namespace

CycleRequest read_cycle_request(const Arguments& given) {
  CycleRequest request;
  request.settings = resolve_settings(given, NodesNeeded::optional);
  if (given.flag("async") && given.flag("blocking")) {
    throw UsageError("--async: not together with --blocking");
  }
  request.interface =
      given.flag("blocking") ? CycleRequest::Interface::blocking : CycleRequest::Interface::async;
  request.peers = given.flag("peers");
  const bool threads = request.interface == CycleRequest::Interface::blocking;
  const auto in_flight = threads || request.peers ? given.numbers("in-flight", 1, most_threads)
                                                  : given.numbers("in-flight");
  request.in_flight = in_flight.value_or(std::vector<std::uint64_t>{1, 16, 64});
  request.duration = given.positive_duration("duration").value_or(std::chrono::seconds{2});
  if (request.duration > std::chrono::hours{1}) {
    throw UsageError("--duration: at most 1h is allowed");
  }
  request.repetitions = given.number("repetitions").value_or(5);
  request.nodes_counts = choose_nodes(given, request.settings, usual_nodes(request.settings));
  if (request.peers) require_plain_nodes(request.settings, "--peers");
  return request;
}

}  // namespace redlock::cli
