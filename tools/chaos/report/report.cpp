#include "chaos/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>

#include "chaos/schedule.hpp"
#include "chaos/terms.hpp"
#include "common/text/duration.hpp"
#include "common/text/json_line.hpp"
#include "common/text/text.hpp"

namespace redlock::chaos {
namespace {

// Ordered, so that people find the verdict first.
using Json = nlohmann::ordered_json;

constexpr std::size_t most_violations_told = 20;

double seconds(BootTime duration) { return static_cast<double>(duration) / 1e9; }

template <typename Counts>
std::string listed(const Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    if (count == 0) continue;
    fmt::format_to(std::back_inserter(text), "{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return text.empty() ? "none" : text;
}

std::size_t our_contenders(const History& history) {
  return history.contenders - (history.foreign ? 1 : 0);
}

double leases_per_second(const History& history) {
  const BootTime whole = history.finished.value_or(history.begin) - history.begin;
  return whole > 0 ? static_cast<double>(history.leases.size()) / seconds(whole) : 0;
}

}  // namespace

std::string duration_of(double microseconds) {
  return cli::format_duration(
      std::chrono::nanoseconds{static_cast<std::int64_t>(microseconds * 1000)});
}

std::string_view verdict(const History& history, const Judgement& judgement, Ending ending) {
  if (!judgement.violations.empty()) return "violated";
  if (ending == Ending::interrupted) return "interrupted";
  return history.leases.empty() ? "no_lease" : "ok";
}

Latencies acquire_latencies(const History& history) {
  std::vector<double> all;
  for (const LeaseRecord& lease : history.leases) {
    all.push_back(static_cast<double>(lease.granted - lease.asked) / 1e3);
  }
  Latencies result;
  result.count = all.size();
  if (all.empty()) return result;
  std::sort(all.begin(), all.end());
  const auto at = [&all](double share) {
    return all[std::min(all.size() - 1,
                        static_cast<std::size_t>(share * static_cast<double>(all.size())))];
  };
  result.p50 = at(0.50);
  result.p90 = at(0.90);
  result.p99 = at(0.99);
  result.most = all.back();
  return result;
}

std::map<std::string, std::size_t> fault_counts(const History& history) {
  std::map<std::string, std::size_t> counts;
  for (const FaultKind kind : all_fault_kinds) counts[std::string(to_string(kind))] = 0;
  for (const FaultRecord& fault : history.faults) ++counts[fault.kind];
  return counts;
}

std::map<std::string, std::size_t> lock_counts(const History& history) {
  std::map<std::string, std::size_t> counts{{"exclusive", 0}, {"several", 0}, {"readers", 0},
                                            {"owners", 0},    {"permits", 0}, {"intervals", 0},
                                            {"leaders", 0}};
  for (const LeaseRecord& lease : history.leases) {
    if (lease.group == "readers") {
      ++counts["readers"];
    } else if (!lease.group.empty()) {
      ++counts["owners"];
    } else if (permit_of(lease.resource)) {
      ++counts["permits"];
    } else if (history.intervals.contains(lease.resource)) {
      ++counts["intervals"];
    } else if (lease.resource == election_resource) {
      ++counts["leaders"];
    } else {
      ++counts[lease.also.empty() ? "exclusive" : "several"];
    }
  }
  return counts;
}

std::size_t foreign_leases(const History& history) {
  if (!history.foreign) return 0;
  return static_cast<std::size_t>(std::count_if(
      history.leases.begin(), history.leases.end(), [&history](const LeaseRecord& lease) {
        return lease.contender == history.foreign->contender;
      }));
}

std::map<std::string, std::size_t> failure_counts(const History& history) {
  std::map<std::string, std::size_t> counts;
  for (const FailureRecord& failure : history.failures) ++counts[failure.why];
  return counts;
}

std::string repeat_command(const History& history) {
  std::string command = "quorum-lock chaos";
  if (history.service) {
    command += fmt::format(" --{} {}", history.service->kind, history.service->servers);
  } else if (history.nodes != 5) {
    command += fmt::format(" --local {}", history.nodes);
  }
  const auto milliseconds = history.duration / 1'000'000;
  const std::string duration = milliseconds % 1000 == 0 ? fmt::format("{}s", milliseconds / 1000)
                                                        : fmt::format("{}ms", milliseconds);
  command += fmt::format(" --clients {} --duration {} --faults {} --seed {}",
                         our_contenders(history), duration, history.kinds, history.seed);
  if (!history.unsafe.empty()) command += " --unsafe " + history.unsafe;
  if (history.foreign)
    command += " --contender-command " + cli::shell_word(history.foreign->command);
  return command;
}

Failovers failovers_of(const History& history, const Judgement& judgement) {
  Failovers result;
  result.count = history.failovers.size();
  std::vector<double> times;
  for (const Recovery& recovery : judgement.recoveries) {
    times.push_back(static_cast<double>(recovery.granted - recovery.failover) / 1e3);
  }
  if (times.empty()) return result;
  std::sort(times.begin(), times.end());
  result.granted_after_p50 = times[times.size() / 2];
  result.granted_after_most = times.back();
  return result;
}

nlohmann::ordered_json report_object(const History& history, const Judgement& judgement,
                                     Ending ending) {
  Json json{{"verdict", std::string(verdict(history, judgement, ending))},
            {"leases", history.leases.size()},
            {"locks", lock_counts(history)}};
  json["violations"] = Json::array();
  for (const Violation& violation : judgement.violations) {
    Json entry{{"kind", violation.kind}};
    if (!violation.resource.empty()) entry["resource"] = violation.resource;
    entry["what"] = cli::as_utf8(violation.what);
    if (violation.at != 0) entry["at_ms"] = (violation.at - history.begin) / 1'000'000;
    json["violations"].push_back(std::move(entry));
  }
  json["faults"] = Json::object();
  const auto counts = fault_counts(history);
  for (const FaultKind kind : all_fault_kinds) {
    const std::string name(to_string(kind));
    json["faults"][name] = counts.at(name);
  }
  json["broken"] = judgement.broken;
  json["broken_with_delay"] = judgement.delays;
  json["lost_updates"] = judgement.lost_updates;
  json["unnoticed_evictions"] = judgement.unnoticed;
  json["seed"] = history.seed;
  json["duration_ms"] = history.duration / 1'000'000;
  json["nodes_count"] = history.nodes;
  json["clients"] = our_contenders(history);
  if (history.foreign) {
    json["foreign"] = {{"contender", history.foreign->contender},
                       {"command", cli::as_utf8(history.foreign->command)},
                       {"leases", foreign_leases(history)}};
  }
  if (!history.unsafe.empty()) json["unsafe"] = history.unsafe;
  if (history.service) {
    const Failovers failovers = failovers_of(history, judgement);
    json["service"] = {{"kind", history.service->kind},
                       {"servers", history.service->servers},
                       {"failovers", failovers.count},
                       {"granted_again_p50_us", std::llround(failovers.granted_after_p50)},
                       {"granted_again_max_us", std::llround(failovers.granted_after_most)},
                       {"max_ttl_ms", history.service->max_ttl / 1'000'000}};
  }
  json["updates"] = judgement.updates;
  const Latencies latencies = acquire_latencies(history);
  json["acquire_p50_us"] = std::llround(latencies.p50);
  json["acquire_p99_us"] = std::llround(latencies.p99);
  json["wait_max_us"] = judgement.waiting.longest_wait / 1'000;
  json["idle_max_us"] = judgement.waiting.longest_idle / 1'000;
  json["leases_per_s"] = std::llround(leases_per_second(history));
  json["not_granted"] = Json::object();
  for (const auto& [why, count] : failure_counts(history)) json["not_granted"][why] = count;
  return json;
}

std::string json_report(const History& history, const Judgement& judgement, Ending ending) {
  return cli::json_line(report_object(history, judgement, ending));
}

TextReport text_report(const History& history, const Judgement& judgement, Ending ending) {
  TextReport report;
  const Latencies latencies = acquire_latencies(history);
  report.facts = fmt::format(
      "{} leases on {} resources, {} contenders, {} nodes\n"
      "locks            {}\n"
      "acquired after   p50 {}, p90 {}, p99 {}, at most {}\n"
      "while all is well  waited at most {}, free while waited for at most {}; {:.0f} leases/s in "
      "all\n"
      "not granted      {}\n"
      "broken           {} locks by operators, {} with a delay\n"
      "guarded updates  {} written, {} refused by their token, {} lost\n"
      "faults           {}\n"
      "seed             {}    again: {}\n",
      history.leases.size(), history.resources.size(), history.contenders, history.nodes,
      listed(lock_counts(history)), duration_of(latencies.p50), duration_of(latencies.p90),
      duration_of(latencies.p99), duration_of(latencies.most),
      duration_of(static_cast<double>(judgement.waiting.longest_wait) / 1e3),
      duration_of(static_cast<double>(judgement.waiting.longest_idle) / 1e3),
      leases_per_second(history), listed(failure_counts(history)), judgement.broken,
      judgement.delays, judgement.updates, judgement.refusals, judgement.lost_updates,
      listed(fault_counts(history)), history.seed, repeat_command(history));
  if (history.foreign) {
    report.facts +=
        fmt::format("foreign          {} leases of contender {}: {}\n", foreign_leases(history),
                    history.foreign->contender, cli::as_printable(history.foreign->command));
  }
  if (!history.unsafe.empty()) {
    report.facts += fmt::format("unsafe           every lock was taken by {}\n", history.unsafe);
  }
  if (history.service) {
    const Failovers failovers = failovers_of(history, judgement);
    report.facts += fmt::format(
        "failovers        {} of one service of {} servers; a lock again p50 {}, at most {} after "
        "it, with a max TTL of {}\n",
        failovers.count, history.service->servers, duration_of(failovers.granted_after_p50),
        duration_of(failovers.granted_after_most),
        duration_of(static_cast<double>(history.service->max_ttl) / 1e3));
  }
  if (judgement.unnoticed > 0) {
    report.facts += fmt::format(
        "evictions        {} times a lock was given away before its holder could notice\n",
        judgement.unnoticed);
  }
  for (std::size_t i = 0; i < judgement.violations.size(); ++i) {
    if (i == most_violations_told) {
      report.facts += fmt::format("and {} more\n", judgement.violations.size() - i);
      break;
    }
    const Violation& violation = judgement.violations[i];
    report.facts += fmt::format("violated: {}{}{}: {}\n", violation.kind,
                                violation.resource.empty() ? "" : " of ", violation.resource,
                                cli::as_printable(violation.what));
  }
  const std::string_view word = verdict(history, judgement, ending);
  if (word == "ok") {
    report.verdict = "ok: nothing was violated";
  } else if (word == "violated") {
    report.verdict = fmt::format("violated: {} times", judgement.violations.size());
  } else if (word == "interrupted") {
    report.verdict = "interrupted: nothing was violated until then";
  } else {
    report.verdict = "no lease was granted, so there was nothing to violate";
  }
  return report;
}

}  // namespace redlock::chaos
