#include "bench/cycle/cycle_measurement.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "bench/measure/endpoint.hpp"
#include "common/session/output.hpp"

namespace redlock::cli {

void tell_left_out(std::vector<CycleSide>& sides) {
  for (CycleSide& side : sides) {
    if (side.left_out.empty() || std::exchange(side.told, true)) continue;
    print_warning(fmt::format("{} is left out: {}", side.name, side.left_out));
  }
}

bench::CycleSettings plain_settings(const CycleLoad& load) {
  bench::CycleSettings settings;
  settings.nodes = plain_endpoints(load.options.nodes);
  settings.in_flight = load.in_flight;
  settings.duration = load.duration;
  settings.resource_prefix = load.resource_prefix;
  return settings;
}

CycleMeasurement::CycleMeasurement(const CycleRequest& request, const Session& session,
                                   std::vector<CycleSide>& sides, const std::atomic<int>& stop)
    : request_(request),
      session_(session),
      sides_(sides),
      stop_(stop),
      progress_(request.nodes_counts.size() * request.in_flight.size() * request.repetitions,
                static_cast<std::int64_t>(1 + sides.size()) * request.duration),
      prefix_(fmt::format("quorum-lock-bench/{}", ::getpid())) {}

std::variant<std::vector<CycleRow>, std::string> CycleMeasurement::run() {
  std::vector<CycleRow> rows;
  for (const std::uint64_t nodes : request_.nodes_counts) {
    for (const std::uint64_t in_flight : request_.in_flight) {
      CycleRow row{nodes, in_flight, {}, {}};
      for (const CycleSide& side : sides_) row.sides.push_back({side.name, {}, {}});
      // A node that was slow at the end of the last row still has keys of that row. They must
      // neither count as somebody's locks nor be in the way.
      session_.reopen_local_nodes(first_nodes(nodes));
      for (std::uint64_t i = 0; i < request_.repetitions; ++i) {
        progress_.show(done_++, fmt::format("{} nodes, {} in flight, repetition {} of {}", nodes,
                                            in_flight, i + 1, request_.repetitions));
        std::string problem = repeat(row);
        if (!problem.empty()) return problem;
        if (stop_.load() != 0) return rows;
      }
      // A side that was left out from the beginning has nothing to show.
      std::erase_if(row.sides, [](const SideFigures& side) { return side.runs.empty(); });
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<std::string> CycleMeasurement::first_nodes(std::size_t count) const {
  const auto& all = session_.nodes();
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

CycleLoad CycleMeasurement::load_of(const CycleRow& row) const {
  CycleLoad load;
  load.options = client_options(request_.settings, first_nodes(row.nodes));
  load.in_flight = row.in_flight;
  load.warm_up =
      std::min<std::chrono::nanoseconds>(request_.duration / 10, std::chrono::milliseconds{200});
  load.duration = request_.duration;
  load.resource_prefix = prefix_;
  load.stop = &stop_;
  load.node_cpu = [this] { return session_.cpu_time_of_local_nodes(); };
  return load;
}

/// Returns why the measurement failed; empty: it did not.
std::string CycleMeasurement::repeat(CycleRow& row) {
  bench::CycleOutcome ours = request_.interface == CycleRequest::Interface::blocking
                                 ? run_blocking_cycles(load_of(row))
                                 : run_async_cycles(load_of(row));
  if (auto* problem = std::get_if<std::string>(&ours)) return std::move(*problem);
  row.ours.push_back(figures_of(std::get<bench::CycleResult>(ours)));
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (!sides_[i].left_out.empty() || stop_.load() != 0) continue;
    bench::CycleOutcome theirs = sides_[i].run(load_of(row));
    if (stop_.load() != 0) break;
    if (auto* result = std::get_if<bench::CycleResult>(&theirs)) {
      row.sides[i].version = result->version;
      row.sides[i].runs.push_back(figures_of(*result));
    } else {
      sides_[i].left_out = std::get<std::string>(std::move(theirs));
    }
  }
  return {};
}

}  // namespace redlock::cli
