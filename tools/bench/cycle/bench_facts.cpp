#include "bench/cycle/bench_facts.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "common/system/platform.hpp"
#include "redlock/client.hpp"
#include "redlock/version.hpp"

namespace redlock::cli {
namespace {

constexpr std::chrono::seconds servers_limit{2};

/// The nodes' own descriptions, by their position.
struct ServerNames {
  std::mutex mutex{};
  std::condition_variable changed{};
  std::map<std::size_t, std::string> of_node{};
};

std::string processors() {
  const auto count = std::max<long>(::sysconf(_SC_NPROCESSORS_ONLN), 1);
  const std::string model = platform::cpu_model();
  return fmt::format("{}{}{}", model, model.empty() ? "" : ", ",
                     count == 1 ? "one" : fmt::format("{} of them", count));
}

/// "taskset -c 0 ", or empty.
std::string pinning() {
  const auto allowed = platform::allowed_cpus();
  if (allowed.empty() || std::cmp_greater_equal(allowed.size(), ::sysconf(_SC_NPROCESSORS_ONLN))) {
    return {};
  }
  return fmt::format("taskset -c {} ", fmt::join(allowed, ","));
}

std::string pinned_text() {
  const auto allowed = platform::allowed_cpus();
  if (pinning().empty()) return "no: everything may use all processors";
  return allowed.size() == 1
             ? "yes: clients and nodes share one processor"
             : fmt::format("yes: clients and nodes share {} processors", allowed.size());
}

std::string system_text() {
  utsname name{};
  if (::uname(&name) != 0) return {};
  // The part after a dash is the builder's own.
  const std::string_view release = name.release;
  return fmt::format("{} {}, {}", name.sysname, release.substr(0, release.find('-')), name.machine);
}

std::string client_text(const CycleRequest& request) {
  return fmt::format(
      "redlock {}, {} interface, {}", library_version(),
      request.interface == CycleRequest::Interface::blocking ? "the blocking" : "the asynchronous",
      request.settings.guards.restart ? "with its guards" : "without the restart guard");
}

}  // namespace

std::string servers_of(const CycleRequest& request, const std::vector<std::string>& nodes) {
  // Shared: the last event may come when this function has given up.
  const auto names = std::make_shared<ServerNames>();
  ClientOptions options = client_options(request.settings, nodes);
  options.on_node_event = [names](const NodeEvent& event) {
    if (event.kind != NodeEvent::Kind::up) return;
    const std::lock_guard lock(names->mutex);
    names->of_node[event.node] = event.message;
    names->changed.notify_all();
  };
  const auto client = Client::create(std::move(options));
  std::map<std::string, std::size_t> counts;
  {
    std::unique_lock lock(names->mutex);
    names->changed.wait_for(lock, servers_limit,
                            [&] { return names->of_node.size() >= nodes.size(); });
    for (const auto& [node, name] : names->of_node) ++counts[name];
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    fmt::format_to(std::back_inserter(text), "{}{} × {}", text.empty() ? "" : ", ", count, name);
  }
  return text;
}

BenchFacts facts_of(const CycleRequest& request, const std::string& servers, const Peers* peers) {
  BenchFacts facts;
  facts.command = pinning() + command_of(request);
  const auto add = [&facts](std::string name, std::string text) {
    if (!text.empty()) facts.about.emplace_back(std::move(name), std::move(text));
  };
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  add("when", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(now)));
  add("client", client_text(request));
  add("nodes", servers.empty() ? "not known" : servers);
  add("where", request.settings.local ? "nodes of its own on this machine, over loopback TCP"
                                      : "the nodes that were given");
  add("processors", processors());
  add("pinned", pinned_text());
  add("system", system_text());
  add("repetitions", fmt::format("{}, each side for {} in each", request.repetitions,
                                 duration_text(request.duration)));
  if (peers == nullptr) return facts;
  for (const Peer& peer : peers->all()) {
    if (!peer.version.empty()) add(peer.name, peer.version + " on " + peers->runtime());
    if (!peer.left_out.empty()) {
      facts.left_out.push_back(fmt::format("{} was left out: {}.", peer.name, peer.left_out));
    }
  }
  return facts;
}

}  // namespace redlock::cli
