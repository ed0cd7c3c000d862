#include "chaos/schedule.hpp"

#include <algorithm>
#include <utility>

#include "chaos/terms.hpp"

namespace redlock::chaos {
namespace {

using std::chrono::milliseconds;

enum class Target {
  node,
  contender,
  contenders,  ///< several at once
  links,
  name,  ///< the server to which a node's name leads some contenders
  machine,
  service  ///< only a replicated service has it
};

enum class Lasting {
  moment,       ///< nothing is to be healed
  restart,      ///< often too short to be noticed
  while_,       ///< shorter and longer than a lease
  long_while,   ///< sometimes longer than clients take to look for the role again
  past_leases,  ///< until every lease from before it is over
  burst,        ///< so short that few other faults meet it
  spell,        ///< long enough for queues to build up
};

/// The loss of a node when the fault is over.
enum class Loss {
  nothing,
  process,  ///< it has its data, but must prove that
  keys,     ///< all of them; sometimes on a majority at once
  some,     ///< the locks, or its place among the members: only of a minority
  clock,    ///< earlier readings of the clock prove nothing
};

struct Row {
  FaultForm form;
  FaultKind kind;
  std::string_view text;
  Target target;
  Lasting lasting;
  Loss loss = Loss::nothing;
};

constexpr Row rows[] = {
    {FaultForm::node_killed_empty, FaultKind::kill, "killed-empty", Target::node, Lasting::restart,
     Loss::keys},
    {FaultForm::node_killed_with_data, FaultKind::kill, "killed-with-data", Target::node,
     Lasting::restart, Loss::process},
    {FaultForm::contender_killed, FaultKind::kill, "contender-killed", Target::contender,
     Lasting::restart},
    {FaultForm::node_stopped, FaultKind::pause, "stopped", Target::node, Lasting::while_},
    {FaultForm::contender_stopped, FaultKind::pause, "contender-stopped", Target::contender,
     Lasting::while_},
    {FaultForm::contenders_frozen, FaultKind::pause, "contenders-frozen", Target::contenders,
     Lasting::long_while},
    {FaultForm::clients_paused, FaultKind::pause, "client-pause", Target::node, Lasting::while_},
    {FaultForm::link_held, FaultKind::partition, "link-held", Target::links, Lasting::while_},
    {FaultForm::replies_held, FaultKind::partition, "replies-held", Target::links, Lasting::while_},
    {FaultForm::replies_lost, FaultKind::partition, "replies-lost", Target::links, Lasting::while_},
    {FaultForm::link_refused, FaultKind::partition, "link-refused", Target::links, Lasting::while_},
    {FaultForm::clients_killed, FaultKind::partition, "client-kill", Target::node, Lasting::moment},
    {FaultForm::clock_leaps, FaultKind::clock, "clock-leap", Target::node, Lasting::past_leases,
     Loss::clock},
    {FaultForm::clock_set_back, FaultKind::clock, "clock-set-back", Target::node, Lasting::moment,
     Loss::clock},
    {FaultForm::node_restarted, FaultKind::restart, "restarted", Target::node, Lasting::restart,
     Loss::process},
    {FaultForm::node_restarted_empty, FaultKind::restart, "restarted-empty", Target::node,
     Lasting::restart, Loss::keys},
    {FaultForm::scripts_flushed, FaultKind::restart, "script-flush", Target::node, Lasting::moment},
    {FaultForm::link_delayed, FaultKind::slow, "link-delayed", Target::links, Lasting::while_},
    {FaultForm::replies_trickle, FaultKind::slow, "replies-trickle", Target::links,
     Lasting::while_},
    {FaultForm::replies_cut, FaultKind::slow, "replies-cut", Target::links, Lasting::while_},
    {FaultForm::requests_cut, FaultKind::slow, "requests-cut", Target::links, Lasting::while_},
    {FaultForm::memory_full, FaultKind::slow, "memory-full", Target::node, Lasting::while_},
    {FaultForm::node_demoted, FaultKind::role, "demoted", Target::node, Lasting::long_while,
     Loss::keys},
    {FaultForm::node_flushed, FaultKind::role, "flushed", Target::node, Lasting::moment,
     Loss::keys},
    {FaultForm::replies_in_pieces, FaultKind::pieces, "replies-in-pieces", Target::links,
     Lasting::while_},
    {FaultForm::replies_torn, FaultKind::pieces, "replies-torn", Target::links, Lasting::while_},
    {FaultForm::node_evicts, FaultKind::evict, "evicting", Target::node, Lasting::burst,
     Loss::some},
    {FaultForm::name_leads_away, FaultKind::name, "name-leads-away", Target::name,
     Lasting::long_while, Loss::some},
    {FaultForm::machine_busy, FaultKind::load, "machine-busy", Target::machine, Lasting::spell},
    {FaultForm::failover_ordered, FaultKind::role, "failover", Target::service, Lasting::moment},
    {FaultForm::replica_exchanged, FaultKind::role, "replica-exchanged", Target::service,
     Lasting::while_},
    {FaultForm::primary_cut_off, FaultKind::partition, "primary-cut-off", Target::service,
     Lasting::long_while},
    {FaultForm::replicas_cut, FaultKind::partition, "replicas-cut", Target::service,
     Lasting::moment},
    {FaultForm::primary_taken_over, FaultKind::role, "taken-over", Target::service,
     Lasting::moment},
    {FaultForm::slot_moved, FaultKind::role, "slot-moved", Target::service, Lasting::moment},
};

const Row& row_of(FaultForm form) noexcept {
  return *std::find_if(std::begin(rows), std::end(rows),
                       [form](const Row& row) { return row.form == form; });
}

/// How long a node counts as broken after a fault that costs it its data or its clock's history:
/// its quarantine, and some time for clients to meet it again.
constexpr milliseconds aftermath = max_ttl + milliseconds{300};
/// How long a node is of no use after it has lost its membership. Clients connect to it anew every
/// 5 s and take it back after a quarantine. Then it begins another quarantine.
constexpr milliseconds without_place = milliseconds{5000} + 2 * max_ttl + milliseconds{300};
/// The time from the end of one eviction to the next. An eviction goes unnoticed for a second, in
/// which the checker excuses violations.
constexpr milliseconds between_evictions{8000};

milliseconds lasting(FaultForm form, Dice& dice) {
  switch (row_of(form).lasting) {
    case Lasting::moment:
      return milliseconds{0};
    case Lasting::restart:
      return dice.one_in(2) ? dice.between(milliseconds{10}, milliseconds{60})
                            : dice.between(milliseconds{60}, milliseconds{500});
    case Lasting::long_while:
      if (dice.one_in(5)) return dice.between(milliseconds{1000}, milliseconds{6000});
      [[fallthrough]];
    case Lasting::while_:
      return dice.between(milliseconds{80}, milliseconds{1000});
    case Lasting::past_leases:
      // After a shorter leap, a client that sent nothing during it could not know that its key is
      // gone.
      return max_ttl + dice.between(milliseconds{50}, milliseconds{400});
    case Lasting::burst:
      return dice.between(milliseconds{50}, milliseconds{300});
    case Lasting::spell:
      return dice.between(milliseconds{500}, milliseconds{2500});
  }
  return milliseconds{0};
}

bool costs_data_or_clock(FaultForm form) noexcept { return row_of(form).loss != Loss::nothing; }

bool forgets(FaultForm form) noexcept { return row_of(form).loss == Loss::keys; }

/// Whether locks can go before their time, which only clients with guards survive.
bool ends_keys(FaultForm form) noexcept {
  const Loss loss = row_of(form).loss;
  return loss == Loss::keys || loss == Loss::some || loss == Loss::clock;
}

milliseconds amount_of(FaultForm form, Dice& dice) {
  switch (form) {
    case FaultForm::clock_leaps:
      return dice.between(milliseconds{550}, milliseconds{800});
    case FaultForm::clock_set_back:
      return dice.between(milliseconds{10}, milliseconds{60});
    case FaultForm::link_delayed:
      return dice.between(milliseconds{5}, milliseconds{120});
    default:
      return milliseconds{0};
  }
}

// Long runs alternate between these two. Shorter ones are calm only at their end.
constexpr milliseconds stormy_for{9000};
constexpr milliseconds calm_for{4000};

/// When the calm stretch begins that is under way at `now`, or the next one.
Offset calm_from(Offset now) {
  const auto rounds = now / (stormy_for + calm_for);
  return rounds * (stormy_for + calm_for) + stormy_for;
}

class Planner {
 public:
  explicit Planner(const ScheduleRequest& request)
      : request_(request),
        dice_(request.seed),
        node_busy_(request.nodes),
        contender_busy_(request.contenders),
        link_busy_(request.nodes * request.contenders) {
    for (const Row& row : rows) {
      if (!request.kinds.contains(row.kind) || row.target == Target::service) continue;
      if (!request.forgetting && ends_keys(row.form)) continue;
      // Fewer than three nodes have no minority.
      if (row.loss == Loss::some && request.nodes < 3) continue;
      // Leaps are drawn more often than clocks that are set back, because only leaps can do harm.
      const std::size_t weight = row.form == FaultForm::clock_leaps ? 3 : 1;
      forms_.insert(forms_.end(), weight, row.form);
    }
  }

