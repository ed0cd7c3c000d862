#include "bench/cycle/cycle_mode.hpp"

#include <fmt/format.h>

#include <atomic>
#include <string>
#include <variant>
#include <vector>

#include "bench/cycle/cycle_measurement.hpp"
#include "bench/cycle/cycle_report.hpp"
#include "bench/cycle/peers.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"

namespace redlock::cli {
namespace {

/// The error of one call, if all calls of a measurement failed.
std::string why_it_fails(const CycleRequest& request, const Session& session) {
  Result<Client> client = Client::create(client_options(request.settings, session.nodes()));
  if (!client) return client.error().message;
  const Result<Lease> lease = client->try_acquire("quorum-lock-bench");
  return lease ? "a lock is granted now" : lease.error().message;
}

int report(const CycleRequest& request, const Session& session, const std::vector<CycleRow>& rows) {
  const int printed = print_result(request.settings.format == Settings::Format::json
                                       ? cycle_json(rows)
                                       : cycle_text(Style::of_standard_output(), rows));
  for (const CycleRow& row : rows) {
    if (medians_of(row.ours).cycles_per_s > 0) continue;
    print_error(fmt::format("no cycle succeeded with {} nodes and {} in flight: {}", row.nodes,
                            row.in_flight, why_it_fails(request, session)));
    return code(ExitCode::unavailable);
  }
  return printed;
}

}  // namespace

int measure_cycles(const CycleRequest& request, const Signals& signals,
                   const MakeSides& make_sides) {
  const Session session(request.settings, signals, LocalNodes::Reach::loopback);
  // Before anything is measured: a wrong URL must be reported as wrong usage.
  if (const auto client = Client::create(client_options(request.settings, session.nodes()));
      !client) {
    return report_failure(request.settings, {}, client.error());
  }
  std::atomic<int> stop{0};
  SignalWatcher watcher(signals, [&stop](int signal) { stop = signal; });
  std::vector<CycleSide> sides = make_sides(stop);
  tell_left_out(sides);
  std::variant<std::vector<CycleRow>, std::string> outcome;
  {
    // The progress bar must be gone before anything else is printed.
    CycleMeasurement measurement(request, session, sides, stop);
    outcome = measurement.run();
  }
  tell_left_out(sides);
  const int signal = watcher.finish();
  if (const auto* problem = std::get_if<std::string>(&outcome)) {
    print_error(*problem);
    return code(ExitCode::unavailable);
  }
  if (signal != 0) return code_of_signal(signal);
  return report(request, session, std::get<std::vector<CycleRow>>(outcome));
}

int run_cycle_mode(const Arguments& given, const Signals& signals) {
  const CycleRequest request = read_cycle_request(given);
  return measure_cycles(request, signals, [&](const std::atomic<int>& stop) {
    return request.peers ? peer_sides(request.settings, signals, stop) : std::vector<CycleSide>();
  });
}

}  // namespace redlock::cli
