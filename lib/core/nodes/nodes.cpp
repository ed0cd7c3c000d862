#include "core/nodes/nodes.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "core/vocabulary/durations.hpp"
#include "core/votes/fencing.hpp"
#include "core/votes/quorum.hpp"
#include "core/votes/validity.hpp"
#include "support/assert.hpp"

namespace redlock::core {
namespace {

// Maximum age of a clock reading that a vote relies on: a later step is not noticed.
constexpr Duration reading_for_votes = std::chrono::microseconds(500);
// Maximum age of a clock reading while there are leases and nothing else is sent.
constexpr Duration reading_for_leases = std::chrono::seconds(1);

}  // namespace

Nodes::Nodes(Settings& settings) : settings_(settings), configured_(settings.nodes.size()) {
  // Members are added later; names and links must not move then.
  settings_.nodes.reserve(limits::nodes);
  links_.reserve(limits::nodes);
  for (const std::string& name : settings_.nodes) add_link(name);
}

void Nodes::add_link(std::string_view name) {
  const Link& link = links_.emplace_back(settings_, version_, servers_of(name));
  has_replicated_ = has_replicated_ || link.reign->is_replicated();
}

NodeIndex Nodes::learn(std::string_view name) {
  settings_.nodes.emplace_back(name);
  add_link(name);
  version_.changed();
  return static_cast<NodeIndex>(links_.size() - 1);
}

// --- who is there --------------------------------------------------------------------------------

void Nodes::find_able() const {
  able_ = Able();
  all().each([&](NodeIndex node) {
    const Link& link = links_[node];
    if (!link.up()) return;
    able_.up.add(node);
    if (!link.read_only()) able_.to_write.add(node);
    link.mandate->capabilities().each(
        [&](Capability capability) { able_.by_capability[index_of(capability)].add(node); });
  });
  able_.found_at = version_.count();
}

NodeSet Nodes::undetermined() const {
  return where([&](NodeIndex node) {
    const Link& link = links_[node];
    const bool clock_unknown = link.up() && settings_.clock_guard && !link.clock_known();
    return link.contact->fresh() || may_vote_but_for_doubt(node) || awaits_reign(node) ||
           (clock_unknown && link.mandate->ineligible().empty() && !link.mandate->duplicate_of());
  });
}

NodeSet Nodes::returning() const {
  return where([&](NodeIndex node) { return links_[node].contact->returning(); });
}

NodeSet Nodes::candidates() const {
  return where([&](NodeIndex node) {
    return links_[node].contact->fresh() || may_vote_but_for_doubt(node) || awaits_reign(node) ||
           may_vote_but_for_clock(node);
  });
}

bool Nodes::may_soon_have_quorum() const {
  const NodeSet back_soon = returning();
  if (undetermined().empty() && back_soon.empty()) return false;
  // Before the deployment is known, a single node's quorum may be that of a deployment that does
  // not count.
  const std::size_t needed = knows_deployment() ? ballot().quorum : settings_.quorum;
  return (candidates() | back_soon).size() >= needed;
}

bool Nodes::awaits_reign(NodeIndex node) const {
  const Link& link = links_[node];
  return link.up() && link.reign->is_unread() && !link.mandate->duplicate_of() &&
         link.mandate->ineligible().empty() && link.mandate->vote_denied().empty() &&
         !is_quarantined(node);
}

bool Nodes::may_vote_but_for_doubt(NodeIndex node) const {
  const Link& link = links_[node];
  return link.up() && link.mandate->only_in_doubt() && !link.mandate->duplicate_of() &&
         link.mandate->ineligible().empty() && link.mandate->vote_denied().empty() &&
         link.reign->stands();
}

Duration Nodes::quorum_round_trip() const {
  // Every release reads the round trip, and no wait needs it more exactly than to a millisecond.
  if (now_ < later(round_trip_found_at_, std::chrono::milliseconds(1))) return round_trip_;
  round_trip_found_at_ = now_;
  return round_trip_ = find_quorum_round_trip();
}

Duration Nodes::find_quorum_round_trip() const {
  std::array<Duration, limits::nodes> round_trips{};
  std::size_t known = 0;
  for (const Link& link : links_) {
    if (link.up()) round_trips[known++] = link.in_flight->recent_round_trip();
  }
  if (known == 0) return Duration::zero();
  const std::size_t last = std::min(known, ballot().quorum) - 1;
  const auto begin = round_trips.begin();
  std::nth_element(begin, begin + static_cast<std::ptrdiff_t>(last),
                   begin + static_cast<std::ptrdiff_t>(known));
  return round_trips[last];
}

// --- who may vote --------------------------------------------------------------------------------

bool Nodes::is_quarantined(NodeIndex node) const {
  const std::optional<Instant> until = links_[node].mandate->quarantined_until();
  return until && now_ < *until;
}

bool Nodes::may_vote_but_for_clock(NodeIndex node) const {
  const Link& link = links_[node];
  return link.up() && !link.mandate->duplicate_of() && link.mandate->ineligible().empty() &&
         link.mandate->vote_denied().empty() && link.reign->stands() && !is_quarantined(node);
}

bool Nodes::is_voter(NodeIndex node) const {
  if (!may_vote_but_for_clock(node)) return false;
  if (!settings_.clock_guard) return true;
  return clocks_compared_ && links_[node].clock_known() && !links_[node].clock_far();
}

void Nodes::find_voters() const {
  voters_ = where([&](NodeIndex node) { return is_voter(node); });
  found_at_ = version_.count();
  voters_until_ = Instant::max();
  for (const Link& link : links_) {
    const std::optional<Instant> end = link.mandate->quarantined_until();
    if (end && now_ < *end) voters_until_ = std::min(voters_until_, *end);
  }
}

NodeSet Nodes::voters_of(const Ballot& ballot) const {
  if (ballot.found_at == version_.count()) return voters() & ballot.members;
  return voters_of(ballot.deployment);
}

NodeSet Nodes::voters_of(std::string_view deployment) const {
  return where([&](NodeIndex node) { return may_vote(node) && belongs_to(node, deployment); });
}

Duration Nodes::remembers_in(NodeIndex node, Duration interval) const {
  if (interval == Duration::zero()) return Duration::zero();
  const Duration wanted = interval + drift(interval);
  return std::max(Duration::zero(), wanted - std::min(wanted, links_[node].remembers_for(now_)));
}

NodeSet Nodes::remembering(NodeSet nodes, Duration interval) const {
  if (interval == Duration::zero()) return nodes;
  return nodes &
         where([&](NodeIndex node) { return remembers_in(node, interval) == Duration::zero(); });
}

std::string Nodes::why_no_reign(const Link& link) const {
  const Reign& reign = *link.reign;
  const std::string& why = reign.why_not();
  if (reign.record()) {
    return reign.primary().empty() ? why : why + "; its primary is " + reign.primary();
  }
  std::string text = reign.new_primary() + ": " + why;
  if (reign.cannot_be_recorded()) return text;
  return text + (why.empty() ? "" : "; then ") + "no new locks for " +
         format_duration(settings_.max_ttl) + " (max TTL)";
}

std::string Nodes::exclusion(NodeIndex node) const {
  const Link& link = links_[node];
  if (link.mandate->duplicate_of())
    return "the same server as " + settings_.nodes[*link.mandate->duplicate_of()];
  if (!link.mandate->ineligible().empty()) return link.mandate->ineligible();
  // No client confirms a reign whose quarantine would have another length than its leases need.
  const bool fits_us = !link.mandate->marker() || fits(*link.mandate->marker());
  if (!link.reign->stands() && fits_us) return why_no_reign(link);
  if (is_quarantined(node)) {
    const std::string left = format_duration(*link.mandate->quarantined_until() - now_);
    if (link.mandate->quarantine_why().starts_with(primary_is_new)) {
      return link.reign->new_primary() + ": no new locks for " + left +
             " more: leases of the one before may still be valid";
    }
    std::string why = "quarantined for " + left + " more: " + link.mandate->quarantine_why();
    if (!link.mandate->vote_denied().empty()) why += "; " + link.mandate->vote_denied();
    return why;
  }
  if (!link.mandate->vote_denied().empty()) return link.mandate->vote_denied();
  if (std::string why = why_not_counted(node); !why.empty()) return why;
  if (link.clock_far()) {
    return "its clock is more than " + format_duration(settings_.clock_bound) +
           " from the median of the nodes' clocks";
  }
  if (settings_.clock_guard && !is_voter(node)) return "its clock is not known yet";
  return "it joined its deployment while it was asked";
}

std::string Nodes::why_no_vote(NodeIndex node) const {
  const Link& link = links_[node];
  if (!link.up())
    return std::string(link.contact->fresh() ? not_connected_yet : link.contact->failure().why);
  // Nothing is wrong with a node whose clock is only not compared yet.
  const bool could_vote =
      may_vote_but_for_clock(node) && !link.clock_far() && why_not_counted(node).empty();
  if (could_vote) return {};
  // If its marker denies it a vote too, the end of a quarantine does not give it one.
  return link.up() && link.mandate->ineligible().empty() && !link.mandate->duplicate_of() &&
                 link.reign->stands() && !link.mandate->vote_denied().empty()
             ? link.mandate->vote_denied()
             : exclusion(node);
}

void Nodes::record_absent(Round& round, NodeIndex node, Duration interval) const {
  const Link& link = links_[node];
  if (link.contact->state() == Contact::State::down) {
    return round.record(node, link.contact->failure().vote, {link.contact->failure().why});
  }
  if (!link.up()) return;
  if (is_alias(node)) round.leave_out(NodeSet::of(node));
  const Duration memory_in = remembers_in(node, interval);
  const bool only_forgot = may_vote_but_for_clock(node) && why_not_counted(node).empty();
  if (only_forgot && memory_in > Duration::zero()) {
    const std::string why =
        "it came back " + format_duration(link.remembers_for(now_)) +
        " ago, and may have forgotten that an interval goes on: for intervals of " +
        format_duration(interval) + " it votes in " + format_duration(memory_in);
    return round.record(node, Vote::excluded, {why, {}, memory_in});
  }
  std::optional<Duration> left;
  // While it is ineligible, or its reign does not stand, it has no vote after a quarantine either.
  const bool waits = link.reign->stands() && link.mandate->ineligible().empty();
  if (link.mandate->quarantined_until() && waits) {
    left = *link.mandate->quarantined_until() - now_;
  }
  round.record(node, Vote::excluded, {exclusion(node), {}, left});
}

// --- deployments ---------------------------------------------------------------------------------

void Nodes::find_ballot() const {
  ballot_ = count_ballot();
  ballot_.members = where([&](NodeIndex node) { return belongs_to(node, ballot_.deployment); });
  ballot_.found_at = version_.count();
}

void Nodes::check_kept() const {
#ifndef NDEBUG
  REDLOCK_ASSERT(voters() == where([&](NodeIndex node) { return is_voter(node); }));
  REDLOCK_ASSERT(up() == where([&](NodeIndex node) { return links_[node].up(); }));
  const Ballot now = count_ballot();
  REDLOCK_ASSERT(ballot().deployment == now.deployment && ballot_.quorum == now.quorum);
#endif
}

Nodes::Ballot Nodes::count_ballot() const {
  // The deployment of most nodes that could vote: no other has more votes here.
  const Link* best = nullptr;
  std::size_t most = 0;
  for (const Link& link : links_) {
    if (link.mandate->deployment().empty()) continue;
    const auto could_vote = [](const Link& other) {
      return other.up() && !other.mandate->duplicate_of() && other.mandate->ineligible().empty() &&
             other.mandate->vote_denied().empty();
    };
    if (!could_vote(link)) continue;
    if (best != nullptr && link.mandate->deployment() == best->mandate->deployment()) continue;
    const auto count = static_cast<std::size_t>(
        std::count_if(links_.begin(), links_.end(), [&](const Link& other) {
          return could_vote(other) && other.mandate->deployment() == link.mandate->deployment();
        }));
    if (count <= most) continue;
    best = &link;
    most = count;
    if (2 * most > links_.size()) break;  // no other can have more
  }
  Ballot ballot;
  ballot.quorum = settings_.quorum;
  if (best == nullptr) return ballot;
  ballot.deployment = best->mandate->deployment();
  ballot.size = best->mandate->marker()->members.size();
  ballot.quorum = std::max(ballot.quorum, majority(ballot.size));
  return ballot;
}

bool Nodes::knows_deployment() const {
  const Ballot& ballot = this->ballot();
  const NodeSet members = where([&](NodeIndex node) {
    const Link& link = links_[node];
    return link.up() && !link.mandate->duplicate_of() &&
           link.mandate->deployment() == ballot.deployment;
  });
  return members.size() >= ballot.quorum ||
         std::none_of(links_.begin(), links_.end(), [](const Link& link) {
           return link.contact->fresh() || link.contact->returning();
         });
}

bool Nodes::belongs_to(NodeIndex node, std::string_view deployment) const {
  const Link& link = links_[node];
  // Without a deployment, only configured nodes count for the configured quorum.
  if (deployment.empty() && node >= configured_) return false;
  return link.mandate->vote_denied().empty() && link.mandate->deployment() == deployment;
}

bool Nodes::lost_its_membership(NodeIndex node) const {
  const Ballot& ballot = this->ballot();
  const Link& link = links_[node];
  if (link.mandate->deployment().empty() || belongs_to(node, ballot.deployment)) return false;
  Marker without_admissions = *link.mandate->marker();
  without_admissions.admissions.clear();
  return ballot.deployment.starts_with(deployment_text(without_admissions));
}

std::string Nodes::why_not_counted(NodeIndex node) const {
  const Ballot ballot = this->ballot();
  const Link& link = links_[node];
  if (!belongs_to(node, ballot.deployment)) {
    if (link.mandate->deployment().empty()) return "it belongs to no deployment, and others do";
    const Marker& marker = *link.mandate->marker();
    if (!ballot.deployment.starts_with(marker.deployment + ' ')) {
      return "it belongs to another deployment than most of the nodes";
    }
    if (!lost_its_membership(node)) {
      return "its membership record names other members than that of most of the nodes";
    }
    return "its place was given to another server of the same name, or to this one before its data "
           "were put back";
  }
  if (ballot.quorum <= links_.size() || !link.mandate->marker()) return {};
  return "it belongs to a deployment of " + std::to_string(link.mandate->marker()->members.size()) +
         " nodes; this client has " + std::to_string(links_.size()) +
         (links_.size() == 1 ? " node" : " nodes");
}

std::string Nodes::why_closed(const Marker& marker) const {
  return "it belongs to no deployment yet: a client with a max TTL of " +
         format_duration(marker.max_ttl) + " has met it, this one has " +
         format_duration(settings_.max_ttl) + ", and clients that disagree open none";
}

bool Nodes::fits(const Marker& marker) const {
  if (settings_.restart_guard) return marker.max_ttl == settings_.max_ttl;
  // Even without the guard, no lease may last longer than nodes that forgot are kept from voting.
  return marker.state != Marker::State::active || settings_.max_ttl <= marker.max_ttl;
}

bool Nodes::may_mark(NodeIndex node) const {
  std::size_t there = 1;
  std::size_t alike = 0;
  std::size_t others = 0;
  all().each([&](NodeIndex other) {
    const Link& link = links_[other];
    if (other == node || !link.up() || link.mandate->duplicate_of()) return;
    ++there;
    if (link.mandate->marker())
      ++(link.mandate->marker()->max_ttl == settings_.max_ttl ? alike : others);
  });
  return there >= settings_.quorum && alike >= others;
}

void Nodes::judge_marker(NodeIndex node) {
  Link& link = links_[node];
  const std::optional<Marker>& marker = link.mandate->marker();
  if (!link.mandate->ineligible().empty()) return;
  if (settings_.restart_guard && link.unmarked())
    return link.mandate.by(me).deny_vote(nobody_met_it);
  if (settings_.restart_guard && !marker) {
    return link.mandate.by(me).declare_ineligible(
        "its membership record is missing or cannot be read");
  }
  if (!marker) return;
  const std::size_t servers = servers_of(marker->self);
  if (marker->state != Marker::State::blank && servers != link.reign->servers()) {
    return link.mandate.by(me).declare_ineligible(
        "its deployment knows it as " + marker->self + ", and this client as " +
        settings_.nodes[node] + ": all clients must agree how many servers it is");
  }
  switch (marker->state) {
    case Marker::State::blank:
      // Without the guard, a node that belongs to no deployment votes like any other.
      if (!settings_.restart_guard) return;
      return link.mandate.by(me).deny_vote(fits(*marker) ? std::string(no_deployment)
                                                         : why_closed(*marker));
    case Marker::State::opening:
      return link.mandate.by(me).deny_vote(
          fits(*marker) ? std::string("its deployment is being opened") : why_closed(*marker));
    case Marker::State::joining:
      return link.mandate.by(me).deny_vote("it is joining a deployment");
    case Marker::State::active:
      break;
  }
  if (fits(*marker)) return;
  link.mandate.by(me).declare_ineligible("it belongs to a deployment with a max TTL of " +
                                         format_duration(marker->max_ttl) + "; this client has " +
                                         format_duration(settings_.max_ttl));
}

std::vector<NodeView> Nodes::views() const {
  std::vector<NodeView> views(links_.size());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    NodeView& view = views[i];
    view.name = settings_.nodes[i];
    view.usable = link.up() && !link.mandate->duplicate_of() && link.mandate->ineligible().empty();
    if (link.up() && link.mandate->marker()) view.marker = &*link.mandate->marker();
    view.known_as = link.mandate->known_as();
    view.alias = is_alias(static_cast<NodeIndex>(i));
    if (link.mandate->duplicate_of())
      views[*link.mandate->duplicate_of()].also_named.push_back(view.name);
  }
  return views;
}