  std::vector<Fault> plan() {
    // First each kind once, as far as the time allows; then kinds at random.
    std::set<FaultKind> kinds;
    for (const FaultForm form : forms_) kinds.insert(kind_of(form));
    std::vector<FaultKind> first(kinds.begin(), kinds.end());
    for (std::size_t i = first.size(); i > 1; --i) std::swap(first[i - 1], first[dice_.below(i)]);
    // Faults that need a node of their own, or much time, would otherwise find no room in a short
    // run.
    constexpr FaultKind ahead[] = {FaultKind::clock, FaultKind::evict, FaultKind::name,
                                   FaultKind::load};
    std::stable_partition(first.begin(), first.end(), [&](FaultKind kind) {
      return std::find(std::begin(ahead), std::end(ahead), kind) != std::end(ahead);
    });
    Offset now{100};
    for (const FaultKind kind : first) {
      for (int attempt = 0; attempt < 150; ++attempt) {
        if (add(pick(kind), now)) break;
        // Waits, because a minority is broken already.
        if (attempt % 5 == 4) now += milliseconds{100};
      }
      now += dice_.between(milliseconds{20}, milliseconds{150});
    }
    while (!forms_.empty() && now < request_.length) {
      static_cast<void>(add(forms_[dice_.below(forms_.size())], now));
      now += dice_.between(milliseconds{10}, milliseconds{220});
      if (now >= calm_from(now)) now = calm_from(now) + calm_for;
    }
    std::stable_sort(faults_.begin(), faults_.end(),
                     [](const Fault& a, const Fault& b) { return a.begin < b.begin; });
    return std::move(faults_);
  }

