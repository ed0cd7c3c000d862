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

#include "bench/cycle/cycle_bench.hpp"
#include "bench/measure/sequential_client.hpp"
#include "common/session/output.hpp"
#include "common/system/child_process.hpp"
#include "common/system/watched_child.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

using PeerJson = nlohmann::json;
using std::chrono::nanoseconds;

constexpr std::string_view sequential = "sequential";
/// Programs that are compiled while they run get a longer warm-up than ours.
constexpr std::chrono::seconds longest_warm_up{1};
/// The time that a peer can take to start, to connect and to end.
constexpr std::chrono::seconds grace{30};

std::int64_t whole_ms(nanoseconds duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration).count();
}

std::string settings_text(const Peer& peer, const bench::CycleSettings& settings) {
  PeerJson json{{"peer", peer.name},
                {"in_flight", settings.in_flight},
                {"warm_up_ms", whole_ms(Peers::warm_up_of(peer, settings.duration))},
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
  return result;
}

std::string why_without_result(const ChildOutcome& outcome) {
  if (outcome.end == ChildEnd::too_late) return "it does not end";
  if (WIFSIGNALED(outcome.status)) {
    return fmt::format("it ended by signal {}", WTERMSIG(outcome.status));
  }
  return fmt::format("it gave no result and ended with {}", WEXITSTATUS(outcome.status));
}

}  // namespace

Peers::Peers(const Settings& settings, const Signals& signals, const std::atomic<int>& stop)
    : signals_(signals), stop_(stop) {
  auto installed = install_peer_packages(settings, signals, stop);
  const auto* why = std::get_if<std::string>(&installed);
  if (why == nullptr) packages_ = std::get<PeerPackages>(std::move(installed));
  for (const char* name : {"node-redlock", "redlock-universal"}) {
    peers_.push_back({name, {}, why != nullptr ? *why : std::string()});
  }
  peers_.push_back({std::string(sequential), {}, {}});
}

nanoseconds Peers::warm_up_of(const Peer& peer, nanoseconds duration) {
  return peer.name == sequential ? cli::warm_up_of(duration)
                                 : std::min<nanoseconds>(duration, longest_warm_up);
}

std::optional<bench::CycleResult> Peers::run(std::size_t index,
                                             const bench::CycleSettings& settings,
                                             const bench::NodeCpu& node_cpu) {
  Peer& peer = peers_.at(index);
  if (!peer.left_out.empty() || stop_.load() != 0) return std::nullopt;
  bench::CycleOutcome outcome =
      peer.name == sequential
          ? bench::run_sequential_client(
                {settings, warm_up_of(peer, settings.duration), &stop_, node_cpu})
          : run_program(peer, settings, node_cpu);
  if (stop_.load() != 0) return std::nullopt;
  if (auto* result = std::get_if<bench::CycleResult>(&outcome)) return std::move(*result);
  peer.left_out = std::get<std::string>(outcome);
  return std::nullopt;
}

void Peers::tell_left_out() {
  for (Peer& peer : peers_) {
    if (peer.left_out.empty() || peer.told) continue;
    print_warning(fmt::format("--peers: {} is left out: {}", peer.name, peer.left_out));
    peer.told = true;
  }
}

bench::CycleOutcome Peers::run_program(Peer& peer, const bench::CycleSettings& settings,
                                       const bench::NodeCpu& node_cpu) {
  WatchedChild child;
  child.request.program = packages_.node;
  child.request.arguments = {"node", packages_.folder / "peer.mjs", packages_.folder};
  child.request.environment = environment_of_helper();
  child.input = settings_text(peer, settings);
  child.limit = std::chrono::ceil<std::chrono::milliseconds>(
      settings.duration + warm_up_of(peer, settings.duration) + grace);
  child.stop = &stop_;
  nanoseconds node_cpu_at_start{0};
  nanoseconds node_cpu_used{0};
  PeerJson said;
  child.on_line = [&](std::string_view line) {
    if (line == "measuring") {
      node_cpu_at_start = bench::cpu_of_nodes(node_cpu);
    } else if (line.starts_with('{')) {
      node_cpu_used = bench::cpu_of_nodes(node_cpu) - node_cpu_at_start;
      said = PeerJson::parse(line, nullptr, false);
    }
  };
  const auto ended = run_watched(child, signals_);
  if (const int* error = std::get_if<int>(&ended)) {
    return fmt::format("{} cannot be started: {}", packages_.node, std::strerror(*error));
  }
  if (!said.is_object()) return why_without_result(std::get<ChildOutcome>(ended));
  try {
    if (said.contains("error")) return as_printable(said.value("error", ""));
    bench::CycleResult result = result_of(said);
    result.node_cpu = node_cpu_used;
    peer.version = as_printable(said.value("version", ""));
    runtime_ = as_printable(said.value("runtime", ""));
    return result;
  } catch (const PeerJson::exception&) {
    return std::string("its result is not understood");
  }
}

}  // namespace redlock::cli
