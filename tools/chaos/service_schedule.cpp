#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "chaos/schedule.hpp"
#include "chaos/terms.hpp"

namespace redlock::chaos {
namespace {

using std::chrono::milliseconds;

/// How long a fault lasts.
enum class Span {
  moment,
  blink,     ///< too short for a failover, most likely
  absence,   ///< mostly long enough for a failover
  either,    ///< a blink or an absence
  meanwhile  ///< as long as leases
};

struct ServerRow {
  FaultForm form;
  Part part;
  Span span;
  std::size_t weight;
  std::optional<Manager> only{};  ///< none: of every service
};

/// What breaks the service, one at a time.
constexpr ServerRow server_rows[] = {
    {FaultForm::node_stopped, Part::primary, Span::absence, 4},
    {FaultForm::node_killed_with_data, Part::primary, Span::either, 3},
    {FaultForm::node_killed_empty, Part::primary, Span::either, 3},
    {FaultForm::primary_cut_off, Part::primary, Span::absence, 4},
    {FaultForm::primary_taken_over, Part::primary, Span::either, 4, Manager::cluster},
    {FaultForm::primary_taken_over, Part::primary, Span::moment, 2, Manager::cluster},
    {FaultForm::slot_moved, Part::primary, Span::moment, 4, Manager::cluster},
    {FaultForm::slot_moved, Part::primary, Span::either, 2, Manager::cluster},
    {FaultForm::failover_ordered, Part::primary, Span::moment, 4},
    {FaultForm::node_restarted, Part::primary, Span::blink, 2},  // a rolling restart ends with it
    {FaultForm::replicas_cut, Part::primary, Span::moment, 2},
    {FaultForm::replica_exchanged, Part::replica, Span::blink, 2, Manager::sentinels},
    {FaultForm::node_stopped, Part::replica, Span::meanwhile, 1},
    {FaultForm::node_killed_empty, Part::replica, Span::blink, 1},
    {FaultForm::clients_paused, Part::primary, Span::meanwhile, 1},
    {FaultForm::clients_killed, Part::primary, Span::moment, 1},
    {FaultForm::scripts_flushed, Part::primary, Span::moment, 1},
};

/// What breaks links and contenders, at the same time.
constexpr FaultForm other_forms[] = {
    FaultForm::contender_killed, FaultForm::contender_stopped, FaultForm::contenders_frozen,
    FaultForm::link_held,        FaultForm::replies_held,      FaultForm::replies_lost,
    FaultForm::link_refused,     FaultForm::link_delayed,      FaultForm::replies_trickle,
    FaultForm::replies_cut,      FaultForm::requests_cut,      FaultForm::replies_in_pieces,
    FaultForm::replies_torn,     FaultForm::machine_busy,
};

bool is_of_contender(FaultForm form) noexcept {
  return form == FaultForm::contender_killed || form == FaultForm::contender_stopped ||
         form == FaultForm::contenders_frozen;
}

class ServicePlanner {
 public:
  explicit ServicePlanner(const ScheduleRequest& request) : request_(request), dice_(request.seed) {
    for (const ServerRow& row : server_rows) {
      const bool possible = !row.only || *row.only == request.manager;
      if (possible && request.kinds.contains(kind_of(row.form))) rows_.push_back(row);
    }
    for (const FaultForm form : other_forms) {
      if (request.kinds.contains(kind_of(form))) others_.push_back(form);
    }
  }

  std::vector<Fault> plan() {
    // Each row once, as far as the time allows; those that cost the service its primary come first.
    std::vector<ServerRow> first = rows_;
    for (std::size_t i = first.size(); i > 1; --i) std::swap(first[i - 1], first[dice_.below(i)]);
    std::stable_sort(first.begin(), first.end(),
                     [](const ServerRow& a, const ServerRow& b) { return a.weight > b.weight; });
    Offset now{300};
    for (const ServerRow& row : first) now = episode(row, now);
    std::vector<ServerRow> drawn;
    for (const ServerRow& row : rows_) drawn.insert(drawn.end(), row.weight, row);
    while (now < request_.length) {
      now = drawn.empty() ? calm_episode(now) : episode(drawn[dice_.below(drawn.size())], now);
    }
    std::stable_sort(faults_.begin(), faults_.end(),
                     [](const Fault& a, const Fault& b) { return a.begin < b.begin; });
    return std::move(faults_);
  }

