#include "bench/cycle/faults_bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "bench/cycle/cycle_bench.hpp"
#include "bench/cycle/faults_report.hpp"
#include "bench/measure/bench_plan.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/progress.hpp"
#include "common/session/session.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

class FaultsBench {
 public:
  FaultsBench(const BenchPlan& plan, Session& session, const std::atomic<int>& stop)
      : plan_(plan),
        session_(session),
        stop_(stop),
        faults_(bench_faults(session.nodes().size())),
        minority_(session.nodes().size() - (session.nodes().size() / 2 + 1)),
        progress_(plan.in_flight.size() * plan.repetitions * runs_of_repetition(),
                  plan.duration + warm_up_of(plan.duration)) {}

  /// Incomplete after a signal. Throws std::runtime_error.
  FaultsReport run() {
    FaultsReport report;
    report.nodes = session_.nodes().size();
    report.node_limit = client_options(plan_.settings, session_.nodes()).shortest_node_limit;
    for (const std::uint64_t in_flight : plan_.in_flight) {
      std::vector<FaultRow> rows = empty_rows(in_flight);
      for (std::uint64_t i = 0; i < plan_.repetitions; ++i) {
        for (std::size_t row = 1; row < rows.size(); ++row) {
          if (!rows[row].majority) {
            measure(rows[0], i);
            if (!rows[0].figures.empty()) rows[row].healthy.push_back(rows[0].figures.back());
          }
          measure(rows[row], i);
          if (stop_.load() != 0) return report;
        }
      }
      std::move(rows.begin(), rows.end(), std::back_inserter(report.rows));
    }
    return report;
  }

 private:
  [[nodiscard]] std::size_t runs_of_repetition() const {
    std::size_t runs = 0;
    for (const BenchFault& fault : faults_) runs += fault.nodes > minority_ ? 1 : 2;
    return runs;
  }

  /// The rows in their order: first that of the healthy nodes.
  [[nodiscard]] std::vector<FaultRow> empty_rows(std::size_t in_flight) const {
    std::vector<FaultRow> rows;
    const auto add = [&](const BenchFault& fault) {
      rows.push_back({in_flight, fault, fault.nodes > minority_, {}, {}, {}, {}});
    };
    add({});
    std::for_each(faults_.begin(), faults_.end(), add);
    return rows;
  }

  void measure(FaultRow& row, std::uint64_t repetition) {
    if (stop_.load() != 0) return;
    progress_.show(done_++, fmt::format("{} in flight, {}, repetition {} of {}", row.in_flight,
                                        fault_text(row.fault), repetition + 1, plan_.repetitions));
    session_.renew_local_nodes();
    CycleFailures failures;
    CycleLoad load;
    load.options = client_options(plan_.settings, session_.nodes());
    load.in_flight = row.in_flight;
    load.duration = plan_.duration;
    load.resource_prefix = fmt::format("quorum-lock-bench/{}", ::getpid());
    load.stop = &stop_;
    load.failures = &failures;
    load.wait_for_nodes = true;
    load.at_start = [&] { strike(row.fault, repetition); };
    const bench::CycleOutcome outcome = run_async_cycles(load);
    if (const auto* problem = std::get_if<std::string>(&outcome)) {
      throw std::runtime_error(*problem);
    }
    if (stop_.load() != 0) return;
    check_states(row.fault);
    const auto& result = std::get<bench::CycleResult>(outcome);
    if (row.fault.nodes == 0 && result.cycles == 0) {
      throw std::runtime_error(
          fmt::format("no cycle succeeded with {} in flight: {}", row.in_flight, failures.first));
    }
    row.figures.push_back(figures_of(result));
    row.worst_acquire = std::max(row.worst_acquire, result.acquire.max());
    row.failures.unavailable.merge(failures.unavailable);
    row.failures.still_unavailable.merge(failures.still_unavailable);
  }

  /// Strikes other nodes in each repetition, because a client may ask its nodes in a fixed order.
  void strike(const BenchFault& fault, std::uint64_t repetition) const {
    const std::size_t nodes = session_.nodes().size();
    for (std::size_t i = 0; i < fault.nodes; ++i) {
      session_.local_nodes()->strike((repetition + i) % nodes, fault.fault);
    }
  }

  /// Checks that the nodes are in the state that the figures are about.
  void check_states(const BenchFault& fault) const {
    const bool killed = fault.fault == LocalNodes::Fault::killed;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    for (;;) {
      const LocalNodes::States states = session_.local_nodes()->states();
      if (states.killed == (killed ? fault.nodes : 0) &&
          states.stopped == (killed ? 0 : fault.nodes)) {
        return;
      }
      if (std::chrono::steady_clock::now() > deadline) {
        throw std::runtime_error(
            fmt::format("--mode faults: wanted {}, but {} nodes run, {} are stopped, {} have ended",
                        fault_text(fault), states.running, states.stopped, states.killed));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }

  const BenchPlan& plan_;
  Session& session_;
  const std::atomic<int>& stop_;
  const std::vector<BenchFault> faults_;
  const std::size_t minority_;
  Progress progress_;
  std::size_t done_ = 0;
};

}  // namespace

int run_faults_bench(const Arguments& given, const Signals& signals) {
  const BenchPlan plan = read_bench_plan(given, std::chrono::seconds{1});
  if (!plan.settings.nodes.empty()) {
    throw UsageError("--nodes: not with --mode faults: it kills and stops nodes of its own");
  }
  if (*plan.settings.local < 3) {
    throw UsageError(
        "--local: at least 3 with --mode faults: with fewer nodes, none can be missing");
  }
  Session session(plan.settings, signals, LocalNodes::Reach::loopback);
  std::atomic<int> stop{0};
  SignalWatcher watcher(signals, [&stop](int signal) { stop = signal; });
  // The progress bar must be gone before anything else is printed.
  const FaultsReport report = FaultsBench(plan, session, stop).run();
  const int signal = watcher.finish();
  if (signal != 0) return code_of_signal(signal);
  return print_result(plan.settings.format == Settings::Format::json
                          ? faults_json(report)
                          : faults_text(Style::of_standard_output(), report));
}

}  // namespace redlock::cli
