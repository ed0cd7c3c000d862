#include "bench/contest/contest_bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/contest/contender_crew.hpp"
#include "bench/contest/contest_report.hpp"
#include "bench/contest/contest_run.hpp"
#include "bench/measure/bench_nodes.hpp"
#include "common/servers/loopback_server.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/progress.hpp"
#include "common/session/session.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

using bench::ContestPattern;

/// A server takes 10,000 connections by default.
constexpr std::uint64_t largest_crowd = 2000;
constexpr std::uint64_t most_processes = 64;
constexpr std::chrono::seconds longest_hold{1};
/// Grants of one lock do not follow each other more quickly.
constexpr std::chrono::microseconds shortest_turn{50};

/// All combinations that a mode measures.
struct ContestRequests {
  std::string_view mode;
  Settings settings{};
  std::vector<std::uint64_t> nodes_counts{};
  std::vector<std::uint64_t> contenders{};
  std::vector<ContestPattern> patterns{};
  ContestPlan plan{};
  std::uint64_t repetitions = 1;

  [[nodiscard]] std::size_t steps() const {
    return nodes_counts.size() * contenders.size() * patterns.size() * repetitions;
  }
  /// About how long one takes: a hand-over needs about a millisecond in addition to the hold.
  [[nodiscard]] std::chrono::nanoseconds step() const {
    if (plan.duration.count() > 0) return plan.duration + std::chrono::seconds{1};
    return static_cast<std::int64_t>(plan.request.grants) *
           (plan.request.hold + std::chrono::milliseconds{1});
  }
};

ContestRequests contest_of(const Arguments& given, std::string_view mode, std::uint64_t usual_nodes,
                           std::chrono::nanoseconds usual_hold) {
  ContestRequests requests{mode};
  requests.settings = resolve_settings(given, NodesNeeded::optional);
  Settings& settings = requests.settings;
  const std::size_t present = settings.local.value_or(settings.nodes.size());
  requests.nodes_counts = choose_nodes(given, settings, {present == 0 ? usual_nodes : present});
  require_plain_nodes(settings, fmt::format("--mode {}", mode));
  requests.plan.request.hold = given.duration("hold").value_or(usual_hold);
  // A lease that is lost while it is held would look like a lock that does not exclude.
  if (requests.plan.request.hold >
      std::min<std::chrono::nanoseconds>(longest_hold, default_ttl(settings) / 4)) {
    throw UsageError("--hold: at most 1s and a quarter of the TTL is allowed");
  }
  return requests;
}

class ContestBench {
 public:
  ContestBench(ContestRequests& requests, const Session& session, const Signals& signals)
      : requests_(requests),
        session_(session),
        signals_(signals),
        folder_(make_temporary_directory()),
        progress_(requests.steps(), requests.step()) {}
  ~ContestBench() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ContestBench(const ContestBench&) = delete;
  ContestBench& operator=(const ContestBench&) = delete;

  std::vector<ContestRow> run() {
    std::vector<ContestRow> rows;
    for (const std::uint64_t nodes : requests_.nodes_counts) {
      for (const std::uint64_t contenders : requests_.contenders) {
        for (const ContestPattern pattern : requests_.patterns) {
          rows.push_back({nodes, contenders, pattern, {}});
          measure(rows.back());
        }
      }
    }
    return rows;
  }

 private:
  void measure(ContestRow& row) {
    ContestPlan plan = requests_.plan;
    plan.pattern = row.pattern;
    ContestRequest& request = plan.request;
    request.settings = requests_.settings;
    request.settings.nodes.assign(
        session_.nodes().begin(),
        session_.nodes().begin() + static_cast<std::ptrdiff_t>(row.nodes));
    request.clients = row.contenders;
    // The very first grant is not a hand-over. In a drain, the gate gets it.
    if (plan.duration.count() == 0 && row.pattern == ContestPattern::reentry) ++request.grants;
    const auto turn = std::max<std::chrono::nanoseconds>(request.hold, shortest_turn);
    request.records =
        2 * row.contenders + (plan.duration.count() == 0
                                  ? request.grants
                                  : static_cast<std::size_t>(requests_.step() / turn));
    session_.reopen_local_nodes(request.settings.nodes);
    for (std::uint64_t i = 0; i < requests_.repetitions; ++i) {
      progress_.show(done_, fmt::format("{} contenders, {} nodes, repetition {} of {}",
                                        row.contenders, row.nodes, i + 1, requests_.repetitions));
      request.resource = fmt::format("quorum-lock-bench/{}/{}", ::getpid(), ++done_);
      request.board = fmt::format("{}/board-{}", folder_, done_);
      row.runs.push_back(run_contest(plan, signals_));
      std::error_code ignored;
      std::filesystem::remove(request.board, ignored);
    }
  }