 private:
  /// Returns when the next one begins.
  Offset episode(const ServerRow& row, Offset now) {
    if (now >= request_.length) return now;
    const Offset begin = now;
    if (row.form == FaultForm::node_restarted) {
      for (std::size_t replica = 0; replica + 1 < request_.nodes; ++replica) {
        now = on_server({row.form, Part::replica, Span::blink, 0}, replica, now);
        now += dice_.between(milliseconds{300}, milliseconds{900});
      }
    }
    now = on_server(row, dice_.below(request_.nodes - 1), now);
    if (dice_.one_in(2)) other_fault(begin, now);
    return now + pause();
  }

  /// Only links and contenders are broken.
  Offset calm_episode(Offset now) {
    other_fault(now, now);
    return now + dice_.between(milliseconds{50}, milliseconds{1500});
  }

  milliseconds pause() {
    return dice_.one_in(4) ? dice_.between(milliseconds{30}, milliseconds{600})
                           : dice_.between(milliseconds{2500}, milliseconds{5000});
  }

  milliseconds lasting(Span span) {
    switch (span) {
      case Span::moment:
        return milliseconds{0};
      case Span::blink:
        return dice_.between(milliseconds{20}, milliseconds{400});
      case Span::absence:
        return dice_.between(milliseconds{1500}, milliseconds{4500});
      case Span::either:
        return lasting(dice_.one_in(3) ? Span::blink : Span::absence);
      case Span::meanwhile:
        return dice_.between(milliseconds{80}, milliseconds{1500});
    }
    return milliseconds{0};
  }

  /// Returns the end of the fault.
  Offset on_server(const ServerRow& row, std::size_t number, Offset begin) {
    Fault fault;
    fault.form = row.form;
    fault.begin = begin;
    fault.end = begin + lasting(row.span);
    fault.part = row.part;
    fault.node = row.part == Part::primary ? 0 : number;
    if (fault.end > request_.length) return fault.end;
    if (row.form == FaultForm::primary_cut_off) {
      if (links_busy_ > begin) return begin;
      links_busy_ = fault.end;
      fault.contenders = draw_some();
    }
    faults_.push_back(fault);
    return fault.end;
  }

  /// Begins while the service is broken, or a little before or after that.
  void other_fault(Offset from, Offset to) {
    if (others_.empty()) return;
    Fault fault;
    fault.form = others_[dice_.below(others_.size())];
    fault.begin =
        std::max(Offset{0}, dice_.between(from - milliseconds{500}, to + milliseconds{1500}));
    fault.end = fault.begin + (fault.form == FaultForm::contenders_frozen
                                   ? dice_.between(milliseconds{500}, milliseconds{4000})
                                   : dice_.between(milliseconds{50}, milliseconds{1200}));
    if (fault.end > request_.length) return;
    const bool of_contender = is_of_contender(fault.form);
    Offset& busy = of_contender                            ? contenders_busy_
                   : fault.form == FaultForm::machine_busy ? machine_busy_
                                                           : links_busy_;
    if (busy > fault.begin) return;
    busy = fault.end;
    if (fault.form == FaultForm::link_delayed) {
      fault.amount = dice_.between(milliseconds{5}, milliseconds{120});
    }
    if (fault.form != FaultForm::machine_busy) fault.contenders = draw_some();
    if (!of_contender && fault.form != FaultForm::machine_busy) {
      fault.part = dice_.one_in(4) ? Part::replica : Part::primary;
      fault.node = fault.part == Part::primary ? 0 : dice_.below(request_.nodes - 1);
    }
    faults_.push_back(fault);
  }

  /// At least one of the contenders, and not all if there are several.
  std::uint64_t draw_some() {
    const std::uint64_t all = (std::uint64_t{1} << request_.contenders) - 1;
    if (all == 1) return all;
    return static_cast<std::uint64_t>(dice_.between(1, static_cast<std::int64_t>(all) - 1));
  }

  const ScheduleRequest& request_;
  Dice dice_;
  std::vector<ServerRow> rows_{};
  std::vector<FaultForm> others_{};
  Offset links_busy_{};
  Offset contenders_busy_{};
  Offset machine_busy_{};
  std::vector<Fault> faults_{};
};

}  // namespace

std::set<FaultKind> kinds_of_service() {
  std::set<FaultKind> kinds;
  for (const ServerRow& row : server_rows) kinds.insert(kind_of(row.form));
  for (const FaultForm form : other_forms) kinds.insert(kind_of(form));
  return kinds;
}

std::vector<Fault> make_service_schedule(const ScheduleRequest& request) {
  return ServicePlanner(request).plan();
}

}  // namespace redlock::chaos