 private:
  FaultForm pick(FaultKind kind) {
    std::vector<FaultForm> forms;
    for (const FaultForm form : forms_) {
      if (kind_of(form) == kind) forms.push_back(form);
    }
    return forms[dice_.below(forms.size())];
  }

  /// Returns false if the fault has no room now.
  bool add(FaultForm form, Offset begin) {
    Fault fault;
    fault.form = form;
    fault.begin = begin;
    fault.end = begin + lasting(form, dice_);
    fault.amount = amount_of(form, dice_);
    if (fault.end > std::min(request_.length, calm_from(begin))) return false;
    switch (row_of(form).target) {
      case Target::node:
        return on_node(fault);
      case Target::contender:
        return on_contender(fault);
      case Target::contenders:
        return on_contenders(fault);
      case Target::links:
        return on_links(fault);
      case Target::name:
        return on_name(fault);
      case Target::machine:
        return on_machine(fault);
      case Target::service:
        break;
    }
    return false;
  }

  bool on_node(Fault& fault) {
    const std::size_t node = dice_.below(request_.nodes);
    if (node_busy_[node] > fault.begin) return false;
    if (forgets(fault.form) && dice_.one_in(8)) return majority_forgets(fault);
    const bool lasts = fault.end > fault.begin || costs_data_or_clock(fault.form);
    if (lasts && !spares_quorum(fault)) return false;
    if (kind_of(fault.form) == FaultKind::clock) {
      // A single node cannot be compared with others: a new client could not see that its clock is
      // wrong.
      if (clock_busy_ > fault.begin || request_.nodes == 1) return false;
      clock_busy_ = fault.end;
    }
    if (fault.form == FaultForm::node_evicts) {
      if (evictions_busy_ > fault.begin) return false;
      evictions_busy_ = fault.end + between_evictions;
    }
    // With two nodes, a node that forgot is never taken back without an operator.
    fault.needs_operator = costs_data_or_clock(fault.form) && request_.nodes == 2;
    node_busy_[node] = fault.end + (costs_data_or_clock(fault.form) ? aftermath : Offset{0});
    fault.node = node;
    faults_.push_back(fault);
    if (forgets(fault.form) || fault.form == FaultForm::clock_leaps) aim(fault);
    return true;
  }

