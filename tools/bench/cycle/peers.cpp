#include "bench/cycle/peers.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <variant>

#include "bench/cycle/peer_packages.hpp"
#include "common/system/child_process.hpp"
#include "common/system/watched_child.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

using PeerJson = nlohmann::json;
using std::chrono::nanoseconds;

/// Programs that are compiled while they run get a longer warm-up than ours.
constexpr std::chrono::seconds longest_warm_up{1};
/// The time that a peer can take to start, to connect and to end.
constexpr std::chrono::seconds grace{30};

std::int64_t whole_ms(nanoseconds duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration).count();
}

std::string settings_text(const std::string& peer, const bench::CycleSettings& settings,
                          nanoseconds warm_up) {
  PeerJson json{{"peer", peer},
                {"in_flight", settings.in_flight},
                {"warm_up_ms", whole_ms(warm_up)},
                {"duration_ms", whole_ms(settings.duration)},
                {"ttl_ms", settings.ttl.count()},
                {"prefix", settings.resource_prefix}};
  json["nodes"] = PeerJson::array();
  for (const bench::Endpoint& node : settings.nodes) {
    json["nodes"].push_back({{"host", node.host},
                             {"port", node.port},
                             {"path", node.unix_path},
                             {"password", node.password}});
  }
  return json.dump() + "\n";
}

void add_durations(bench::Histogram& histogram, const PeerJson& list) {
  for (const PeerJson& entry : list) {
    const nanoseconds duration{entry.at(0).get<std::int64_t>()};
    for (auto count = entry.at(1).get<std::uint64_t>(); count > 0; --count) {
      histogram.record(duration);
    }
  }
}

/// Throws a JSON error if a member is missing or has another type.
bench::CycleResult result_of(const PeerJson& json) {
  bench::CycleResult result;
  result.cycles = json.at("cycles").get<std::uint64_t>();
  result.failures = json.at("failures").get<std::uint64_t>();
  result.elapsed = nanoseconds{json.at("elapsed_ns").get<std::int64_t>()};
  result.cpu_in_kernel = std::chrono::microseconds{json.at("cpu_kernel_us").get<std::int64_t>()};
  result.cpu =
      result.cpu_in_kernel + std::chrono::microseconds{json.at("cpu_user_us").get<std::int64_t>()};
  add_durations(result.acquire, json.at("acquire"));
  add_durations(result.cycle, json.at("cycle"));
  result.version = as_printable(json.value("version", ""));
  return result;
}

std::string why_without_result(const ChildOutcome& outcome) {
  if (outcome.end == ChildEnd::too_late) return "it does not end";
  if (WIFSIGNALED(outcome.status)) {
    return fmt::format("it ended by signal {}", WTERMSIG(outcome.status));
  }
  return fmt::format("it gave no result and ended with {}", WEXITSTATUS(outcome.status));
}

bench::CycleOutcome run_peer(const PeerPackages& packages, const std::string& name,
                             const CycleLoad& load, const Signals& signals,
                             const std::atomic<int>& stop) {
  const nanoseconds warm_up = std::min<nanoseconds>(load.duration, longest_warm_up);
  WatchedChild child;
  child.request.program = packages.node;
  child.request.arguments = {"node", packages.folder / "peer.mjs", packages.folder};
  child.request.environment = environment_of_helper();
  child.input = settings_text(name, plain_settings(load), warm_up);
  child.limit = std::chrono::ceil<std::chrono::milliseconds>(load.duration + warm_up + grace);
  child.stop = &stop;
  nanoseconds node_cpu_at_start{0};
  nanoseconds node_cpu_used{0};
  PeerJson said;
  child.on_line = [&](std::string_view line) {
    if (line == "measuring") {
      node_cpu_at_start = bench::cpu_of_nodes(load.node_cpu);
    } else if (line.starts_with('{')) {
      node_cpu_used = bench::cpu_of_nodes(load.node_cpu) - node_cpu_at_start;
      said = PeerJson::parse(line, nullptr, false);
    }
  };
  const auto ended = run_watched(child, signals);
  if (const int* error = std::get_if<int>(&ended)) {
    return fmt::format("{} cannot be started: {}", packages.node, std::strerror(*error));
  }
  if (!said.is_object()) return why_without_result(std::get<ChildOutcome>(ended));
  try {
    if (said.contains("error")) return as_printable(said.value("error", ""));
    bench::CycleResult result = result_of(said);
    result.node_cpu = node_cpu_used;
    return result;
  } catch (const PeerJson::exception&) {
    return std::string("its result is not understood");
  }
}

}  // namespace

std::vector<CycleSide> peer_sides(const Settings& settings, const Signals& signals,
                                  const std::atomic<int>& stop) {
  auto installed = install_peer_packages(settings, signals, stop);
  std::vector<CycleSide> sides;
  for (const char* name : {"node-redlock", "redlock-universal"}) {
    CycleSide side{name, {}, {}};
    if (const auto* why = std::get_if<std::string>(&installed)) {
      side.left_out = *why;
    } else {
      side.run = [packages = std::get<PeerPackages>(installed), name = side.name, &signals,
                  &stop](const CycleLoad& load) {
        return run_peer(packages, name, load, signals, stop);
      };
    }
    sides.push_back(std::move(side));
  }
  return sides;
}

}  // namespace redlock::cli
