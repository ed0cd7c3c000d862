#include <algorithm>
#include <array>

#include "core/admission.hpp"
#include "core/engine.hpp"
#include "support/assert.hpp"

namespace redlock::core {

void Engine::read_clocks(NodeSet nodes) {
  if (!settings_.clock_guard) return;
  NodeSet readable;
  NodeSet may_evict;
  nodes.each([&](NodeIndex node) {
    Link& link = nodes_[node];
    if (!link.up() || link.congested() || !link.ineligible().empty()) return;
    link.reading_clock(now_);
    readable.add(node);
    if (!settings_.restart_guard || !nodes_.evictions_due(node)) return;
    link.reading_evictions(now_);
    may_evict.add(node);
  });
  if (!may_evict.empty()) outbox_.send(SendUpkeep{{may_evict, upkeep(Verb::read_evictions)}});
  if (!readable.empty()) outbox_.send(SendUpkeep{{readable, upkeep(Verb::read_clock)}});
}

void Engine::read_clocks_before(NodeSet nodes) {
  if (!settings_.clock_guard) return;
  // In the same write and ahead of the request: its answer is there before the vote is counted.
  NodeSet old;
  nodes.each([&](NodeIndex node) {
    if (nodes_.reading_is_old(node)) old.add(node);
  });
  read_clocks(old);
}

Instant Engine::next_clock_reading() const {
  return settings_.clock_guard ? nodes_.next_clock_reading() : never;
}

void Engine::read_clocks_due() {
  if (now_ < next_clock_reading()) return;
  NodeSet due;
  nodes_.all().each([&](NodeIndex node) {
    if (nodes_.clock_reading_due(node)) due.add(node);
  });
  read_clocks(due);
}

void Engine::take_clock(NodeIndex node, const Answer& answer, const Arrival& arrival) {
  Link& link = nodes_[node];
  if (answer.reply != Reply::clock) {
    // BUSY or LOADING pass, and it is asked again.
    const bool for_good = answer.text.starts_with("NOPERM") ||
                          answer.text.find("unknown command") != std::string_view::npos;
    if (!for_good) return;
    link.declare_ineligible("its clock cannot be read: " + std::string(answer.text));
    report_exclusion(node);
    serve_claims_of(node);
    return retry_connecting();
  }
  take_time(node, answer.time, arrival);
}

void Engine::take_time(NodeIndex node, Duration time, const Arrival& arrival) {
  Link& link = nodes_[node];
  const bool first = !link.clock_known();
  // A clock without a history does not show what it did while ours may have stood still. It is read
  // again when that is known.
  if (first && standstill_.open()) return;
  const Instant sent = arrival.at - arrival.took;
  const NodeClock::Reading reading = link.observe_clock(sent, arrival.at, time);
  if (reading.step > Duration::zero()) note_step(node, reading);
  if (standstill_.open()) {
    standstill_.read(node, reading, sent);
    return judge_standstill();
  }
  nodes_.compare_clocks().each([&](NodeIndex excluded) { report_exclusion(excluded); });
  if (!first) return;
  // With this one, the clocks of others may be comparable for the first time.
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].up()) serve_claims_of(static_cast<NodeIndex>(i));
  }
  retry_connecting();
  wake_after_outage();
}

void Engine::note_step(NodeIndex node, const NodeClock::Reading& reading) {
  const bool opens = !standstill_.open();
  standstill_.stepped(node, reading, now_);
  nodes_[node].doubt(later(now_, settings_.quarantine),
                     "its clock stepped forward by up to " +
                         format_duration(standstill_.step_of(node)) +
                         ", or this machine stood still: the other clocks will tell");
  lower_deadlines();
  // Requests that were sent before may have been answered before the step.
  if (opens && nodes_.size() >= witnesses_needed()) read_clocks(witnesses());
}

NodeSet Engine::witnesses() const {
  NodeSet witnesses;
  (nodes_.ballot().members & nodes_.up()).each([&](NodeIndex node) {
    const Link& link = nodes_[node];
    // One without a history knows of no step, and what it shows meanwhile is not taken.
    if (!link.duplicate_of() && link.ineligible().empty() && link.clock_known()) {
      witnesses.add(node);
    }
  });
  return witnesses;
}

std::size_t Engine::witnesses_needed() const {
  // A single clock has nobody to agree with.
  return std::max<std::size_t>(nodes_.ballot().quorum, 2);
}

void Engine::judge_standstill() {
  if (!standstill_.open()) return;
  const Standstill::Verdict verdict =
      standstill_.judge(witnesses(), witnesses_needed(), nodes_.size());
  if (verdict.cause == Standstill::Cause::unknown) return;
  const bool ours = verdict.cause == Standstill::Cause::ours;
  if (ours) blame_our_clock(verdict);
  NodeSet excluded;
  standstill_.steps().each([&](NodeIndex node) {
    if (ours && !standstill_.leapt_too(node, verdict.ours)) return nodes_[node].trust_again();
    nodes_[node].confirm_doubt("its clock stepped forward by up to " +
                               format_duration(standstill_.step_of(node)) +
                               ", so keys there expire early");
    excluded.add(node);
  });
  end_doubt(excluded);
}

/// By a verdict, or because it lasted for a quarantine without one.
void Engine::end_doubt(NodeSet excluded) {
  standstill_.close();
  doubt_ended_at_ = now_;
  excluded = excluded | nodes_.compare_clocks();
  excluded.each([&](NodeIndex node) { report_exclusion(node); });
  NodeSet unread;
  nodes_.up().each([&](NodeIndex node) {
    if (!nodes_[node].clock_known()) unread.add(node);
  });
  read_clocks(unread);
  nodes_.up().each([&](NodeIndex node) { serve_claims_of(node); });
  retry_connecting();
  wake_after_outage();
}

void Engine::blame_our_clock(const Standstill::Verdict& verdict) {
  outbox_.emit(StoodStill{verdict.alike, verdict.ours.most});
  (nodes_.all() - standstill_.steps()).each([&](NodeIndex node) {
    nodes_[node].our_clock_stood_still(verdict.ours, standstill_.asked_since().has(node));
  });
  lower_deadlines();
}

void Engine::take_evictions(NodeIndex node, std::uint64_t evicted) {
  Link& link = nodes_[node];
  if (evicted == link.evicted()) return;
  link.lose_keys(evicted);
  // The next handshake marks the node as one that forgot, so that all clients know.
  link.declare_ineligible("it evicted keys, and may have forgotten locks that way");
  link.meet_anew(now_);
  lower_deadlines();
}

void Engine::lower_deadlines() {
  nodes_.note_step();
  const SharedMarks& marks = nodes_.steps();
  claims_.each([&](Claim& claim) {
    if (claim.finished || claim.phase != Claim::Phase::held) return;
    Claim::Lease& lease = claim.lease();
    const Instant until = lease.basis.deadline(marks, lease.basis.votes_needed);
    if (until >= claim.valid_until) return;
    claim.move_deadline(until);
    lease.renewal.hurry(now_);
    outbox_.emit(Extended{CallId::none, claim.id(), &claim.round, Duration::zero(), until});
    retime(claim);
  });
}

}  // namespace redlock::core
