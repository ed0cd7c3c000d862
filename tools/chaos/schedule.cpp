#include "chaos/schedule.hpp"

#include <algorithm>
#include <utility>

#include "chaos/terms.hpp"

namespace redlock::chaos {
namespace {

using std::chrono::milliseconds;

struct FormText {
  FaultForm form;
  FaultKind kind;
  std::string_view text;
};

constexpr FormText form_texts[] = {
    {FaultForm::node_killed_empty, FaultKind::kill, "killed-empty"},
    {FaultForm::node_killed_with_data, FaultKind::kill, "killed-with-data"},
    {FaultForm::contender_killed, FaultKind::kill, "contender-killed"},
    {FaultForm::node_stopped, FaultKind::pause, "stopped"},
    {FaultForm::contender_stopped, FaultKind::pause, "contender-stopped"},
    {FaultForm::clients_paused, FaultKind::pause, "client-pause"},
    {FaultForm::link_held, FaultKind::partition, "link-held"},
    {FaultForm::replies_held, FaultKind::partition, "replies-held"},
    {FaultForm::replies_lost, FaultKind::partition, "replies-lost"},
    {FaultForm::link_refused, FaultKind::partition, "link-refused"},
    {FaultForm::clients_killed, FaultKind::partition, "client-kill"},
    {FaultForm::clock_leaps, FaultKind::clock, "clock-leap"},
    {FaultForm::clock_set_back, FaultKind::clock, "clock-set-back"},
    {FaultForm::node_restarted, FaultKind::restart, "restarted"},
    {FaultForm::node_restarted_empty, FaultKind::restart, "restarted-empty"},
    {FaultForm::scripts_flushed, FaultKind::restart, "script-flush"},
    {FaultForm::link_delayed, FaultKind::slow, "link-delayed"},
    {FaultForm::replies_trickle, FaultKind::slow, "replies-trickle"},
    {FaultForm::replies_cut, FaultKind::slow, "replies-cut"},
    {FaultForm::requests_cut, FaultKind::slow, "requests-cut"},
    {FaultForm::memory_full, FaultKind::slow, "memory-full"},
    {FaultForm::node_demoted, FaultKind::role, "demoted"},
    {FaultForm::node_flushed, FaultKind::role, "flushed"},
};

const FormText& text_of(FaultForm form) noexcept {
  return *std::find_if(std::begin(form_texts), std::end(form_texts),
                       [form](const FormText& text) { return text.form == form; });
}

/// How long a node counts as broken behind a fault that costs it its data or its clock's history:
/// its quarantine, and some time for clients to meet it again.
constexpr milliseconds aftermath = max_ttl + milliseconds{300};

enum class Target { node, contender, links };

Target target_of(FaultForm form) noexcept {
  switch (form) {
    case FaultForm::contender_killed:
    case FaultForm::contender_stopped:
      return Target::contender;
    case FaultForm::link_held:
    case FaultForm::replies_held:
    case FaultForm::replies_lost:
    case FaultForm::link_refused:
    case FaultForm::link_delayed:
    case FaultForm::replies_trickle:
    case FaultForm::replies_cut:
    case FaultForm::requests_cut:
      return Target::links;
    case FaultForm::node_killed_empty:
    case FaultForm::node_killed_with_data:
    case FaultForm::node_stopped:
    case FaultForm::clients_paused:
    case FaultForm::clients_killed:
    case FaultForm::clock_leaps:
    case FaultForm::clock_set_back:
    case FaultForm::node_restarted:
    case FaultForm::node_restarted_empty:
    case FaultForm::scripts_flushed:
    case FaultForm::memory_full:
    case FaultForm::node_demoted:
    case FaultForm::node_flushed:
      return Target::node;
  }
  return Target::node;
}

milliseconds lasting(FaultForm form, Dice& dice) {
  switch (form) {
    case FaultForm::clients_killed:
    case FaultForm::scripts_flushed:
    case FaultForm::clock_set_back:
    case FaultForm::node_flushed:
      return milliseconds{0};
    case FaultForm::clock_leaps:
      // Back only when every lease from before the leap is over: a client that sent nothing in
      // between could not know that its key has gone.
      return max_ttl + dice.between(milliseconds{50}, milliseconds{400});
    case FaultForm::node_killed_empty:
    case FaultForm::node_killed_with_data:
    case FaultForm::node_restarted:
    case FaultForm::node_restarted_empty:
    case FaultForm::contender_killed:
      return dice.one_in(2) ? dice.between(milliseconds{10}, milliseconds{60})
                            : dice.between(milliseconds{60}, milliseconds{500});
    case FaultForm::node_stopped:
    case FaultForm::contender_stopped:
    case FaultForm::clients_paused:
    case FaultForm::link_held:
    case FaultForm::replies_held:
    case FaultForm::replies_lost:
    case FaultForm::link_refused:
    case FaultForm::link_delayed:
    case FaultForm::replies_trickle:
    case FaultForm::replies_cut:
    case FaultForm::requests_cut:
    case FaultForm::memory_full:
    case FaultForm::node_demoted:
      return dice.between(milliseconds{80}, milliseconds{1000});
  }
  return milliseconds{0};
}

bool costs_data_or_clock(FaultForm form) noexcept {
  switch (kind_of(form)) {
    case FaultKind::kill:
    case FaultKind::clock:
    case FaultKind::role:
      return true;
    case FaultKind::restart:
      return form != FaultForm::scripts_flushed;
    case FaultKind::pause:
    case FaultKind::partition:
    case FaultKind::slow:
      return false;
  }
  return false;
}

bool forgets(FaultForm form) noexcept {
  return form == FaultForm::node_killed_empty || form == FaultForm::node_restarted_empty ||
         form == FaultForm::node_demoted || form == FaultForm::node_flushed;
}

/// Whether locks can go before their time, which only clients with guards survive.
bool ends_keys(FaultForm form) noexcept {
  return forgets(form) || kind_of(form) == FaultKind::clock;
}

milliseconds amount_of(FaultForm form, Dice& dice) {
  switch (kind_of(form)) {
    case FaultKind::clock:
      return form == FaultForm::clock_leaps ? dice.between(milliseconds{550}, milliseconds{800})
                                            : dice.between(milliseconds{10}, milliseconds{60});
    case FaultKind::slow:
      return dice.between(milliseconds{5}, milliseconds{120});
    case FaultKind::kill:
    case FaultKind::pause:
    case FaultKind::partition:
    case FaultKind::restart:
    case FaultKind::role:
      return milliseconds{0};
  }
  return milliseconds{0};
}

// Long runs alternate between these two. Shorter ones are calm only at their end.
constexpr milliseconds stormy_for{9000};
constexpr milliseconds calm_for{4000};

/// When the calm stretch begins that is the next one, or under way, at `now`.
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
    for (const FormText& text : form_texts) {
      if (!request.kinds.contains(text.kind)) continue;
      if (!request.forgetting && ends_keys(text.form)) continue;
      // The one of the two that can do harm.
      const std::size_t weight = text.form == FaultForm::clock_leaps ? 3 : 1;
      forms_.insert(forms_.end(), weight, text.form);
    }
  }

