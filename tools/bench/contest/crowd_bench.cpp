#include "bench/contest/crowd_bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "bench/contest/contender_crew.hpp"
#include "bench/contest/crowd_board.hpp"
#include "bench/contest/crowd_member.hpp"
#include "bench/contest/handoff_figures.hpp"
#include "bench/measure/bench_plan.hpp"
#include "bench/measure/endpoint.hpp"
#include "bench/measure/node_commands.hpp"
#include "common/servers/loopback_server.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/progress.hpp"
#include "common/session/session.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t clients_per_process = 10;
/// A server takes 10,000 connections by default.
constexpr std::uint64_t largest_crowd = 2000;
constexpr std::chrono::seconds longest_crowd_hold{1};
constexpr std::chrono::seconds crowd_warm_up{1};
constexpr std::chrono::minutes connecting_limit{2};

struct CrowdPlan {
  Settings settings{};
  std::vector<std::uint64_t> nodes_counts{};
  std::vector<std::uint64_t> crowds{};
  std::chrono::nanoseconds hold{0};
  std::chrono::nanoseconds duration{0};
};

CrowdPlan read_crowd_plan(const Arguments& given) {
  CrowdPlan plan;
  plan.settings = resolve_settings(given, NodesNeeded::optional);
  plan.nodes_counts = choose_plain_nodes(given, "crowd", 3, plan.settings);
  plan.crowds = given.numbers("contenders", 1, largest_crowd)
                    .value_or(std::vector<std::uint64_t>{8, 16, 32, 64, 125, 250, 500, 1000});
  plan.hold = given.duration("hold").value_or(std::chrono::milliseconds{2});
  // A lease that is lost while it is held would look like a lock that does not exclude.
  if (plan.hold >
      std::min<std::chrono::nanoseconds>(longest_crowd_hold, default_ttl(plan.settings) / 4)) {
    throw UsageError("--hold: at most 1s and a quarter of the TTL is allowed");
  }
  plan.duration = given.positive_duration("duration").value_or(std::chrono::seconds{5});
  if (plan.duration > std::chrono::hours{1}) {
    throw UsageError("--duration: at most 1h is allowed");
  }
  return plan;
}

std::vector<std::string> crowd_requests(CrowdRequest request) {
  std::vector<std::string> lines;
  for (request.first = 0; request.first < request.clients; request.first += clients_per_process) {
    request.count = std::min<std::size_t>(clients_per_process, request.clients - request.first);
    lines.push_back(to_line(request));
  }
  return lines;
}

/// One crowd, from its first connection to its last.
class CrowdRun {
 public:
  CrowdRun(const CrowdRequest& request, const Signals& signals)
      : request_(request),
        board_(bench::CrowdBoard::create(request.board, request.clients)),
        nodes_(endpoints_of(request.settings.nodes)),
        requests_(crowd_requests(request)),
        crew_(crowd_member_verb, requests_, signals) {}

  CrowdRow run(std::chrono::nanoseconds duration) {
    CrowdRow row;
    row.nodes = request_.settings.nodes.size();
    row.clients = request_.clients;
    const std::uint64_t connections = nodes_.connections();
    row.connected = connect();
    crew_.order(crowd_order::go);
    pass(crowd_warm_up);
    board_.head().counting = 1;
    row.elapsed = pass(duration);
    board_.head().counting = 0;
    take_counts(row);
    row.connections = nodes_.connections() - connections;
    crew_.finish();
    row.overlaps = board_.head().overlaps;
    return row;
  }

 private:
  [[nodiscard]] static std::vector<bench::Endpoint> endpoints_of(
      const std::vector<std::string>& urls) {
    std::vector<bench::Endpoint> nodes;
    nodes.reserve(urls.size());
    for (const std::string& url : urls) nodes.push_back(*plain_endpoint(url));
    return nodes;
  }

  std::chrono::nanoseconds connect() {
    const auto began = SteadyClock::now();
    crew_.order(crowd_order::connect);
    while (!crew_.take_heard(crowd_word::connected, requests_.size())) {
      crew_.wait_at_most(std::chrono::seconds{1});
      if (SteadyClock::now() - began < connecting_limit) continue;
      throw std::runtime_error(
          fmt::format("--mode crowd: {} clients were not connected within {} s", request_.clients,
                      std::chrono::seconds(connecting_limit).count()));
    }
    return SteadyClock::now() - began;
  }

