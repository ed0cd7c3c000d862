#include "core/duties/clocks.hpp"

#include <algorithm>
#include <string>

#include "core/vocabulary/durations.hpp"

namespace redlock::core {

// --- asking -------------------------------------------------------------------------------------

void Clocks::read(NodeSet nodes) {
  if (!settings_.clock_guard) return;
  NodeSet readable;
  NodeSet may_evict;
  nodes.each([&](NodeIndex node) {
    Link& link = nodes_[node];
    if (!link.up() || link.in_flight->congested() || !link.mandate->ineligible().empty()) return;
    link.reading_clock(me, now_);
    readable.add(node);
    if (!settings_.restart_guard || !nodes_.evictions_due(node)) return;
    link.reading_evictions(me, now_);
    may_evict.add(node);
  });
  if (!may_evict.empty()) outbox_.send(may_evict, Stamp(Verb::read_evictions));
  if (!readable.empty()) outbox_.send(readable, Stamp(Verb::read_clock));
}

void Clocks::read_old(NodeSet nodes) {
  // The reading leaves in the same write, before the request, so its answer arrives before the vote
  // is counted.
  NodeSet old;
  nodes.each([&](NodeIndex node) {
    if (nodes_.reading_is_old(node)) old.add(node);
  });
  read(old);
}

Instant Clocks::next_reading() const {
  return settings_.clock_guard ? nodes_.next_clock_reading() : never;
}

void Clocks::read_again() {
  if (now_ < next_reading()) return;
  NodeSet due;
  nodes_.all().each([&](NodeIndex node) {
    if (nodes_.clock_reading_due(node)) due.add(node);
  });
  read(due);
}

void Clocks::came_up(NodeIndex node) {
  read(NodeSet::of(node));
  if (!standstill_.open()) exclude(nodes_.compare_clocks());
}

// --- answers ------------------------------------------------------------------------------------

bool Clocks::refused(NodeIndex node, std::string_view why) {
  // BUSY and LOADING pass: the clock is read again later.
  const bool for_good =
      why.starts_with("NOPERM") || why.find("unknown command") != std::string_view::npos;
  if (!for_good) return false;
  nodes_[node].mandate.by(me).declare_ineligible("its clock cannot be read: " + std::string(why));
  exclude(NodeSet::of(node));
  return true;
}

Clocks::Shown Clocks::showed(NodeIndex node, Duration time, const Arrival& arrival) {
  Link& link = nodes_[node];
  const bool first = !link.clock_known();
  const bool opens = !standstill_.open();
  // A clock without a history does not show what it did while ours may have stood still. It is read
  // again after the doubt (end_doubt).
  if (first && !opens) return Shown::as_before;
  const Instant sent = arrival.at - arrival.took;
  const NodeClock::Reading reading = link.observe_clock(me, sent, arrival.at, time);
  const bool stepped = reading.step > Duration::zero();
  if (stepped) {
    standstill_.stepped(node, reading, now_);
    link.mandate.by(me).doubt(later(now_, settings_.quarantine),
                              "its clock stepped forward by up to " +
                                  format_duration(standstill_.step_of(node)) +
                                  ", or this machine stood still: the other clocks will tell");
  }
  if (standstill_.open()) {
    standstill_.read(node, reading, sent);
    if (!stepped) return Shown::in_doubt;
    return opens ? Shown::opened : Shown::stepped;
  }
  exclude(nodes_.compare_clocks());
  return first ? Shown::first : Shown::as_before;
}

bool Clocks::evicted(NodeIndex node, std::uint64_t keys) {
  Link& link = nodes_[node];
  // This reading does not tell the policy. If the policy decides, a handshake reads both.
  const Evictions evictions = evictions_between(link.evicted(), keys, true);
  if (evictions == Evictions::unknown) link.return_anew(me, now_);
  if (evictions != Evictions::some) return false;
  link.lose_keys(me, keys);
  // The next handshake marks the node as one that forgot, so that all clients know.
  link.mandate.by(me).declare_ineligible("it evicted keys, and may have forgotten locks that way");
  link.mandate.by(me).meet_anew(now_);
  return true;
}

void Clocks::exclude(NodeSet nodes) {
  nodes.each([&](NodeIndex node) { outbox_.emit(NodeExcluded{node}); });
}

// --- whose clock stepped ------------------------------------------------------------------------

void Clocks::ask_witnesses() {
  witnesses_asked_at_ = now_;
  if (nodes_.size() >= witnesses_needed()) read(witnesses());
}

NodeSet Clocks::witnesses() const {
  NodeSet witnesses;
  (nodes_.ballot().members & nodes_.up()).each([&](NodeIndex node) {
    const Link& link = nodes_[node];
    // A clock without a history knows of no step, and its readings are ignored during a doubt.
    if (!link.mandate->duplicate_of() && link.mandate->ineligible().empty() && link.clock_known()) {
      witnesses.add(node);
    }
  });
  return witnesses;
}

std::size_t Clocks::witnesses_needed() const {
  // A single clock has no other clock to agree with.
  return std::max<std::size_t>(nodes_.ballot().quorum, 2);
}

std::optional<Clocks::Verdict> Clocks::judge() {
  if (!standstill_.open()) return std::nullopt;
  const Standstill::Verdict found =
      standstill_.judge(witnesses(), witnesses_needed(), nodes_.size());
  if (found.stale && witnesses_asked_at_ < standstill_.last_step()) ask_witnesses();
  if (found.cause == Standstill::Cause::unknown) return std::nullopt;
  Verdict verdict{found.cause == Standstill::Cause::ours};
  if (verdict.ours) {
    outbox_.emit(StoodStill{found.alike, found.ours.most});
    nodes_.all().each([&](NodeIndex node) {
      const std::optional<Gain> rest = standstill_.not_shown(node, found.ours);
      const bool read_since = (standstill_.asked_since() - standstill_.steps()).has(node);
      if (rest) nodes_[node].our_clock_stood_still(me, *rest, read_since);
    });
  }
  standstill_.steps().each([&](NodeIndex node) {
    if (verdict.ours && !standstill_.leapt_too(node, found.ours))
      return nodes_[node].mandate.by(me).trust_again();
    nodes_[node].mandate.by(me).confirm_doubt("its clock stepped forward by up to " +
                                              format_duration(standstill_.step_of(node)) +
                                              ", so keys there expire early");
    verdict.excluded.add(node);
  });
  return verdict;
}

bool Clocks::doubt_has_lapsed() const {
  if (!standstill_.open()) return false;
  return std::none_of(nodes_.begin(), nodes_.end(),
                      [](const Link& link) { return link.mandate->in_doubt(); });
}

void Clocks::end_doubt(NodeSet excluded) {
  standstill_.close();
  doubt_ended_at_ = now_;
  exclude(excluded | nodes_.compare_clocks());
  NodeSet unread;
  nodes_.up().each([&](NodeIndex node) {
    if (!nodes_[node].clock_known()) unread.add(node);
  });
  read(unread);
}

}  // namespace redlock::core
