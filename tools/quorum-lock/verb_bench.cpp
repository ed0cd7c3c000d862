#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/floor_uv.hpp"
#include "quorum-lock/bench_report.hpp"
#include "quorum-lock/cycle_bench.hpp"
#include "quorum-lock/endpoint.hpp"
#include "quorum-lock/exit_code.hpp"
#include "quorum-lock/output.hpp"
#include "quorum-lock/progress.hpp"
#include "quorum-lock/session.hpp"
#include "quorum-lock/settings.hpp"
#include "quorum-lock/text.hpp"
#include "quorum-lock/usage_error.hpp"
#include "redlock/deployment.hpp"

namespace redlock::cli {
namespace {

constexpr std::uint64_t most_threads = 512;

struct BenchRequest {
  Settings settings;
  std::vector<std::uint64_t> in_flight;
  std::vector<std::uint64_t> nodes_counts;
  std::chrono::nanoseconds duration;
  std::uint64_t repetitions;
  enum class Interface { async, blocking } interface;
  enum class Floor { absent, interleaved } floor;
  bool guards;
  bool scripts;
};

/// How many nodes there are, and the rows to measure with them.
void choose_nodes(const Arguments& given, BenchRequest& request) {
  Settings& settings = request.settings;
  const auto counts = given.numbers("nodes-count");
  const std::size_t present = settings.local.value_or(settings.nodes.size());
  if (counts) {
    request.nodes_counts = *counts;
  } else if (present == 0) {
    request.nodes_counts = {1, 3, 5};
  } else if (settings.local) {
    for (const std::uint64_t count : {1U, 3U, 5U}) {
      if (count < present) request.nodes_counts.push_back(count);
    }
    request.nodes_counts.push_back(present);
  } else {
    request.nodes_counts = {present};
  }
  const std::uint64_t most =
      *std::max_element(request.nodes_counts.begin(), request.nodes_counts.end());
  if (settings.nodes.empty()) {
    settings.local = std::max<std::size_t>(present, most);
  } else if (most > present) {
    throw UsageError(
        fmt::format("--nodes-count: {} is more than the {} nodes given", most, present));
  }
}

BenchRequest read_request(const Arguments& given) {
  BenchRequest request;
  request.settings = resolve_settings(given, NodesNeeded::optional);
  if (request.settings.quorum) {
    throw UsageError("--quorum: not with bench: it measures majorities");
  }
  if (given.flag("async") && given.flag("blocking")) {
    throw UsageError("--async: not together with --blocking");
  }
  request.interface =
      given.flag("blocking") ? BenchRequest::Interface::blocking : BenchRequest::Interface::async;
  request.guards = given.flag("guards");
  request.scripts = given.flag("scripts");
  request.floor =
      given.flag("floor") ? BenchRequest::Floor::interleaved : BenchRequest::Floor::absent;
  const bool threads = request.interface == BenchRequest::Interface::blocking;
  const auto in_flight =
      threads ? given.numbers("in-flight", 1, most_threads) : given.numbers("in-flight");
  request.in_flight = in_flight.value_or(std::vector<std::uint64_t>{1, 16, 64});
  request.duration = given.positive_duration("duration").value_or(std::chrono::seconds{2});
  if (request.duration > std::chrono::hours{1}) {
    throw UsageError("--duration: at most 1h is allowed");
  }
  request.repetitions = given.number("repetitions").value_or(5);
  choose_nodes(given, request);
  if (request.floor == BenchRequest::Floor::interleaved) {
    for (const std::string& node : request.settings.nodes) {
      if (!plain_endpoint(node) || !request.settings.password.empty()) {
        throw UsageError(fmt::format(
            "--floor: cannot measure '{}': only nodes without TLS, user name and database number, "
            "with the password in the URL",
            without_password(node)));
      }
    }
  }
  return request;
}

/// Each as long as --duration.
std::int64_t runs_of_repetition(const BenchRequest& request) {
  return 1 + (request.floor == BenchRequest::Floor::interleaved ? 1 : 0) +
         (request.scripts ? 2 : 0) + (request.guards ? 3 : 0);
}

class Bench {
 public:
  Bench(const BenchRequest& request, const Session& session, const std::atomic<int>& stop)
      : request_(request),
        session_(session),
        stop_(stop),
        progress_(request.nodes_counts.size() * request.in_flight.size() * request.repetitions,
                  request.duration * runs_of_repetition(request)),
        prefix_(fmt::format("quorum-lock-bench/{}", ::getpid())) {}

  /// The sentence says why it could not be done.
  std::variant<std::vector<BenchRow>, std::string> run() {
    std::vector<BenchRow> rows;
    for (const std::uint64_t nodes : request_.nodes_counts) {
      for (const std::uint64_t in_flight : request_.in_flight) {
        BenchRow row{nodes, in_flight, {}, {}, {}, {}, {}};
        if (std::string problem = open(nodes); !problem.empty()) return problem;
        for (std::uint64_t i = 0; i < request_.repetitions; ++i) {
          progress_.show(done_++, fmt::format("{} nodes, {} in flight, repetition {} of {}", nodes,
                                              in_flight, i + 1, request_.repetitions));
          std::string problem = repeat(row);
          if (!problem.empty()) return problem;
          if (stop_.load() != 0) return rows;
        }
        rows.push_back(std::move(row));
      }
    }
    return rows;
  }

