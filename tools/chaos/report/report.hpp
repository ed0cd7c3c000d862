#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/checker/checker.hpp"
#include "chaos/checker/checker_history.hpp"

namespace redlock::chaos {

/// How the run came to its end.
enum class Ending { complete, interrupted };

/// "ok", "violated", "no_lease" or "interrupted".
[[nodiscard]] std::string_view verdict(const History& history, const Judgement& judgement,
                                       Ending ending);

/// The times from the call to the lease, in microseconds.
struct Latencies {
  std::size_t count = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double most = 0;
};
[[nodiscard]] Latencies acquire_latencies(const History& history);

/// The failovers of a replicated service, and the times from each to the next lease, in
/// microseconds.
struct Failovers {
  std::size_t count = 0;
  double granted_after_p50 = 0;
  double granted_after_most = 0;
};
[[nodiscard]] Failovers failovers_of(const History& history, const Judgement& judgement);

[[nodiscard]] std::string duration_of(double microseconds);

/// Executed faults of each kind; all kinds are there.
[[nodiscard]] std::map<std::string, std::size_t> fault_counts(const History& history);

/// Leases by kind: "exclusive", "several", "readers", "owners", "permits", "intervals", "leaders";
/// each has an entry.
[[nodiscard]] std::map<std::string, std::size_t> lock_counts(const History& history);

/// Acquires that were not granted, by the reason that the library gave.
[[nodiscard]] std::map<std::string, std::size_t> failure_counts(const History& history);

/// The command line that makes the same run again.
[[nodiscard]] std::string repeat_command(const History& history);

/// The report as JSON.
[[nodiscard]] nlohmann::ordered_json report_object(const History& history,
                                                   const Judgement& judgement, Ending ending);
/// The report as one line of JSON.
[[nodiscard]] std::string json_report(const History& history, const Judgement& judgement,
                                      Ending ending);

/// The report in a few lines for people. The verdict is the last line, without a line end.
struct TextReport {
  std::string facts{};
  std::string verdict{};
};
[[nodiscard]] TextReport text_report(const History& history, const Judgement& judgement,
                                     Ending ending);

/// A page that needs no other file: holders and faults over time, percentiles, the verdict. It is
/// page.html, with the report and the records as JSON.
[[nodiscard]] std::string html_report(const History& history, const Judgement& judgement,
                                      Ending ending);

}  // namespace redlock::chaos