  std::vector<Fault> plan() {
    // Each kind once, as far as the time allows; then as they come.
    std::set<FaultKind> kinds;
    for (const FaultForm form : forms_) kinds.insert(kind_of(form));
    std::vector<FaultKind> first(kinds.begin(), kinds.end());
    for (std::size_t i = first.size(); i > 1; --i) std::swap(first[i - 1], first[dice_.below(i)]);
    // The longest faults would otherwise find no room in a short run.
    std::stable_partition(first.begin(), first.end(),
                          [](FaultKind kind) { return kind == FaultKind::clock; });
    Offset now{100};
    for (const FaultKind kind : first) {
      for (int attempt = 0; attempt < 100; ++attempt) {
        if (add(pick(kind), now)) break;
        // A minority is broken already.
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

  /// False: there is no room for it now.
  bool add(FaultForm form, Offset begin) {
    Fault fault;
    fault.form = form;
    fault.begin = begin;
    fault.end = begin + lasting(form, dice_);
    fault.amount = amount_of(form, dice_);
    if (fault.end > std::min(request_.length, calm_from(begin))) return false;
    switch (target_of(form)) {
      case Target::node:
        return on_node(fault);
      case Target::contender:
        return on_contender(fault);
      case Target::links:
        return on_links(fault);
    }
    return false;
  }

  bool on_node(Fault& fault) {
    const std::size_t node = dice_.below(request_.nodes);
    if (node_busy_[node] > fault.begin) return false;
    if (forgets(fault.form) && dice_.one_in(8)) return majority_forgets(fault);
    const auto broken = std::count_if(node_busy_.begin(), node_busy_.end(),
                                      [&](Offset until) { return until > fault.begin; });
    const bool spares_quorum =
        static_cast<std::size_t>(broken) < (request_.nodes - 1) / 2 || request_.nodes == 1;
    const bool lasts = fault.end > fault.begin || costs_data_or_clock(fault.form);
    if (lasts && !spares_quorum) return false;
    if (kind_of(fault.form) == FaultKind::clock) {
      // A single node cannot be compared with others: a new client could not see that its clock is
      // wrong.
      if (clock_busy_ > fault.begin || request_.nodes == 1) return false;
      clock_busy_ = fault.end;
    }
    // One of two is never taken back without an operator.
    fault.needs_operator = costs_data_or_clock(fault.form) && request_.nodes == 2;
    node_busy_[node] = fault.end + (costs_data_or_clock(fault.form) ? aftermath : Offset{0});
    fault.node = node;
    faults_.push_back(fault);
    if (forgets(fault.form) || fault.form == FaultForm::clock_leaps) aim(fault);
    return true;
  }

  /// The case that the restart guard is for. No lease is granted until the quarantines are over.
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

  /// A node that loses keys does harm only where a lease rests on a bare quorum that it is one of.
  /// So some contenders are cut off from as many of the others as they can do without.
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
      cut.node = (*fault.node + 1 + (first + i) % (request_.nodes - 1)) % request_.nodes;
      cut_links(cut, met);
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

  /// One node cut off from some, or from all; now and then several nodes at once.
  bool on_links(Fault& fault) {
    const bool storm = dice_.one_in(10);
    const std::size_t nodes = storm ? request_.nodes / 2 + 1 : 1;
    const std::size_t first = dice_.below(request_.nodes);
    const std::uint64_t everybody = (std::uint64_t{1} << request_.contenders) - 1;
    const std::uint64_t met =
        dice_.one_in(3)
            ? everybody
            : static_cast<std::uint64_t>(dice_.between(1, static_cast<std::int64_t>(everybody)));
    bool added = false;
    for (std::size_t i = 0; i < nodes; ++i) {
      fault.node = (first + i) % request_.nodes;
      added = cut_links(fault, met) || added;
    }
    return added;
  }

  /// Those that are whole until then.
  bool cut_links(Fault& fault, std::uint64_t met) {
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
  std::vector<Fault> faults_{};
};

}  // namespace

std::string_view to_string(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::kill:
      return "kill";
    case FaultKind::pause:
      return "pause";
    case FaultKind::partition:
      return "partition";
    case FaultKind::clock:
      return "clock";
    case FaultKind::restart:
      return "restart";
    case FaultKind::slow:
      return "slow";
    case FaultKind::role:
      return "role";
  }
  return "";
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

std::string_view to_string(FaultForm form) noexcept { return text_of(form).text; }
FaultKind kind_of(FaultForm form) noexcept { return text_of(form).kind; }

std::vector<Fault> make_schedule(const ScheduleRequest& request) { return Planner(request).plan(); }

}  // namespace redlock::chaos
