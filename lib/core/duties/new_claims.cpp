#include "core/duties/new_claims.hpp"

namespace redlock::core {

bool NewClaims::has_room() const {
  // An attempt counts with its acquisition. Claims that are only being cleaned up have the same
  // amount of room for themselves.
  const std::size_t most = settings_.max_operations;
  return acquisitions_.size() + claims_.leases() < most && claims_.size() < 2 * most;
}

Claim& NewClaims::make(Claim::Purpose purpose, std::string_view resource, const Token& token) {
  Claim& claim = claims_.make(purpose, resource, token);
  idle_leases_.wake(claim);
  claim.keys.by(me).begin_votes(lost_votes_);
  return claim;
}

Claim& NewClaims::make_by_token(Claim::Purpose purpose, CallId request, std::string_view resource,
                                const Token& token, Duration ttl) {
  Claim& claim = make(purpose, resource, token);
  claim.work->requests.by(me).push_back(request);
  voters_.begin_round(claim, 0, ttl);
  return claim;
}

bool NewClaims::waits_for_nodes(Claim& claim) const {
  if (nodes_.knows_deployment()) return false;
  claim.task.by(me) = Claim::Task::meet_nodes;
  claim.unasked.by(me) = nodes_.all();
  return true;
}

}  // namespace redlock::core
