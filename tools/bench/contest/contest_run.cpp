#include "bench/contest/contest_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/contest/contender_crew.hpp"
#include "bench/contest/contest_board.hpp"
#include "bench/measure/endpoint.hpp"
#include "bench/measure/node_commands.hpp"
#include "redlock/client.hpp"

namespace redlock::cli {
namespace {

using bench::ContestPattern;
using Counts = std::vector<bench::CommandCounts>;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::minutes connecting_limit{2};
constexpr std::chrono::seconds contest_warm_up{1};
constexpr std::chrono::milliseconds settling_step{1};
constexpr int settling_limit = 1000;
constexpr std::chrono::seconds stall_limit{20};

/// The request of each process.
std::vector<std::string> lines_of(const ContestPlan& plan) {
  std::vector<std::string> lines;
  ContestRequest request = plan.request;
  for (; request.first < request.clients; request.first += plan.clients_per_process) {
    request.count = std::min(plan.clients_per_process, request.clients - request.first);
    lines.push_back(to_line(request));
  }
  return lines;
}

class ContestRun {
 public:
  ContestRun(const ContestPlan& plan, const Signals& signals)
      : plan_(plan),
        request_(plan.request),
        board_(bench::ContestBoard::create(request_.board, request_.records)),
        nodes_(plain_endpoints(request_.settings.nodes)),
        lines_(lines_of(plan)),
        crew_(contenders_verb, lines_, signals) {}

  ContestFigures run() {
    const std::uint64_t connections = nodes_.connections();
    const auto connected = connect();
    std::uint64_t connections_made = nodes_.connections();
    const Counts before = plan_.duration.count() == 0 ? warm_up_by_lap() : nodes_.sample();
    if (plan_.pattern == ContestPattern::drain) {
      for (std::uint64_t done = 0; done < request_.grants; done += request_.clients) {
        lap(contest_order::lap);
      }
    } else {
      order(contest_order::reentry);
      if (plan_.duration.count() > 0) pass_the_time();
      wait_until_done();
    }
    const Counts after = nodes_.sample();
    // A crowd has no gate, whose connections would count.
    if (!gate_) connections_made = nodes_.connections();
    const std::uint64_t failures = board_.head().failures;
    auto records = board_.records();
    records.insert(records.end(), gate_records_.begin(), gate_records_.end());
    // The gate's acquisitions count, too: it acquires and releases as the contenders do.
    const auto commands = commands_per_handover(before, after, records.size());
    ContestFigures figures = figures_of(judged(std::move(records)), commands);
    figures.connect_us =
        static_cast<double>(std::chrono::round<std::chrono::microseconds>(connected).count());
    figures.connections = static_cast<double>(connections_made - connections) /
                          static_cast<double>(request_.clients * request_.settings.nodes.size());
    figures.failures = static_cast<double>(failures);
    crew_.finish();
    return figures;
  }

 private:
  [[nodiscard]] bench::ContestResult judged(std::vector<bench::ContestRecord> records) const {
    // All acquisitions of a drain count, because its last lap is complete.
    std::uint64_t counted = plan_.pattern == ContestPattern::drain ? UINT64_MAX : request_.grants;
    if (plan_.duration.count() > 0) {
      std::erase_if(records, [this](const auto& record) { return record.granted < from_; });
      counted = static_cast<std::uint64_t>(
          std::count_if(records.begin(), records.end(),
                        [this](const auto& record) { return record.granted < until_; }));
    }
    return judge_contest(std::move(records), plan_.pattern, request_.clients, counted);
  }

  void order(char order) {
    board_.head().finished = 0;
    crew_.order(order);
  }

  std::chrono::nanoseconds connect() {
    const auto began = SteadyClock::now();
    crew_.order(contest_order::connect);
    while (!crew_.take_heard(contest_word::connected, lines_.size())) {
      crew_.wait_at_most(std::chrono::seconds{1});
      if (SteadyClock::now() - began < connecting_limit) continue;
      throw std::runtime_error(fmt::format("bench: {} clients were not connected within {} s",
                                           request_.clients,
                                           std::chrono::seconds(connecting_limit).count()));
    }
    return SteadyClock::now() - began;
  }

