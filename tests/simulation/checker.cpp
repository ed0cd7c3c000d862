#include "simulation/checker.hpp"

#include <algorithm>

namespace redlock::simulation {

void Checker::check_alone(const Lease& lease, True now) {
  for (const Lease& other : leases_) {
    if (other.token == lease.token || other.resource != lease.resource) continue;
    if (other.until <= now || lease.until <= now) continue;
    violated("invariant 1: two leases on one resource are valid at once, for " +
             std::to_string((std::min(other.until, lease.until) - now) / 1000) + " us");
  }
}

Checker::Lease* Checker::find(std::uint64_t token) {
  const auto found = std::find_if(leases_.begin(), leases_.end(),
                                  [&](const Lease& lease) { return lease.token == token; });
  return found == leases_.end() ? nullptr : &*found;
}

void Checker::granted(std::uint64_t token, std::size_t resource, True now, True until) {
  ++grants_;
  // What nobody can hold any more is only in the way.
  std::erase_if(leases_, [&](const Lease& lease) {
    return lease.until <= now && (tokens_[lease.token].ended || tokens_[lease.token].abandoned);
  });
  if (find(token) != nullptr) violated("a token was granted twice");
  if (until <= now) violated("invariant 6: a lease was handed out that was over already");
  leases_.push_back({token, resource, until});
  check_alone(leases_.back(), now);
}

void Checker::extended(std::uint64_t token, True now, True until) {
  Lease* lease = find(token);
  if (lease == nullptr || tokens_[token].ended) {
    return violated("invariant 6: a lease that was over was extended");
  }
  if (until < lease->until) violated("an extend lowered the deadline");
  lease->until = std::max(lease->until, until);
  check_alone(*lease, now);
}

void Checker::ended(std::uint64_t token) {
  Trail& trail = tokens_[token];
  if (trail.ended) violated("a lease ended twice");
  trail.ended = true;
  std::erase_if(leases_, [&](const Lease& lease) { return lease.token == token; });
}

void Checker::lost(std::uint64_t token, True now) {
  ++losses_;
  const Lease* lease = find(token);
  if (lease == nullptr || tokens_[token].ended) {
    return violated("invariant 6: a loss was told of what was no lease, or twice");
  }
  if (now < lease->until) violated("invariant 6: a loss was told before the deadline");
  ended(token);
}

void Checker::key_written(std::uint64_t token, std::size_t node) {
  const Trail& trail = tokens_[token];
  if (trail.abandoned) return;
  if (((trail.released_on >> node) & 1U) != 0) {
    violated("invariant 4: a key came back on node " + std::to_string(node) +
             " behind its release");
  }
}

void Checker::release_executed(std::uint64_t token, std::size_t node) {
  tokens_[token].released_on |= 1U << node;
}

void Checker::release_answered(std::uint64_t token, std::size_t still_there) {
  // Whoever needs `quorum_` of all nodes is blocked when more than the rest of them are taken.
  if (still_there > nodes_ - quorum_) {
    violated("invariant 4: a release was answered while a majority was taken by " +
             std::to_string(token));
  }
}

}  // namespace redlock::simulation
