#include "bench/cycle/cycle_mode.hpp"

#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/cycle/bench_facts.hpp"
#include "bench/cycle/cycle_measurement.hpp"
#include "bench/cycle/cycle_request.hpp"
#include "bench/cycle/peers.hpp"
#include "bench/page/bench_page.hpp"
#include "bench/page/bench_report.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/system/written_file.hpp"

namespace redlock::cli {
namespace {

/// The error of one call, if all calls of a measurement failed.
std::string why_it_fails(const CycleRequest& request, const Session& session) {
  Result<Client> client = Client::create(client_options(request.settings, session.nodes()));
  if (!client) return client.error().message;
  const Result<Lease> lease = client->try_acquire("quorum-lock-bench");
  return lease ? "a lock is granted now" : lease.error().message;
}

int report(const CycleRequest& request, const Session& session, const std::vector<BenchRow>& rows) {
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

int run_cycle_mode(const Arguments& given, const Signals& signals) {
  const CycleRequest request = read_cycle_request(given);
  const Session session(request.settings, signals, LocalNodes::Reach::loopback);
  // Before anything is measured: a wrong URL must be reported as wrong usage.
  if (const auto client = Client::create(client_options(request.settings, session.nodes()));
      !client) {
    return report_failure(request.settings, {}, client.error());
  }
  const std::string servers = request.html ? servers_of(request, session.nodes()) : std::string();
  std::atomic<int> stop{0};
  SignalWatcher watcher(signals, [&stop](int signal) { stop = signal; });
  std::optional<Peers> peers;
  if (request.peers) {
    peers.emplace(request.settings, signals, stop);
    peers->tell_left_out();
  }
  std::variant<std::vector<BenchRow>, std::string> outcome;
  {
    // The progress bar must be gone before anything else is printed.
    CycleMeasurement measurement(request, session, peers ? &*peers : nullptr, stop);
    outcome = measurement.run();
  }
  if (peers) peers->tell_left_out();
  const int signal = watcher.finish();
  if (const auto* problem = std::get_if<std::string>(&outcome)) {
    print_error(*problem);
    return code(ExitCode::unavailable);
  }
  if (signal != 0) return code_of_signal(signal);
  const auto& rows = std::get<std::vector<BenchRow>>(outcome);
  if (request.html) {
    const BenchFacts facts = facts_of(request, servers, peers ? &*peers : nullptr);
    write_page("html", *request.html, bench_page(facts, rows));
  }
  return report(request, session, rows);
}

}  // namespace redlock::cli
