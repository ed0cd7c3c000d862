#include "bench/contest/handoff_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/contest/contender_crew.hpp"
#include "bench/contest/handoff_board.hpp"
#include "bench/measure/endpoint.hpp"
#include "bench/measure/handoff_lock.hpp"
#include "bench/measure/node_commands.hpp"

namespace redlock::cli {
namespace {

using bench::HandoffLock;
using Counts = std::vector<bench::CommandCounts>;

constexpr std::chrono::milliseconds settling_step{1};
constexpr int settling_limit = 1000;
constexpr std::chrono::seconds stall_limit{20};

std::vector<bench::Endpoint> endpoints_of(const HandoffRequest& request) {
  std::vector<bench::Endpoint> nodes;
  for (const std::string& url : request.settings.nodes) {
    nodes.push_back(plain_endpoint(url).value_or(bench::Endpoint{}));
  }
  return nodes;
}

HandoffRequest gate_of(HandoffRequest request) {
  request.index = handoff_gate_index;
  return request;
}

/// The request of each contender.
std::vector<std::string> lines_of(HandoffRequest request) {
  std::vector<std::string> lines;
  for (request.index = 0; request.index < request.contenders; ++request.index) {
    lines.push_back(to_line(request));
  }
  return lines;
}

class HandoffRun {
 public:
  HandoffRun(const HandoffRequest& request, const Signals& signals)
      : request_(request),
        board_(bench::HandoffBoard::create(request.board, request.contenders,
                                           handoff_records(request))),
        nodes_(endpoints_of(request)),
        crew_(handoff_contender_verb, lines_of(request), signals),
        gate_(make_handoff_lock(gate_of(request))) {}

  HandoffFigures run(bench::HandoffPattern pattern) {
    // After this lap, all contenders have waited once, so they are subscribed.
    lap(handoff_order::warm_up);
    gate_records_.clear();
    board_.granted().store(0);
    const Counts before = nodes_.sample();
    if (pattern == bench::HandoffPattern::drain) {
      for (std::uint64_t done = 0; done < request_.acquisitions; done += request_.contenders) {
        lap(handoff_order::lap);
      }
    } else {
      command(handoff_order::reentry);
      wait_until_done();
    }
    const Counts after = nodes_.sample();
    crew_.finish();
    auto records = board_.records();
    records.insert(records.end(), gate_records_.begin(), gate_records_.end());
    // The gate's acquisitions count, too: it acquires and releases as the contenders do.
    const auto commands = commands_per_handover(before, after, records.size());
    const auto result =
        judge_handoff(std::move(records), pattern, request_.contenders, counted(pattern));
    if (!result.wrong.empty()) {
      throw HandoffViolation("--mode handoff: two held the lock at once: " + result.wrong);
    }
    return figures_of(result, commands);
  }

 private:
  /// How many acquisitions count: all of a drain, because its last lap is complete.
  [[nodiscard]] std::uint64_t counted(bench::HandoffPattern pattern) const {
    return pattern == bench::HandoffPattern::drain ? UINT64_MAX : request_.acquisitions;
  }

  void command(char order) {
    board_.finished().store(0);
    crew_.order(order);
  }

  /// All contenders queue up while the gate holds the lock, and then are served in turn.
  void lap(char order) {
    bench::HandoffRecord record;
    record.contender = bench::handoff_gate;
    record.began = bench::handoff_now();
    gate_->acquire(HandoffLock::Entry::free);
    record.granted = bench::handoff_now();
    const Counts before = nodes_.sample();
    command(order);
    crew_.wait_for(handoff_word::asking, request_.contenders);
    if (request_.side == HandoffRequest::Side::ours) settle(before);
    record.released = bench::handoff_now();
    record.unacknowledged = gate_->release(HandoffLock::Next::waits) ? 0 : 1;
    gate_records_.push_back(record);
    wait_until_done();
  }

  /// Waits until all contenders are done. Throws if none of them is granted the lock for
  /// `stall_limit`.
  void wait_until_done() {
    std::uint64_t last = board_.granted().load();
    auto last_change = std::chrono::steady_clock::now();
    while (!crew_.take_heard(handoff_word::done, 1)) {
      crew_.wait_at_most(std::chrono::seconds{1});
      const auto now = std::chrono::steady_clock::now();
      const std::uint64_t granted = board_.granted().load();
      if (granted != last) {
        last = granted;
        last_change = now;
      } else if (now - last_change > stall_limit) {
        throw std::runtime_error(fmt::format(
            "--mode handoff: no contender was granted the lock for {} s", stall_limit.count()));
      }
    }
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
        const bool all_asked = now[i].all - before[i].all >= request_.contenders;
        changed = changed || !all_asked || now[i].all != last[i].all;
      }
      quiet = changed ? 0 : quiet + 1;
      last = std::move(now);
    }
  }

  const HandoffRequest& request_;
  bench::HandoffBoard board_;
  bench::NodeCommands nodes_;
  ContenderCrew crew_;
  std::unique_ptr<HandoffLock> gate_;
  std::vector<bench::HandoffRecord> gate_records_{};
};

}  // namespace

HandoffFigures run_handoff(HandoffRequest request, bench::HandoffPattern pattern,
                           const std::string& folder, const Signals& signals) {
  request.board = folder + "/board-" + request.resource.substr(request.resource.rfind('/') + 1);
  return HandoffRun(request, signals).run(pattern);
}

}  // namespace redlock::cli