 private:
  [[nodiscard]] std::vector<std::string> first_nodes(std::size_t count) const {
    const auto& all = session_.nodes();
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  /// Our own nodes are new, and measured in different numbers. A node that was slow at the end of a
  /// row still has keys of it, which must neither count as locks of somebody's nor be in the way.
  [[nodiscard]] std::string open(std::size_t nodes) const {
    if (!session_.is_local()) return {};
    session_.clear_local_nodes();
    if (!request_.settings.guards.restart) return {};
    const auto opened = bootstrap(client_options(request_.settings, first_nodes(nodes)));
    return opened ? std::string() : opened.error().message;
  }

  enum class Guards { as_given, off };
  enum class Fencing { off, on };
  enum class Plain { on, off };
  [[nodiscard]] bench::CycleOutcome run_ours(const BenchRow& row, Guards guards, Fencing fencing,
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
    const auto before = session_.cpu_time_of_local_nodes();
    bench::CycleOutcome outcome = request_.interface == BenchRequest::Interface::blocking
                                      ? run_blocking_cycles(load)
                                      : run_async_cycles(load);
    if (auto* result = std::get_if<bench::CycleResult>(&outcome)) {
      result->node_cpu = session_.cpu_time_of_local_nodes() - before;
    }
    return outcome;
  }

  [[nodiscard]] bench::CycleOutcome run_floor(const BenchRow& row) const {
    bench::CycleSettings settings;
    for (const std::string& url : first_nodes(row.nodes)) {
      const auto endpoint = plain_endpoint(url);
      if (!endpoint) return fmt::format("--floor: cannot connect to '{}'", without_password(url));
      settings.nodes.push_back(*endpoint);
    }
    settings.in_flight = row.in_flight;
    settings.duration = request_.duration;
    settings.resource_prefix = prefix_;
    return bench::run_floor_uv(settings);
  }

  static std::string take(bench::CycleOutcome outcome, std::vector<Figures>& into) {
    if (auto* problem = std::get_if<std::string>(&outcome)) return std::move(*problem);
    into.push_back(figures_of(std::get<bench::CycleResult>(outcome)));
    return {};
  }

  std::string repeat(BenchRow& row) const {
    const auto ours = [&](Guards guards, Fencing fencing, std::vector<Figures>& into,
                          Plain plain = Plain::on) {
      return stop_.load() != 0 ? std::string() : take(run_ours(row, guards, fencing, plain), into);
    };
    std::string problem = ours(Guards::as_given, Fencing::off, row.ours);
    if (problem.empty() && stop_.load() == 0 &&
        request_.floor == BenchRequest::Floor::interleaved) {
      problem = take(run_floor(row), row.floor);
    }
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

  const BenchRequest& request_;
  const Session& session_;
  const std::atomic<int>& stop_;
  Progress progress_;
  std::string prefix_;
  std::size_t done_ = 0;
};

/// What one call meets now, where all of a measurement failed.
std::string why_it_fails(const BenchRequest& request, const Session& session) {
  Result<Client> client = Client::create(client_options(request.settings, session.nodes()));
  if (!client) return client.error().message;
  const Result<Lease> lease = client->try_acquire("quorum-lock-bench");
  return lease ? "a lock is granted now" : lease.error().message;
}

int report(const BenchRequest& request, const Session& session, const std::vector<BenchRow>& rows) {
  const int printed = print_result(request.settings.format == Settings::Format::json
                                       ? bench_json(rows)
                                       : bench_text(Style::of_standard_output(), rows));
  for (const BenchRow& row : rows) {
    if (medians_of(row.ours).cycles_per_s > 0) continue;
    print_error(fmt::format("no cycle succeeded with {} nodes and {} in flight: {}", row.nodes,
                            row.in_flight, why_it_fails(request, session)));
    return code(ExitCode::unavailable);
  }
  return printed;
}

}  // namespace

int run_cycle_bench(const Arguments& given, const Signals& signals) {
  const BenchRequest request = read_request(given);
  const Session session(request.settings, signals, LocalNodes::Reach::loopback);
  // Before anything is measured: a wrong URL must be reported as wrong usage.
  if (const auto client = Client::create(client_options(request.settings, session.nodes()));
      !client) {
    return report_failure(request.settings, {}, client.error());
  }
  std::atomic<int> stop{0};
  SignalWatcher watcher(signals, [&stop](int signal) { stop = signal; });
  std::variant<std::vector<BenchRow>, std::string> outcome;
  {
    // Its progress bar must be gone before anything else is printed.
    Bench measurement(request, session, stop);
    outcome = measurement.run();
  }
  const int signal = watcher.finish();
  if (const auto* problem = std::get_if<std::string>(&outcome)) {
    print_error(*problem);
    return code(ExitCode::unavailable);
  }
  if (signal != 0) return code_of_signal(signal);
  return report(request, session, std::get<std::vector<BenchRow>>(outcome));
}

}  // namespace redlock::cli