  /// Returns the time that has really passed.
  std::chrono::nanoseconds pass(std::chrono::nanoseconds duration) {
    const auto began = SteadyClock::now();
    for (auto now = began; now - began < duration; now = SteadyClock::now()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(began + duration - now);
      crew_.wait_at_most(std::min<std::chrono::milliseconds>(left, std::chrono::seconds{1}));
    }
    return SteadyClock::now() - began;
  }

  void take_counts(CrowdRow& row) const {
    const auto now = static_cast<std::uint64_t>(bench::handoff_now());
    row.least = UINT64_MAX;
    std::uint64_t longest = 0;
    for (const bench::CrowdBoard::Client& client : board_.clients()) {
      const std::uint64_t grants = client.grants;
      row.grants += grants;
      row.most = std::max(row.most, grants);
      row.least = std::min(row.least, grants);
      const std::uint64_t since = client.waits_since;
      longest = std::max<std::uint64_t>(longest, client.longest_wait_ns);
      if (since != 0 && since < now) longest = std::max(longest, now - since);
    }
    row.longest_wait = std::chrono::nanoseconds{longest};
    row.failures = board_.head().failures;
  }

  const CrowdRequest& request_;
  bench::CrowdBoard board_;
  bench::NodeCommands nodes_;
  std::vector<std::string> requests_;
  ContenderCrew crew_;
};

class CrowdBench {
 public:
  CrowdBench(const CrowdPlan& plan, const Session& session, const Signals& signals)
      : plan_(plan),
        session_(session),
        signals_(signals),
        folder_(make_temporary_directory()),
        progress_(plan.nodes_counts.size() * plan.crowds.size(), crowd_warm_up + plan.duration) {}
  ~CrowdBench() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  CrowdBench(const CrowdBench&) = delete;
  CrowdBench& operator=(const CrowdBench&) = delete;

  std::vector<CrowdRow> run() {
    std::vector<CrowdRow> rows;
    for (const std::uint64_t nodes : plan_.nodes_counts) {
      for (const std::uint64_t clients : plan_.crowds) {
        progress_.show(rows.size(), fmt::format("{} clients, {} nodes", clients, nodes));
        CrowdRequest request;
        request.settings = plan_.settings;
        request.settings.nodes.assign(
            session_.nodes().begin(),
            session_.nodes().begin() + static_cast<std::ptrdiff_t>(nodes));
        request.resource = fmt::format("quorum-lock-bench/{}/crowd-{}", ::getpid(), rows.size());
        request.board = fmt::format("{}/board-{}", folder_, rows.size());
        request.clients = clients;
        request.hold = plan_.hold;
        session_.reopen_local_nodes(request.settings.nodes);
        rows.push_back(CrowdRun(request, signals_).run(plan_.duration));
      }
    }
    return rows;
  }

 private:
  const CrowdPlan& plan_;
  const Session& session_;
  const Signals& signals_;
  std::string folder_;
  Progress progress_;
};

/// Returns the exit code. All rows have been printed, even wrong ones, which show what is wrong.
int judge_crowds(const std::vector<CrowdRow>& rows, int printed) {
  for (const CrowdRow& row : rows) {
    if (row.overlaps == 0) continue;
    print_error(fmt::format("--mode crowd: two of {} clients held the lock at once", row.clients));
    return code(ExitCode::failure);
  }
  for (const CrowdRow& row : rows) {
    if (row.grants != 0) continue;
    print_error(fmt::format("--mode crowd: none of {} clients was granted the lock", row.clients));
    return code(ExitCode::unavailable);
  }
  return printed;
}

}  // namespace

int run_crowd_bench(const Arguments& given, const Signals& signals) {
  const CrowdPlan plan = read_crowd_plan(given);
  const Session session(plan.settings, signals, LocalNodes::Reach::loopback);
  // Before anything is measured: a wrong URL must be reported as wrong usage.
  if (const auto client = Client::create(client_options(plan.settings, session.nodes())); !client) {
    return report_failure(plan.settings, {}, client.error());
  }
  std::vector<CrowdRow> rows;
  try {
    // The progress bar must be gone before anything else is printed.
    rows = CrowdBench(plan, session, signals).run();
  } catch (const ContendersInterrupted& interrupted) {
    return code_of_signal(interrupted.signal);
  }
  return judge_crowds(rows, print_result(plan.settings.format == Settings::Format::json
                                             ? crowd_json(rows)
                                             : crowd_text(Style::of_standard_output(), rows)));
}

}  // namespace redlock::cli