Outlook Nodes::outlook() const {
  const NodeSet others = where([&](NodeIndex node) {
    const Link& link = links_[node];
    return link.up() && link.mandate->marker() && !fits(*link.mandate->marker());
  });
  return outlook_of(views(), ballot().quorum, others);
}

// --- duplicates ----------------------------------------------------------------------------------

bool Nodes::is_first_contact() const {
  const auto learned = links_.begin() + static_cast<std::ptrdiff_t>(configured_);
  return std::any_of(links_.begin(), learned,
                     [](const Link& link) { return link.contact->fresh(); });
}

bool Nodes::is_alias(NodeIndex node) const {
  const std::optional<NodeIndex> other = links_[node].mandate->duplicate_of();
  return other && (node >= configured_ || *other >= configured_);
}

NodeSet Nodes::aliases() const {
  if (links_.size() == configured_) return {};
  return where([&](NodeIndex node) { return is_alias(node); });
}

bool Nodes::find_duplicate(NodeIndex node) {
  // The address that was there first keeps the vote: changing it over in the middle of a round
  // would count one server twice.
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (i == node || !links_[i].up() || links_[i].mandate->duplicate_of()) continue;
    if (links_[i].contact->server() != links_[node].contact->server()) continue;
    links_[node].mandate.by(me).set_duplicate_of(static_cast<NodeIndex>(i));
    return true;
  }
  return false;
}

