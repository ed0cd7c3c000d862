#include "core/duties/voters.hpp"

namespace redlock::core {

void Voters::begin_round(Claim& claim, std::uint16_t number, Duration ttl) {
  idle_leases_.wake(claim);
  const Nodes::Ballot& ballot = nodes_.ballot();
  if (claim.work->ballot_found_at != ballot.found_at) {
    claim.work->deployment.by(me).assign(ballot.deployment);
    claim.work->ballot_found_at.by(me) = ballot.found_at;
  }
  claim.round.by(me).begin(number, nodes_.size(), ballot.quorum, now_, ttl);
  claim.round.by(me).leave_out(nodes_.aliases());
}

bool Voters::extends(Claim& claim, NodeIndex node) const {
  claim.keys.by(me).forget_lost(lost_votes_);
  if (!is_member(claim, node) || !nodes_[node].reign->stands()) return false;
  // A vote that a node has forgotten may still count for somebody. A key that was set on the node
  // during its quarantine, by a repair or a late SET, is a new vote, not the old one.
  return !nodes_.is_quarantined(node) || claim.keys->has_vote_of(node) ||
         outlives_failover(claim, node);
}

/// A deployment's only node has a new primary, which has the key. Nobody else can have a lease
/// while ours is valid, and nobody is sent a SET before the quarantine ends. By its token alone, a
/// lease does not count as valid. A sole node is never repaired, so the key is the old one.
bool Voters::outlives_failover(const Claim& claim, NodeIndex node) const {
  return nodes_[node].reign->is_replicated() && claim.round->quorum() == 1 &&
         claim.phase == Claim::Phase::held;
}

void Voters::record_absent(Claim& claim, NodeIndex node) {
  const bool votes = is_set(claim.verb) || is_extend(claim.verb);
  const bool first = claim.round->pending().has(node);
  nodes_.record_absent(claim.round.by(me), node, claim.terms().interval);
  const Vote vote = claim.round->vote(node).vote;
  if (votes && first && vote != Vote::pending) meter_.did_not_answer(node, vote);
}

void Voters::record_all_absent(Acquisition& acquisition) const {
  const Nodes::Ballot ballot = nodes_.ballot();
  const Duration interval = acquisition.terms->interval;
  const NodeSet remembering = nodes_.remembering(nodes_.all(), interval);
  acquisition.last.by(me).begin(0, nodes_.size(), ballot.quorum, now_, acquisition.terms->ttl);
  nodes_.all().each([&](NodeIndex node) {
    // A node whose clock merely could not be compared is not recorded: it was not asked.
    const bool counts = nodes_.belongs_to(node, ballot.deployment) &&
                        ballot.quorum <= nodes_.size() && remembering.has(node);
    if (nodes_.may_vote_but_for_clock(node) && !nodes_[node].clock_far() && counts) return;
    nodes_.record_absent(acquisition.last.by(me), node, interval);
  });
  acquisition.lose(me, acquisition.last->why_lost());
}

}  // namespace redlock::core