  const ContestRequests& requests_;
  const Session& session_;
  const Signals& signals_;
  std::string folder_;
  Progress progress_;
  std::size_t done_ = 0;
};

/// Returns the exit code. All rows have been printed, even wrong ones, which show what is wrong.
int judge_rows(std::string_view mode, const std::vector<ContestRow>& rows, int printed) {
  for (const ContestRow& row : rows) {
    const ContestFigures figures = medians_of(row.runs);
    if (!figures.wrong.empty()) {
      print_error(fmt::format("--mode {}: two of {} contenders held the lock at once: {}", mode,
                              row.contenders, figures.wrong));
      return code(ExitCode::failure);
    }
    if (figures.share_max > 0) continue;
    print_error(
        fmt::format("--mode {}: none of {} contenders was granted the lock", mode, row.contenders));
    return code(ExitCode::unavailable);
  }
  return printed;
}

int measure_contests(ContestRequests requests, const Signals& signals) {
  const Settings& settings = requests.settings;
  const Session session(settings, signals, LocalNodes::Reach::loopback);
  // Before anything is measured: a wrong URL must be reported as wrong usage.
  if (const auto client = Client::create(client_options(settings, session.nodes())); !client) {
    return report_failure(settings, {}, client.error());
  }
  std::vector<ContestRow> rows;
  try {
    // The progress bar must be gone before anything else is printed.
    rows = ContestBench(requests, session, signals).run();
  } catch (const ContendersInterrupted& interrupted) {
    return code_of_signal(interrupted.signal);
  }
  return judge_rows(requests.mode, rows,
                    print_result(settings.format == Settings::Format::json
                                     ? contest_json(requests.mode, rows)
                                     : contest_text(Style::of_standard_output(), rows)));
}

}  // namespace

int run_handoff_bench(const Arguments& given, const Signals& signals) {
  ContestRequests requests = contest_of(given, "handoff", 5, std::chrono::milliseconds{1});
  requests.contenders =
      given.numbers("contenders", 2, most_processes).value_or(std::vector<std::uint64_t>{2, 8, 32});
  const bool both = given.flag("reentry") == given.flag("drain");
  if (both || given.flag("reentry")) requests.patterns.push_back(ContestPattern::reentry);
  if (both || given.flag("drain")) requests.patterns.push_back(ContestPattern::drain);
  requests.plan.request.grants = given.number("hand-overs").value_or(2000);
  requests.repetitions = given.number("repetitions").value_or(5);
  return measure_contests(std::move(requests), signals);
}

int run_crowd_bench(const Arguments& given, const Signals& signals) {
  ContestRequests requests = contest_of(given, "crowd", 3, std::chrono::milliseconds{2});
  requests.contenders =
      given.numbers("contenders", 1, largest_crowd)
          .value_or(std::vector<std::uint64_t>{8, 16, 32, 64, 125, 250, 500, 1000});
  requests.patterns = {ContestPattern::reentry};
  requests.plan.request.grants = UINT64_MAX;
  requests.plan.clients_per_process = 10;
  requests.plan.duration = given.positive_duration("duration").value_or(std::chrono::seconds{5});
  if (requests.plan.duration > std::chrono::hours{1}) {
    throw UsageError("--duration: at most 1h is allowed");
  }
  return measure_contests(std::move(requests), signals);
}

}  // namespace redlock::cli