// --- clocks --------------------------------------------------------------------------------------

bool Nodes::clock_counts(const Link& link) {
  return link.up() && link.clock_known() && !link.mandate->duplicate_of() &&
         link.mandate->ineligible().empty();
}

bool Nodes::clocks_agree() const {
  Duration low = Duration::max();
  Duration high = Duration::min();
  bool any_counts = false;
  for (const Link& link : links_) {
    const std::optional<Duration> offset = link.clock().offset();
    if (!link.up() || !offset) continue;
    low = std::min(low, *offset);
    high = std::max(high, *offset);
    any_counts = any_counts || clock_counts(link);
  }
  return any_counts && high - low <= settings_.clock_bound;
}

Nodes::Median Nodes::median_clock() const {
  std::array<Duration, limits::nodes> offsets{};
  std::size_t known = 0;
  for (const Link& link : links_) {
    if (clock_counts(link)) offsets[known++] = *link.clock().offset();
  }
  if (known == 0) return {};
  std::sort(offsets.begin(), offsets.begin() + static_cast<std::ptrdiff_t>(known));
  const Duration low = offsets[(known - 1) / 2];
  return {known, low + (offsets[known / 2] - low) / 2};
}

std::optional<Duration> Nodes::clock_offset(NodeIndex node) const {
  const Median median = median_clock();
  const Link& link = links_[node];
  if (median.known == 0 || !link.up() || !link.clock_known()) return std::nullopt;
  return *link.clock().offset() - median.offset;
}

