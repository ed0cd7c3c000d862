#include "sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "common/servers/local_nodes.hpp"
#include "common/text/usage_error.hpp"
#include "floor.hpp"
#include "redlock/deployment.hpp"
#include "redlock/target.hpp"
#include "sequential_client.hpp"

namespace redlock::cli {
namespace {

struct Variant {
  std::string_view name;
  void (*change)(CycleLoad& load);
};

/// Our own cycles, with another load.
constexpr Variant variants[] = {
    {"unguarded",
     [](CycleLoad& load) { load.options.guards.restart = load.options.guards.clock = false; }},
    {"fenced", [](CycleLoad& load) { load.fencing = true; }},
    {"scripts", [](CycleLoad& load) { load.options.node.plain_commands = false; }},
    {"shared",
     [](CycleLoad& load) {
       load.target = [](const std::string& resource, std::uint64_t) { return shared(resource); };
     }},
    {"owned",
     [](CycleLoad& load) {
       load.target = [](const std::string& resource, std::uint64_t) {
         return owned(resource, "bench");
       };
     }},
    {"permit",
     [](CycleLoad& load) {
       load.target = [](const std::string& resource, std::uint64_t) { return permit(resource, 4); };
     }},
    // Each cycle has a resource of its own: one resource would grant one lease in that time.
    {"interval",
     [](CycleLoad& load) {
       load.target = [](const std::string& resource, std::uint64_t cycle) {
         return interval(fmt::format("{}/{}", resource, cycle), std::chrono::milliseconds{5});
       };
     }},
    {"several",
     [](CycleLoad& load) {
       load.target = [](const std::string& resource, std::uint64_t) {
         return all_of({resource + "/from", resource + "/to"});
       };
     }},
};

const Variant* variant_of(std::string_view name) {
  const auto* found = std::find_if(std::begin(variants), std::end(variants),
                                   [name](const Variant& one) { return one.name == name; });
  return found == std::end(variants) ? nullptr : found;
}

struct NodeFault {
  LocalNodes::Fault fault = LocalNodes::Fault::killed;
  std::size_t nodes = 0;
};

/// "stopped2".
std::optional<NodeFault> fault_of(std::string_view name) {
  for (const auto& [word, fault] : {std::pair{"killed", LocalNodes::Fault::killed},
                                    std::pair{"stopped", LocalNodes::Fault::stopped}}) {
    if (!name.starts_with(word)) continue;
    name.remove_prefix(std::string_view(word).size());
    std::size_t nodes = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), nodes);
    if (error == std::errc{} && end == name.data() + name.size()) return NodeFault{fault, nodes};
  }
  return std::nullopt;
}

/// Cycles on new nodes, some of which go down as the measurement begins.
bench::CycleOutcome run_with_fault(NodeFault fault, const CycleLoad& ours, const Settings& settings,
                                   const Signals& signals, std::size_t run) {
  const std::size_t count = ours.options.nodes.size();
  if (fault.nodes > count) return fmt::format("there are only {} nodes", count);
  const LocalNodes nodes(count, signals, LocalNodes::Reach::loopback);
  CycleLoad load = ours;
  load.options = client_options(settings, nodes.urls());
  if (settings.client.guards.restart) {
    if (const auto opened = admin::bootstrap(load.options); !opened) return opened.error().message;
  }
  load.node_cpu = nullptr;                 // a node that is gone tells nothing
  load.warm_up = std::chrono::seconds{1};  // until each node has answered
  load.at_start = [&] {
    // Other nodes in each run, because a client may ask its nodes in a fixed order.
    for (std::size_t i = 0; i < fault.nodes; ++i) nodes.strike((run + i) % count, fault.fault);
  };
  return run_async_cycles(load);
}

}  // namespace

void check_sides(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name == "floor" || name == "sequential" || variant_of(name) || fault_of(name)) continue;
    throw UsageError(
        fmt::format("--sides: '{}' is not known; tests/bench/sides.hpp lists them", name));
  }
}

std::vector<CycleSide> sides_of(const std::vector<std::string>& names, const CycleRequest& request,
                                const Signals& signals, const std::atomic<int>& stop) {
  const bool blocking = request.interface == CycleRequest::Interface::blocking;
  std::vector<CycleSide> sides;
  for (const std::string& name : names) {
    CycleSide side{name, {}, {}};
    if (name == "floor") {
      side.run = [](const CycleLoad& ours) {
        const auto before = bench::cpu_of_nodes(ours.node_cpu);
        bench::CycleOutcome outcome = bench::run_floor(plain_settings(ours));
        if (auto* result = std::get_if<bench::CycleResult>(&outcome)) {
          result->node_cpu = bench::cpu_of_nodes(ours.node_cpu) - before;
        }
        return outcome;
      };
    } else if (name == "sequential") {
      side.run = [&stop](const CycleLoad& ours) {
        return bench::run_sequential_client(
            {plain_settings(ours), ours.warm_up, &stop, ours.node_cpu});
      };
    } else if (const Variant* variant = variant_of(name)) {
      side.run = [variant, blocking](const CycleLoad& ours) {
        CycleLoad load = ours;
        variant->change(load);
        return blocking && !load.target ? run_blocking_cycles(load) : run_async_cycles(load);
      };
    } else if (const auto fault = fault_of(name)) {
      side.run = [fault, &request, &signals, run = std::size_t{0}](const CycleLoad& ours) mutable {
        return run_with_fault(*fault, ours, request.settings, signals, run++);
      };
    }
    sides.push_back(std::move(side));
  }
  return sides;
}

}  // namespace redlock::cli
