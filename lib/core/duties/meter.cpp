#include "core/duties/meter.hpp"

#include <algorithm>

#include "support/overwrite.hpp"

namespace redlock::core {

void Meter::count_other_vote(const Claim& claim, const Answer& answer, Vote failure) {
  Vote vote = Vote::refused;
  switch (answer.reply) {
    case Reply::granted:
    case Reply::behind:
    case Reply::extended:
      if (claim.keys->has_vote_of(answer.node)) return;
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
  const bool came = answer.reply != Reply::failed;
  if (came) {
    answered(answer.node, vote);
    Node& counted = counted_[answer.node];
    if (vote == Vote::error) {
      counted.refusal.at = counted.round_trips.count();
      support::overwrite(counted.refusal.why, answer.text);
    }
  } else {
    did_not_answer(answer.node, vote);
  }
}

void Meter::granted(const Acquisition& acquisition, const Claim& claim, Instant now) {
  ++granted_;
  waits_.record(now - *acquisition.began);
  if (acquisition.is_waiting) --waiting_;
  if (acquisition.by_notification) ++handovers_;
  if (!claim.fencing()) return;
  const bool one = claim.fencing()->rounds == 1;
  ++(one ? fenced_in_one_round_ : fenced_in_more_rounds_);
}

NodeMetrics Meter::report(NodeIndex node, Instant now) const {
  const Node& counted = counted_[node];
  const Link& link = nodes_[node];
  const auto votes = [&](Vote vote) { return counted.votes[static_cast<std::size_t>(vote)]; };
  NodeMetrics metrics;
  metrics.node = settings_.nodes[node];
  metrics.up = link.up();
  metrics.may_vote = nodes_.voters_of(nodes_.ballot()).has(node);
  metrics.problem = nodes_.why_no_vote(node);
  // An error is of interest until the node has answered the next request.
  const bool refused =
      !counted.refusal.why.empty() && counted.refusal.at == counted.round_trips.count();
  if (metrics.problem.empty() && refused) {
    metrics.may_vote = false;
    metrics.problem = counted.refusal.why;
  }
  metrics.reconnects = std::max<std::uint64_t>(counted.connections, 1) - 1;
  metrics.round_trips = counted.round_trips;
  metrics.votes = {counted.granted(),        votes(Vote::refused), votes(Vote::timeout),
                   votes(Vote::unreachable), votes(Vote::error),   votes(Vote::excluded)};
  if (link.mandate->quarantined_until() && *link.mandate->quarantined_until() > now) {
    metrics.quarantine = *link.mandate->quarantined_until() - now;
  }
  metrics.clock_offset = nodes_.clock_offset(node);
  metrics.fencing_raises = counted.fencing_raises;
  return metrics;
}

Metrics Meter::report(Instant now) const {
  const auto failed = [&](Errc code) { return failed_[static_cast<std::size_t>(code)]; };
  Metrics metrics;
  metrics.acquires = {granted_,
                      failed(Errc::held),
                      failed(Errc::split),
                      failed(Errc::unavailable),
                      failed(Errc::expired),
                      failed(Errc::excluded),
                      failed(Errc::cancelled),
                      failed(Errc::closed),
                      failed(Errc::limit_reached)};
  metrics.attempts = attempts_;
  metrics.handovers = handovers_;
  metrics.waits = waits_;
  metrics.holds = holds_;
  metrics.renewals_done = renewals_done_;
  metrics.renewals_failed = renewals_failed_;
  metrics.leases_lost = lost_;
  metrics.fenced_in_one_round = fenced_in_one_round_;
  metrics.fenced_in_more_rounds = fenced_in_more_rounds_;
  metrics.acquires_waiting = waiting_;
  const Nodes::Ballot& ballot = nodes_.ballot();
  metrics.quorum = ballot.quorum;
  metrics.members = ballot.size > 0 ? ballot.size : settings_.nodes.size();
  nodes_.all().each([&](NodeIndex node) { metrics.nodes.push_back(report(node, now)); });
  return metrics;
}

}  // namespace redlock::core