NodeSet Nodes::compare_clocks() {
  NodeSet excluded;
  if (!settings_.clock_guard) return excluded;
  // The usual case: no clock is far from the median, which lies between them.
  if (clocks_compared_ && clocks_agree()) {
    for (Link& link : links_) {
      if (link.up() && link.clock_known()) link.set_clock_far(me, false);
    }
    return excluded;
  }
  const Median median = median_clock();
  if (!clocks_compared_ && median.known >= settings_.quorum) {
    clocks_compared_ = true;
    version_.changed();
  }
  if (median.known == 0) return excluded;
  all().each([&](NodeIndex node) {
    Link& link = links_[node];
    if (!link.up() || !link.clock_known()) return;
    const Duration distance = *link.clock().offset() - median.offset;
    const bool far = distance > settings_.clock_bound || distance < -settings_.clock_bound;
    if (far && !link.clock_far() && clocks_compared_) excluded.add(node);
    link.set_clock_far(me, far);
  });
  return excluded;
}

bool Nodes::reading_is_old(NodeIndex node) const {
  return now_ >= later(links_[node].clock_read_at(), reading_for_votes);
}

bool Nodes::evictions_due(NodeIndex node) const {
  return now_ >= later(links_[node].evictions_read_at(), reading_for_leases);
}