  /// Whether a quorum is left if one more node breaks.
  [[nodiscard]] bool spares_quorum(const Fault& fault) const {
    if (request_.nodes == 1) return true;
    const auto broken = static_cast<std::size_t>(std::count_if(
        node_busy_.begin(), node_busy_.end(), [&](Offset until) { return until > fault.begin; }));
    if (!costs_data_or_clock(fault.form) || place_busy_ <= fault.begin) {
      return broken < (request_.nodes - 1) / 2;
    }
    // A node that is not a member cannot help to take back another. Of three nodes, two must be
    // members for the third to be taken back.
    const std::size_t whole_but_displaced = node_busy_[displaced_] <= fault.begin ? 1 : 0;
    return request_.nodes >= 5 && broken + whole_but_displaced < (request_.nodes - 1) / 2;
  }

  /// Leads some of the contenders, of those without a fault until then, to the other server.
  bool on_name(Fault& fault) {
    const std::size_t node = dice_.below(request_.nodes);
    if (place_busy_ > fault.begin || node_busy_[node] > fault.begin || !spares_quorum(fault)) {
      return false;
    }
    if (!cut_links(fault, node, draw_met())) return false;
    node_busy_[node] = fault.end + aftermath;
    place_busy_ = fault.end + without_place;
    displaced_ = node;
    return true;
  }

  bool on_machine(Fault& fault) {
    if (machine_busy_ > fault.begin) return false;
    // The next load waits for as long again, to leave time for the other faults.
    machine_busy_ = fault.end + (fault.end - fault.begin);
    faults_.push_back(fault);
    return true;
  }

  /// A majority forgets at once, the case that the restart guard is for. No lease is granted until
  /// the quarantines are over.
  bool majority_forgets(Fault& fault) {
    fault.needs_operator = true;
    std::size_t left = request_.nodes / 2 + 1;
    for (std::size_t node = 0; node < request_.nodes && left > 0; ++node) {
      if (node_busy_[node] > fault.begin) continue;
      node_busy_[node] = fault.end + aftermath;
      fault.node = node;
      faults_.push_back(fault);
      --left;
    }
    return true;
  }

  /// Cuts off some contenders from as many of the other nodes as they can do without: a node that
  /// loses keys harms only a lease on a bare quorum that includes the node.
  void aim(const Fault& fault) {
    if (!request_.kinds.contains(FaultKind::partition)) return;
    if (request_.contenders < 2 || request_.nodes < 3) return;
    if (kind_of(fault.form) != FaultKind::clock && dice_.one_in(2)) return;
    constexpr FaultForm forms[] = {FaultForm::link_held, FaultForm::replies_lost,
                                   FaultForm::link_refused};
    Fault cut;
    cut.form = forms[dice_.below(std::size(forms))];
    cut.begin =
        std::max(Offset{0}, fault.begin - dice_.between(milliseconds{50}, milliseconds{400}));
    cut.end = std::min(std::min(request_.length, calm_from(fault.begin)),
                       fault.begin + dice_.between(milliseconds{100}, milliseconds{600}));
    const std::uint64_t everybody = (std::uint64_t{1} << request_.contenders) - 1;
    const auto met =
        static_cast<std::uint64_t>(dice_.between(1, static_cast<std::int64_t>(everybody) - 1));
    const std::size_t first = dice_.below(request_.nodes - 1);
    for (std::size_t i = 0; i < (request_.nodes - 1) / 2; ++i) {
      cut_links(cut, (*fault.node + 1 + (first + i) % (request_.nodes - 1)) % request_.nodes, met);
    }
  }

