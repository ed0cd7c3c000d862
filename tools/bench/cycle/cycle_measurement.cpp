#include "bench/cycle/cycle_measurement.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "bench/cycle/cycle_bench.hpp"
#include "bench/floor/floor_uv.hpp"
#include "bench/measure/endpoint.hpp"
#include "redlock/deployment.hpp"

namespace redlock::cli {
namespace {

/// The least time that a repetition takes.
std::chrono::nanoseconds expected_of(const CycleRequest& request, const Peers* peers) {
  const std::int64_t runs =
      1 + (request.floor ? 1 : 0) + (request.scripts ? 2 : 0) + (request.guards ? 3 : 0);
  std::chrono::nanoseconds expected = runs * request.duration;
  if (peers == nullptr) return expected;
  for (const Peer& peer : peers->all()) {
    if (peer.left_out.empty())
      expected += request.duration + Peers::warm_up_of(peer, request.duration);
  }
  return expected;
}

std::string take(bench::CycleOutcome outcome, std::vector<Figures>& into) {
  if (auto* problem = std::get_if<std::string>(&outcome)) return std::move(*problem);
  into.push_back(figures_of(std::get<bench::CycleResult>(outcome)));
  return {};
}

}  // namespace

CycleMeasurement::CycleMeasurement(const CycleRequest& request, const Session& session,
                                   Peers* peers, const std::atomic<int>& stop)
    : request_(request),
      session_(session),
      peers_(peers),
      stop_(stop),
      progress_(request.nodes_counts.size() * request.in_flight.size() * request.repetitions,
                expected_of(request, peers)),
      prefix_(fmt::format("quorum-lock-bench/{}", ::getpid())) {}

std::variant<std::vector<BenchRow>, std::string> CycleMeasurement::run() {
  std::vector<BenchRow> rows;
  for (const std::uint64_t nodes : request_.nodes_counts) {
    for (const std::uint64_t in_flight : request_.in_flight) {
      BenchRow row = new_row(nodes, in_flight);
      if (std::string problem = open(nodes); !problem.empty()) return problem;
      for (std::uint64_t i = 0; i < request_.repetitions; ++i) {
        progress_.show(done_++, fmt::format("{} nodes, {} in flight, repetition {} of {}", nodes,
                                            in_flight, i + 1, request_.repetitions));
        std::string problem = repeat(row);
        if (!problem.empty()) return problem;
        if (stop_.load() != 0) return rows;
      }
      // A peer that was left out from the beginning has nothing to show.
      std::erase_if(row.peers, [](const PeerSide& side) { return side.runs.empty(); });
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<std::string> CycleMeasurement::first_nodes(std::size_t count) const {
  const auto& all = session_.nodes();
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// Clears our own nodes, and with the restart guard opens a deployment of the first `nodes`. A node
/// that was slow at the end of the last row still has keys of that row. They must neither count as
/// somebody's locks nor be in the way.
std::string CycleMeasurement::open(std::size_t nodes) const {
  if (!session_.is_local()) return {};
  session_.clear_local_nodes();
  if (!request_.settings.guards.restart) return {};
  const auto opened = admin::bootstrap(client_options(request_.settings, first_nodes(nodes)));
  return opened ? std::string() : opened.error().message;
}

BenchRow CycleMeasurement::new_row(std::size_t nodes, std::size_t in_flight) const {
  BenchRow row;
  row.nodes = nodes;
  row.in_flight = in_flight;
  if (peers_ == nullptr) return row;
  for (const Peer& peer : peers_->all()) row.peers.push_back({peer.name, peer.version, {}});
  return row;
}

bench::CycleSettings CycleMeasurement::settings_of_others(const BenchRow& row) const {
  bench::CycleSettings settings;
  for (const std::string& url : first_nodes(row.nodes)) {
    // All URLs have a plain endpoint: otherwise the request was refused.
    if (const auto endpoint = plain_endpoint(url)) settings.nodes.push_back(*endpoint);
  }
  settings.in_flight = row.in_flight;
  settings.duration = request_.duration;
  settings.resource_prefix = prefix_;
  return settings;
}

bench::NodeCpu CycleMeasurement::node_cpu() const {
  return [this] { return session_.cpu_time_of_local_nodes(); };
}

bench::CycleOutcome CycleMeasurement::run_ours(const BenchRow& row, Guards guards, Fencing fencing,
                                               Plain plain) const {
  CycleLoad load;
  load.options = client_options(request_.settings, first_nodes(row.nodes));
  if (guards == Guards::off) load.options.guards.restart = load.options.guards.clock = false;
  load.options.plain_commands = plain == Plain::on;
  load.fencing = fencing == Fencing::on;
  load.in_flight = row.in_flight;
  load.duration = request_.duration;
  load.resource_prefix = prefix_;
  load.stop = &stop_;
  load.node_cpu = node_cpu();
  return request_.interface == CycleRequest::Interface::blocking ? run_blocking_cycles(load)
                                                                 : run_async_cycles(load);
}

bench::CycleOutcome CycleMeasurement::run_floor(const BenchRow& row) const {
  const auto before = session_.cpu_time_of_local_nodes();
  bench::CycleOutcome outcome = bench::run_floor_uv(settings_of_others(row));
  if (auto* result = std::get_if<bench::CycleResult>(&outcome)) {
    result->node_cpu = session_.cpu_time_of_local_nodes() - before;
  }
  return outcome;
}

void CycleMeasurement::run_peers(BenchRow& row) {
  for (std::size_t i = 0; i < row.peers.size(); ++i) {
    const auto result = peers_->run(i, settings_of_others(row), node_cpu());
    if (!result) continue;
    row.peers[i].runs.push_back(figures_of(*result));
    row.peers[i].version = peers_->all()[i].version;
  }
}

std::string CycleMeasurement::repeat(BenchRow& row) {
  const auto ours = [&](Guards guards, Fencing fencing, std::vector<Figures>& into,
                        Plain plain = Plain::on) {
    return stop_.load() != 0 ? std::string() : take(run_ours(row, guards, fencing, plain), into);
  };
  std::string problem = ours(Guards::as_given, Fencing::off, row.ours);
  if (problem.empty() && stop_.load() == 0 && request_.floor) {
    problem = take(run_floor(row), row.floor);
  }
  if (problem.empty()) run_peers(row);
  if (request_.scripts) {
    const auto as_given = [&](Plain plain, std::vector<Figures>& into) {
      if (problem.empty()) problem = ours(Guards::as_given, Fencing::off, into, plain);
    };
    as_given(Plain::off, row.scripts);
    as_given(Plain::on, row.plain_commands);
  }
  if (!request_.guards) return problem;
  if (problem.empty()) problem = ours(Guards::off, Fencing::off, row.plain);
  if (problem.empty()) problem = ours(Guards::as_given, Fencing::off, row.guarded);
  if (problem.empty()) problem = ours(Guards::as_given, Fencing::on, row.fenced);
  return problem;
}

}  // namespace redlock::cli
