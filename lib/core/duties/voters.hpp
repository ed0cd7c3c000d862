#pragma once

#include <cstdint>

#include "core/claim/claim.hpp"
#include "core/duties/idle_leases.hpp"
#include "core/duties/meter.hpp"
#include "core/nodes/nodes.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/lost_votes.hpp"
#include "core/waiting/acquisition.hpp"

namespace redlock::core {

/// Says which votes a round counts: those of nodes that belong to the deployment known when the
/// round began, may vote, and remember for long enough.
class Voters {
 public:
  Voters(const Instant& now, const Nodes& nodes, const LostVotes& lost_votes,
         IdleLeases& idle_leases, Meter& meter)
      : now_(now),
        nodes_(nodes),
        lost_votes_(lost_votes),
        idle_leases_(idle_leases),
        meter_(meter) {}

  /// Begins a round that counts the votes of the current deployment.
  void begin_round(Claim& claim, std::uint16_t number, Duration ttl);

  /// Nodes whose votes for new leases count now.
  [[nodiscard]] NodeSet of(const Claim& claim) const {
    const Nodes::Ballot& ballot = nodes_.ballot();
    const bool known = claim.work->ballot_found_at == ballot.found_at;
    return remembering(claim, known ? nodes_.voters() & ballot.members
                                    : nodes_.voters_of(*claim.work->deployment));
  }
  /// Whether the node's vote for new leases counts now.
  [[nodiscard]] bool has_vote(const Claim& claim, NodeIndex node) const {
    return nodes_.may_vote(node) && is_member(claim, node) &&
           !remembering(claim, NodeSet::of(node)).empty();
  }
  /// Whether an extend that the node executed counts. During a quarantine, it counts if the node
  /// has not forgotten its vote for the claim, or is a deployment's only one and has its key after
  /// a failover. First removes lost votes from the claim's ledger.
  [[nodiscard]] bool extends(Claim& claim, NodeIndex node) const;

  /// Records the vote of a node that is not asked, and counts it for operators.
  void record_absent(Claim& claim, NodeIndex node);
  /// For an attempt that could ask too few nodes: records why each of the others was not asked.
  void record_all_absent(Acquisition& acquisition) const;

 private:
  static constexpr By<Voters> me{};

  [[nodiscard]] bool outlives_failover(const Claim& claim, NodeIndex node) const;
  [[nodiscard]] bool is_member(const Claim& claim, NodeIndex node) const {
    const Nodes::Ballot& ballot = nodes_.ballot();
    if (claim.work->ballot_found_at == ballot.found_at) return ballot.members.has(node);
    return nodes_.belongs_to(node, *claim.work->deployment);
  }
  [[nodiscard]] NodeSet remembering(const Claim& claim, NodeSet nodes) const {
    return claim.is_special() ? nodes_.remembering(nodes, claim.terms().interval) : nodes;
  }

  const Instant& now_;
  const Nodes& nodes_;
  const LostVotes& lost_votes_;
  IdleLeases& idle_leases_;
  Meter& meter_;
};

}  // namespace redlock::core