  bool on_contender(Fault& fault) {
    const std::size_t contender = dice_.below(request_.contenders);
    if (contender_busy_[contender] > fault.begin) return false;
    contender_busy_[contender] = fault.end;
    fault.contenders = std::uint64_t{1} << contender;
    faults_.push_back(fault);
    return true;
  }

  bool on_contenders(Fault& fault) {
    std::size_t others = request_.contenders;
    const std::uint64_t met = draw_met();
    for (std::size_t contender = 0; contender < request_.contenders; ++contender) {
      const bool is_met = (met >> contender & 1U) != 0 && others > 1;
      if (!is_met || contender_busy_[contender] > fault.begin) continue;
      --others;
      contender_busy_[contender] = fault.end;
      fault.contenders |= std::uint64_t{1} << contender;
    }
    if (fault.contenders == 0) return false;
    faults_.push_back(fault);
    return true;
  }

  /// Cuts off one node, or sometimes several nodes at once, from some contenders or from all.
  bool on_links(Fault& fault) {
    const bool storm = dice_.one_in(10);
    const std::size_t nodes = storm ? request_.nodes / 2 + 1 : 1;
    const std::size_t first = dice_.below(request_.nodes);
    const std::uint64_t met = draw_met();
    bool added = false;
    for (std::size_t i = 0; i < nodes; ++i) {
      added = cut_links(fault, (first + i) % request_.nodes, met) || added;
    }
    return added;
  }

  /// Draws the contenders that a fault affects: some, or all.
  std::uint64_t draw_met() {
    const std::uint64_t everybody = (std::uint64_t{1} << request_.contenders) - 1;
    if (dice_.one_in(3)) return everybody;
    return static_cast<std::uint64_t>(dice_.between(1, static_cast<std::int64_t>(everybody)));
  }

  /// Cuts the links of the contenders that have no fault until then.
  bool cut_links(Fault& fault, std::size_t node, std::uint64_t met) {
    fault.node = node;
    fault.contenders = free_links(*fault.node, met, fault.begin);
    if (fault.contenders == 0) return false;
    for (std::size_t contender = 0; contender < request_.contenders; ++contender) {
      if ((fault.contenders >> contender & 1U) == 0) continue;
      link_busy_[*fault.node * request_.contenders + contender] = fault.end;
    }
    faults_.push_back(fault);
    return true;
  }

  [[nodiscard]] std::uint64_t free_links(std::size_t node, std::uint64_t met, Offset at) const {
    for (std::size_t contender = 0; contender < request_.contenders; ++contender) {
      if (link_busy_[node * request_.contenders + contender] > at) {
        met &= ~(std::uint64_t{1} << contender);
      }
    }
    return met;
  }

  const ScheduleRequest& request_;
  Dice dice_;
  std::vector<FaultForm> forms_{};
  std::vector<Offset> node_busy_;
  std::vector<Offset> contender_busy_;
  std::vector<Offset> link_busy_;
  Offset clock_busy_{};
  Offset evictions_busy_{};
  Offset place_busy_{};
  std::size_t displaced_ = 0;  ///< the node that is not a member until then
  Offset machine_busy_{};
  std::vector<Fault> faults_{};
};

}  // namespace

std::string_view to_string(FaultKind kind) noexcept {
#define NAME(name) #name,
  static constexpr std::string_view names[] = {CHAOS_FAULTS(NAME)};
#undef NAME
  return names[static_cast<std::size_t>(kind)];
}

std::optional<FaultKind> fault_kind(std::string_view name) noexcept {
  for (const FaultKind kind : all_fault_kinds) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

std::string list_of(const std::set<FaultKind>& kinds) {
  std::string list;
  for (const FaultKind kind : kinds) {
    if (!list.empty()) list += ',';
    list += to_string(kind);
  }
  return list;
}

std::string_view to_string(FaultForm form) noexcept { return row_of(form).text; }
FaultKind kind_of(FaultForm form) noexcept { return row_of(form).kind; }

std::vector<Fault> make_schedule(const ScheduleRequest& request) { return Planner(request).plan(); }

}  // namespace redlock::chaos