Instant Nodes::next_clock_reading() const {
  Instant next = never;
  for (const Link& link : links_) {
    // A node that owes too many answers is asked nothing; its next deadline is the limit of the
    // oldest one.
    if (!link.up() || !link.mandate->ineligible().empty() || link.in_flight->congested()) continue;
    next = std::min(next, later(read_at(link), reading_for_leases));
  }
  return next;
}

bool Nodes::clock_reading_due(NodeIndex node) const {
  return now_ >= later(read_at(links_[node]), reading_for_leases);
}

Instant Nodes::read_at(const Link& link) const {
  // Attempts read clocks far more often than numbers of evictions.
  return settings_.restart_guard ? std::min(link.clock_read_at(), link.evictions_read_at())
                                 : link.clock_read_at();
}

void Nodes::note_step() {
  StepMarks marks{};
  for (std::size_t i = 0; i < links_.size(); ++i) marks[i] = links_[i].clock().stepped();
  steps_ = std::make_shared<const StepMarks>(marks);
}

NodeSet Nodes::can_set_fenced(std::uint64_t number) const {
  return where([&](NodeIndex node) {
    const Link& link = links_[node];
    if (!link.up() || !link.mandate->can(Capability::set_fenced) || !link.clock_known())
      return false;
    const Duration clock = now_.time_since_epoch() + *link.clock().offset();
    return number <= fencing_number_at(clock + fence_lead);
  });
}

}  // namespace redlock::core
