#include <algorithm>
#include <string>

#include "core/engine.hpp"

/// What the engine counts, for operators: see Meter and Metrics.
namespace redlock::core {

void Engine::count_other_vote(const Claim& claim, const Answer& answer, Vote failure) {
  Vote vote = Vote::refused;
  switch (answer.reply) {
    case Reply::granted:
    case Reply::behind:
    case Reply::extended:
      if (claim.keys.has_vote_of(answer.node)) return;
      vote = Vote::excluded;
      break;
    case Reply::repaired:
    case Reply::taken:
    case Reply::gone:
    case Reply::released:
    case Reply::found:
      break;
    case Reply::failed:
      vote = failure;
      break;
    case Reply::error:
    case Reply::script_missing:
    case Reply::script_needed:
    case Reply::done:
    case Reply::marker:
    case Reply::clock:
      vote = Vote::error;
      break;
  }
  const bool answered = answer.reply != Reply::failed;
  if (answered) {
    meter_.answered(answer.node, vote);
  } else {
    meter_.vote(answer.node, vote);
  }
}

void Engine::record_absent(Claim& claim, NodeIndex node) {
  const bool votes = is_set(claim.verb) || is_extend(claim.verb);
  const bool first = claim.round.pending().has(node);
  nodes_.record_absent(claim.round, node, claim.terms().hold_at_least);
  const Vote vote = claim.round.vote(node).vote;
  if (votes && first && vote != Vote::pending) meter_.vote(node, vote);
}

void Engine::count_grant(const Acquisition& acquisition, const Claim& claim) {
  ++meter_.granted;
  meter_.waits.record(now_ - acquisition.began);
  if (acquisition.is_waiting) --meter_.waiting;
  if (acquisition.by_notification) ++meter_.handovers;
  if (!claim.fencing()) return;
  const bool one = claim.fencing()->rounds == 1;
  ++(one ? meter_.fenced_in_one_round : meter_.fenced_in_more_rounds);
}

NodeMetrics Engine::metrics_of(NodeIndex node, Instant now) const {
  const Meter::Node& counted = meter_.nodes[node];
  const Link& link = nodes_[node];
  const auto votes = [&](Vote vote) { return counted.votes[static_cast<std::size_t>(vote)]; };
  NodeMetrics metrics;
  metrics.node = settings_.nodes[node];
  metrics.up = link.up();
  metrics.may_vote = nodes_.voters_of(nodes_.ballot()).has(node);
  metrics.reconnects = std::max<std::uint64_t>(counted.connections, 1) - 1;
  metrics.round_trips = counted.round_trips;
  metrics.votes = {counted.granted(),        votes(Vote::refused), votes(Vote::timeout),
                   votes(Vote::unreachable), votes(Vote::error),   votes(Vote::excluded)};
  if (link.quarantined_until() && *link.quarantined_until() > now) {
    metrics.quarantine = *link.quarantined_until() - now;
  }
  metrics.clock_offset = nodes_.clock_offset(node);
  metrics.fencing_raises = counted.fencing_raises;
  return metrics;
}

Metrics Engine::metrics(Instant now) {
  const auto failed = [&](Errc code) { return meter_.failed[static_cast<std::size_t>(code)]; };
  Metrics metrics;
  metrics.acquires = {meter_.granted,
                      failed(Errc::held),
                      failed(Errc::split),
                      failed(Errc::unavailable),
                      failed(Errc::expired),
                      failed(Errc::excluded),
                      failed(Errc::cancelled),
                      failed(Errc::closed),
                      failed(Errc::limit_reached)};
  metrics.attempts = meter_.attempts;
  metrics.handovers = meter_.handovers;
  metrics.waits = meter_.waits;
  metrics.holds = meter_.holds;
  metrics.renewals_done = meter_.renewals_done;
  metrics.renewals_failed = meter_.renewals_failed;
  metrics.leases_lost = meter_.lost;
  metrics.fenced_in_one_round = meter_.fenced_in_one_round;
  metrics.fenced_in_more_rounds = meter_.fenced_in_more_rounds;
  // What is over is returned to its pool by the next step.
  metrics.acquires_in_progress = acquisitions_.size() - finished_acquisitions_.size();
  metrics.acquires_waiting = meter_.waiting;
  metrics.leases_held = held_;
  metrics.quorum = settings_.quorum;
  nodes_.all().each([&](NodeIndex node) { metrics.nodes.push_back(metrics_of(node, now)); });
  unsettled_.each([&](std::uint32_t index) {
    const Claim& claim = claims_.at(index);
    if (claim.finished) return;
    claim.keys.to_release().each([&](NodeIndex node) { ++metrics.nodes[node].owed_releases; });
  });
  return metrics;
}

}  // namespace redlock::core
