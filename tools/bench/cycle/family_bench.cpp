#include "bench/cycle/family_bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bench/cycle/cycle_bench.hpp"
#include "bench/cycle/family_report.hpp"
#include "bench/measure/bench_plan.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/progress.hpp"
#include "common/session/session.hpp"
#include "redlock/client.hpp"
#include "redlock/target.hpp"

namespace redlock::cli {
namespace {

struct FamilyKind {
  std::string_view name;
  bool has_fencing;
  Target (*make)(const std::string& resource, std::uint64_t cycle);
};

/// Each lock in flight has a resource of its own, so that nobody is refused.
constexpr FamilyKind family_kinds[] = {
    {"exclusive", true,
     [](const std::string& resource, std::uint64_t) -> Target { return resource; }},
    {"shared", false, [](const std::string& resource, std::uint64_t) { return shared(resource); }},
    {"owned", false,
     [](const std::string& resource, std::uint64_t) { return owned(resource, "bench"); }},
    {"semaphore", false,
     [](const std::string& resource, std::uint64_t) { return permit(resource, 4); }},
    // Each cycle has a resource of its own: one resource would grant one lease in that time.
    {"interval", true,
     [](const std::string& resource, std::uint64_t cycle) {
       return interval(resource + "/" + std::to_string(cycle), std::chrono::milliseconds{5});
     }},
    {"several", true,
     [](const std::string& resource, std::uint64_t) {
       return all_of({resource + "/from", resource + "/to"});
     }},
};

/// Whether this is the row that all others are compared with.
bool is_reference(const FamilyKind& kind, FamilyTerms terms) {
  return &kind == &family_kinds[0] && terms == FamilyTerms::plain;
}

struct KindRows {
  const FamilyKind* kind;
  std::vector<FamilyRow> rows;
};

std::vector<KindRows> empty_family(std::size_t in_flight) {
  std::vector<KindRows> family;
  for (const FamilyKind& kind : family_kinds) {
    KindRows of_kind{&kind, {}};
    for (const auto terms : {FamilyTerms::plain, FamilyTerms::guarded, FamilyTerms::fenced}) {
      if (terms == FamilyTerms::fenced && !kind.has_fencing) continue;
      of_kind.rows.push_back({in_flight, kind.name, terms, {}, {}, {}});
    }
    family.push_back(std::move(of_kind));
  }
  return family;
}

class FamilyBench {
 public:
  FamilyBench(const BenchPlan& plan, Session& session, const std::atomic<int>& stop)
      : plan_(plan),
        session_(session),
        stop_(stop),
        progress_(plan.in_flight.size() * plan.repetitions * runs_of_repetition(),
                  plan.duration + warm_up_of(plan.duration)) {}

  /// Incomplete after a signal. Throws std::runtime_error.
  FamilyReport run() {
    FamilyReport report{session_.nodes().size(), session_.is_local(), {}};
    for (const std::uint64_t in_flight : plan_.in_flight) {
      std::vector<KindRows> family = empty_family(in_flight);
      for (std::uint64_t i = 0; i < plan_.repetitions; ++i) {
        for (KindRows& of_kind : family) {
          repeat(of_kind, i);
          if (stop_.load() != 0) return report;
        }
      }
      for (KindRows& of_kind : family) {
        std::move(of_kind.rows.begin(), of_kind.rows.end(), std::back_inserter(report.rows));
      }
    }
    return report;
  }

 private:
  static std::size_t runs_of_repetition() {
    std::size_t runs = 0;
    for (const KindRows& of_kind : empty_family(1)) runs += of_kind.rows.size() + 1;
    return runs - 1;  // no reference runs before the reference itself
  }

  void repeat(KindRows& of_kind, std::uint64_t repetition) {
    FamilyRow reference{
        of_kind.rows[0].in_flight, family_kinds[0].name, FamilyTerms::plain, {}, {}, {}};
    if (!is_reference(*of_kind.kind, FamilyTerms::plain)) {
      measure(family_kinds[0], reference, repetition);
    }
    for (FamilyRow& row : of_kind.rows) {
      measure(*of_kind.kind, row, repetition);
      if (is_reference(*of_kind.kind, row.terms)) {
        reference.figures = {row.figures.back()};
      } else {
        row.reference.push_back(reference.figures.back());
      }
      if (stop_.load() != 0) return;
    }
  }

  void measure(const FamilyKind& kind, FamilyRow& row, std::uint64_t repetition) {
    progress_.show(done_++, fmt::format("{} in flight, {}, repetition {} of {}", row.in_flight,
                                        name_of(row), repetition + 1, plan_.repetitions));
    if (session_.is_local()) session_.renew_local_nodes();
    CycleFailures failures;
    CycleLoad load;
    load.options = client_options(plan_.settings, session_.nodes());
    if (row.terms == FamilyTerms::plain) {
      load.options.guards.restart = load.options.guards.clock = false;
    }
    load.fencing = row.terms == FamilyTerms::fenced;
    load.in_flight = row.in_flight;
    load.duration = plan_.duration;
    load.resource_prefix = fmt::format("quorum-lock-bench/{}", ::getpid());
    load.stop = &stop_;
    load.failures = &failures;
    load.wait_for_nodes = session_.is_local();
    load.target = kind.make;
    load.node_cpu = [this] { return session_.cpu_time_of_local_nodes(); };
    const bench::CycleOutcome outcome = run_async_cycles(load);
    if (const auto* problem = std::get_if<std::string>(&outcome)) {
      throw std::runtime_error(*problem);
    }
    row.figures.push_back(figures_of(std::get<bench::CycleResult>(outcome)));
    if (row.first_failure.empty()) row.first_failure = failures.first;
  }

  const BenchPlan& plan_;
  Session& session_;
  const std::atomic<int>& stop_;
  Progress progress_;
  std::size_t done_ = 0;
};

}  // namespace

int run_family_bench(const Arguments& given, const Signals& signals) {
  const BenchPlan plan = read_bench_plan(given, std::chrono::milliseconds{500});
  Session session(plan.settings, signals, LocalNodes::Reach::loopback);
  // Before anything is measured: a wrong URL must be reported as wrong usage.
  if (const auto client = Client::create(client_options(plan.settings, session.nodes())); !client) {
    return report_failure(plan.settings, {}, client.error());
  }
  std::atomic<int> stop{0};
  SignalWatcher watcher(signals, [&stop](int signal) { stop = signal; });
  // The progress bar must be gone before anything else is printed.
  const FamilyReport report = FamilyBench(plan, session, stop).run();
  const int signal = watcher.finish();
  if (signal != 0) return code_of_signal(signal);
  const int printed = print_result(plan.settings.format == Settings::Format::json
                                       ? family_json(report)
                                       : family_text(Style::of_standard_output(), report));
  for (const FamilyRow& row : report.rows) {
    if (medians_of(row.figures).cycles_per_s > 0) continue;
    print_error(fmt::format("no cycle succeeded with {} in flight, {}: {}", row.in_flight,
                            name_of(row), row.first_failure));
    return code(ExitCode::unavailable);
  }
  return printed;
}

}  // namespace redlock::cli
