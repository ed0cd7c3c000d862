#pragma once

#include <string_view>

#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/idle_leases.hpp"
#include "core/duties/voters.hpp"
#include "core/nodes/nodes.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/votes/lost_votes.hpp"
#include "core/waiting/acquisitions.hpp"
#include "redlock/token.hpp"

namespace redlock::core {

/// Makes claims, with the work that they need.
class NewClaims {
 public:
  NewClaims(const Settings& settings, const Nodes& nodes, Claims& claims,
            const Acquisitions& acquisitions, const LostVotes& lost_votes, IdleLeases& idle_leases,
            Voters& voters)
      : settings_(settings),
        nodes_(nodes),
        claims_(claims),
        acquisitions_(acquisitions),
        lost_votes_(lost_votes),
        idle_leases_(idle_leases),
        voters_(voters) {}

  /// Whether there is room for another acquisition or lease.
  [[nodiscard]] bool has_room() const;
  Claim& make(Claim::Purpose purpose, std::string_view resource, const Token& token);
  /// For a call about a token of which this client has no lease.
  Claim& make_by_token(Claim::Purpose purpose, CallId request, std::string_view resource,
                       const Token& token, Duration ttl);
  /// Whether it is unknown whose votes count. The claim then waits until the nodes have said.
  bool waits_for_nodes(Claim& claim) const;

 private:
  static constexpr By<NewClaims> me{};

  const Settings& settings_;
  const Nodes& nodes_;
  Claims& claims_;
  const Acquisitions& acquisitions_;
  const LostVotes& lost_votes_;
  IdleLeases& idle_leases_;
  Voters& voters_;
};

}  // namespace redlock::core
