#include "bench/contest/handoff_bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "bench/contest/contender_crew.hpp"
#include "bench/contest/handoff_report.hpp"
#include "bench/contest/handoff_run.hpp"
#include "bench/floor/floor_uv.hpp"
#include "bench/measure/bench_plan.hpp"
#include "bench/measure/endpoint.hpp"
#include "common/servers/loopback_server.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/progress.hpp"
#include "common/session/session.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

using bench::HandoffPattern;

constexpr std::uint64_t most_handoff_contenders = 64;
constexpr std::chrono::seconds longest_handoff_hold{1};
constexpr std::uint64_t floor_cycles = 2000;

struct HandoffPlan {
  Settings settings{};
  std::vector<std::uint64_t> nodes_counts{};
  std::vector<std::uint64_t> contenders{};
  std::vector<HandoffPattern> patterns{};
  std::chrono::nanoseconds hold{0};
  std::uint64_t hand_overs = 0;
  std::uint64_t repetitions = 0;
  bool floor = false;
};

HandoffPlan read_handoff_plan(const Arguments& given) {
  HandoffPlan plan;
  plan.settings = resolve_settings(given, NodesNeeded::optional);
  plan.nodes_counts = choose_plain_nodes(given, "handoff", 5, plan.settings);
  plan.contenders = given.numbers("contenders", 2, most_handoff_contenders)
                        .value_or(std::vector<std::uint64_t>{2, 8, 32});
  const bool both = given.flag("reentry") == given.flag("drain");
  if (both || given.flag("reentry")) plan.patterns.push_back(HandoffPattern::reentry);
  if (both || given.flag("drain")) plan.patterns.push_back(HandoffPattern::drain);
  plan.hold = given.duration("hold").value_or(std::chrono::milliseconds{1});
  if (plan.hold >
      std::min<std::chrono::nanoseconds>(longest_handoff_hold, default_ttl(plan.settings) / 4)) {
    throw UsageError("--hold: at most 1s and a quarter of the TTL is allowed");
  }
  plan.hand_overs = given.number("hand-overs").value_or(2000);
  plan.repetitions = given.number("repetitions").value_or(5);
  plan.floor = given.flag("floor");
  return plan;
}

class HandoffBench {
 public:
  HandoffBench(const HandoffPlan& plan, const Session& session, const Signals& signals)
      : plan_(plan),
        session_(session),
        signals_(signals),
        folder_(make_temporary_directory()),
        progress_(plan.nodes_counts.size() * plan.contenders.size() * plan.patterns.size() *
                      plan.repetitions,
                  about(plan)) {}
  ~HandoffBench() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  HandoffBench(const HandoffBench&) = delete;
  HandoffBench& operator=(const HandoffBench&) = delete;

  std::vector<HandoffRow> run() {
    std::vector<HandoffRow> rows;
    for (const std::uint64_t nodes : plan_.nodes_counts) {
      const auto& all = session_.nodes();
      nodes_.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(nodes));
      add_rows(rows);
    }
    return rows;
  }

 private:
  /// About how long one step takes: a hand-over needs about a millisecond in addition to the hold.
  static std::chrono::nanoseconds about(const HandoffPlan& plan) {
    const auto one = plan.hold + std::chrono::milliseconds{1};
    return static_cast<std::int64_t>(plan.hand_overs) * (plan.floor ? 2 : 1) * one;
  }

  void add_rows(std::vector<HandoffRow>& rows) {
    for (const std::uint64_t contenders : plan_.contenders) {
      for (const HandoffPattern pattern : plan_.patterns) {
        HandoffRow row{nodes_.size(), contenders, pattern};
        session_.reopen_local_nodes(nodes_);
        for (std::uint64_t i = 0; i < plan_.repetitions; ++i) {
          progress_.show(done_++,
                         fmt::format("{} contenders, {}, repetition {} of {}", contenders,
                                     pattern == HandoffPattern::drain ? "drain" : "re-entry", i + 1,
                                     plan_.repetitions));
          repeat(row);
        }
        rows.push_back(std::move(row));
      }
    }
  }

  void repeat(HandoffRow& row) {
    row.ours.push_back(run_side(row, HandoffRequest::Side::ours));
    if (!plan_.floor) return;
    row.floor.push_back(run_side(row, HandoffRequest::Side::floor));
    row.floor_acquire_p50_us.push_back(acquire_of_floor());
  }

  HandoffFigures run_side(const HandoffRow& row, HandoffRequest::Side side) {
    HandoffRequest request;
    request.side = side;
    request.settings = plan_.settings;
    request.settings.nodes = nodes_;
    request.resource = fmt::format("quorum-lock-bench/{}/{}", ::getpid(), ++runs_);
    request.contenders = row.contenders;
    // The very first grant is not a hand-over. In a drain, the gate gets it.
    request.acquisitions = plan_.hand_overs + (row.pattern == HandoffPattern::reentry ? 1 : 0);
    request.hold = plan_.hold;
    // A contender can starve for the whole run. That is a valid result.
    request.patience = std::chrono::minutes{1} + static_cast<std::int64_t>(plan_.hand_overs) *
                                                     (plan_.hold + std::chrono::milliseconds{20});
    return run_handoff(request, row.pattern, folder_, signals_);
  }

  [[nodiscard]] double acquire_of_floor() const {
    bench::CycleSettings settings;
    for (const std::string& url : nodes_) settings.nodes.push_back(*plain_endpoint(url));
    settings.max_cycles = floor_cycles;
    settings.resource_prefix = fmt::format("quorum-lock-bench/{}", ::getpid());
    const auto outcome = bench::run_floor_uv(settings);
    if (const auto* problem = std::get_if<std::string>(&outcome)) {
      throw std::runtime_error("--floor: " + *problem);
    }
    return std::get<bench::CycleResult>(outcome).acquire_us(50);
  }

  const HandoffPlan& plan_;
  const Session& session_;
  const Signals& signals_;
  std::string folder_;
  std::vector<std::string> nodes_{};
  Progress progress_;
  std::size_t done_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace

int run_handoff_bench(const Arguments& given, const Signals& signals) {
  const HandoffPlan plan = read_handoff_plan(given);
  const Session session(plan.settings, signals, LocalNodes::Reach::loopback);
  // Before anything is measured: a wrong URL must be reported as wrong usage.
  if (const auto client = Client::create(client_options(plan.settings, session.nodes())); !client) {
    return report_failure(plan.settings, {}, client.error());
  }
  std::vector<HandoffRow> rows;
  try {
    // The progress bar must be gone before anything else is printed.
    rows = HandoffBench(plan, session, signals).run();
  } catch (const ContendersInterrupted& interrupted) {
    return code_of_signal(interrupted.signal);
  } catch (const HandoffViolation& violation) {
    print_error(violation.what());
    return code(ExitCode::failure);
  }
  return print_result(plan.settings.format == Settings::Format::json
                          ? handoff_json(rows)
                          : handoff_text(Style::of_standard_output(), rows));
}

}  // namespace redlock::cli