  /// After a lap, all contenders have waited once, so they are subscribed. Returns the counts of
  /// the nodes at its end.
  Counts warm_up_by_lap() {
    auto client = Client::create(client_options(request_.settings, request_.settings.nodes));
    if (!client) throw std::runtime_error(client.error().message);
    gate_.emplace(*std::move(client));
    lap(contest_order::warm_up);
    gate_records_.clear();
    board_.head().granted = 0;
    return nodes_.sample();
  }

  /// All contenders queue up while the gate holds the lock, and then are served in turn.
  void lap(char lap_order) {
    bench::ContestRecord record;
    record.contender = bench::contest_gate;
    record.began = bench::contest_now();
    auto lease = gate_->acquire(request_.resource, {.ttl = default_ttl(request_.settings)});
    if (!lease) throw std::runtime_error(lease.error().message);
    record.granted = bench::contest_now();
    const Counts before = nodes_.sample();
    order(lap_order);
    crew_.wait_for(contest_word::asking, request_.clients);
    settle(before);
    record.released = bench::contest_now();
    record.unacknowledged = lease->release() ? 0 : 1;
    gate_records_.push_back(record);
    wait_until_done();
  }

  /// Waits until all contenders are queued. A client does not show that, so the nodes do: every
  /// contender has asked every node, and then no node has had anything to do for two steps.
  void settle(const Counts& before) {
    Counts last = before;
    int quiet = 0;
    for (int step = 0; step < settling_limit && quiet < 2; ++step) {
      crew_.wait_at_most(settling_step);
      Counts now = nodes_.sample();
      bool changed = false;
      for (std::size_t i = 0; i < now.size(); ++i) {
        const bool all_asked = now[i].all - before[i].all >= request_.clients;
        changed = changed || !all_asked || now[i].all != last[i].all;
      }
      quiet = changed ? 0 : quiet + 1;
      last = std::move(now);
    }
  }

  void pass_the_time() {
    pass(contest_warm_up);
    from_ = bench::contest_now();
    pass(plan_.duration);
    until_ = bench::contest_now();
    crew_.order(contest_order::stop);
  }

  void pass(std::chrono::nanoseconds duration) {
    const auto end = SteadyClock::now() + duration;
    for (auto now = SteadyClock::now(); now < end; now = SteadyClock::now()) {
      crew_.wait_at_most(std::min<std::chrono::milliseconds>(
          std::chrono::ceil<std::chrono::milliseconds>(end - now), std::chrono::seconds{1}));
    }
  }

  /// Waits until all contenders are done. Throws if none of them is granted the lock for
  /// `stall_limit`.
  void wait_until_done() {
    std::uint64_t last = board_.head().granted;
    auto last_change = SteadyClock::now();
    while (!crew_.take_heard(contest_word::done, 1)) {
      crew_.wait_at_most(std::chrono::seconds{1});
      const auto now = SteadyClock::now();
      const std::uint64_t granted = board_.head().granted;
      if (granted != last) {
        last = granted;
        last_change = now;
      } else if (now - last_change > stall_limit) {
        throw std::runtime_error(
            fmt::format("bench: no contender was granted the lock for {} s", stall_limit.count()));
      }
    }
  }

  const ContestPlan& plan_;
  const ContestRequest& request_;
  bench::ContestBoard board_;
  bench::NodeCommands nodes_;
  std::vector<std::string> lines_;
  ContenderCrew crew_;
  std::optional<Client> gate_{};
  std::vector<bench::ContestRecord> gate_records_{};
  std::int64_t from_ = 0;
  std::int64_t until_ = 0;
};

}  // namespace

ContestFigures run_contest(const ContestPlan& plan, const Signals& signals) {
  return ContestRun(plan, signals).run();
}

}  // namespace redlock::cli
