#include "bench/cycle/cycle_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "bench/measure/endpoint.hpp"
#include "common/system/written_file.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

constexpr std::uint64_t most_threads = 512;

/// The other programs speak no TLS, and know no names.
void require_plain_nodes(const CycleRequest& request, std::string_view option) {
  for (const std::string& node : request.settings.nodes) {
    if (plain_endpoint(node) && request.settings.password.empty()) continue;
    throw UsageError(
        fmt::format("--{}: cannot measure '{}': only nodes without TLS, user name and database "
                    "number, with the password in the URL",
                    option, without_password(node)));
  }
}

/// How many nodes there are, and the rows to measure with them.
void choose_nodes(const Arguments& given, CycleRequest& request) {
  Settings& settings = request.settings;
  const auto counts = given.numbers("nodes-count");
  const std::size_t present = settings.local.value_or(settings.nodes.size());
  if (counts) {
    request.nodes_counts = *counts;
  } else if (present == 0) {
    request.nodes_counts = {1, 3, 5};
  } else if (settings.local) {
    for (const std::uint64_t count : {1U, 3U, 5U}) {
      if (count < present) request.nodes_counts.push_back(count);
    }
    request.nodes_counts.push_back(present);
  } else {
    request.nodes_counts = {present};
  }
  const std::uint64_t most =
      *std::max_element(request.nodes_counts.begin(), request.nodes_counts.end());
  if (settings.nodes.empty()) {
    settings.local = std::max<std::size_t>(present, most);
  } else if (most > present) {
    throw UsageError(
        fmt::format("--nodes-count: {} is more than the {} nodes given", most, present));
  }
}

}  // namespace

CycleRequest read_cycle_request(const Arguments& given) {
  CycleRequest request;
  request.settings = resolve_settings(given, NodesNeeded::optional);
  if (request.settings.quorum) {
    throw UsageError("--quorum: not with bench: it measures majorities");
  }
  if (given.flag("async") && given.flag("blocking")) {
    throw UsageError("--async: not together with --blocking");
  }
  request.interface =
      given.flag("blocking") ? CycleRequest::Interface::blocking : CycleRequest::Interface::async;
  request.guards = given.flag("guards");
  request.scripts = given.flag("scripts");
  request.floor = given.flag("floor");
  request.peers = given.flag("peers");
  const bool threads = request.interface == CycleRequest::Interface::blocking;
  const auto in_flight = threads || request.peers ? given.numbers("in-flight", 1, most_threads)
                                                  : given.numbers("in-flight");
  request.in_flight = in_flight.value_or(std::vector<std::uint64_t>{1, 16, 64});
  request.duration = given.positive_duration("duration").value_or(std::chrono::seconds{2});
  if (request.duration > std::chrono::hours{1}) {
    throw UsageError("--duration: at most 1h is allowed");
  }
  request.repetitions = given.number("repetitions").value_or(5);
  choose_nodes(given, request);
  if (request.floor) require_plain_nodes(request, "floor");
  if (request.peers) require_plain_nodes(request, "peers");
  request.html = given.text("html");
  if (request.html) require_writable("html", *request.html);
  return request;
}

std::string duration_text(std::chrono::nanoseconds duration) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  return ms % 1000 == 0 ? fmt::format("{}s", ms / 1000) : fmt::format("{}ms", ms);
}

std::string command_of(const CycleRequest& request) {
  const Settings& settings = request.settings;
  std::string command = "quorum-lock bench";
  const auto add = [&command](std::string_view text) { (command += ' ') += text; };
  if (settings.local) {
    add(fmt::format("--local {}", *settings.local));
  } else {
    std::vector<std::string> shown;
    for (const std::string& node : settings.nodes) shown.push_back(without_password(node));
    add("--nodes " + shell_word(fmt::format("{}", fmt::join(shown, ","))));
  }
  add(fmt::format("--nodes-count {}", fmt::join(request.nodes_counts, ",")));
  add(fmt::format("--in-flight {}", fmt::join(request.in_flight, ",")));
  add("--duration " + duration_text(request.duration));
  add(fmt::format("--repetitions {}", request.repetitions));
  if (request.interface == CycleRequest::Interface::blocking) add("--blocking");
  if (!settings.guards.restart) add("--restart-guard off");
  for (const auto& [name, given] : {std::pair{"--floor", request.floor},
                                    {"--guards", request.guards},
                                    {"--scripts", request.scripts},
                                    {"--peers", request.peers}}) {
    if (given) add(name);
  }
  if (request.html) add("--html FILE");
  return command;
}

}  // namespace redlock::cli
