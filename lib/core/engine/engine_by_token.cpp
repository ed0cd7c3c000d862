#include <algorithm>

#include "core/engine/engine.hpp"
#include "core/votes/validity.hpp"

/// Calls by token: extend, release and inspect a lock of which this client has no lease. Their
/// round counts the votes of one deployment, so it begins when the nodes have said which.
namespace redlock::core {

Claim& Engine::new_claim_by_token(Claim::Purpose purpose, CallId request, std::string_view resource,
                                  const Token& token, Duration ttl) {
  Claim& claim = new_claim(purpose, resource, token);
  claim.work->requests.push_back(request);
  voters_.begin_round(claim, 0, ttl);
  return claim;
}

void Engine::on(const ExtendToken& event) {
  if (closing_.has_begun()) return fail(event.request, Errc::closed, nullptr);
  Claim& claim = new_claim_by_token(Claim::Purpose::extend, event.request, event.resource,
                                    event.token, event.ttl);
  claim.set_more_resources(event.more_resources);
  claim.valid_until = valid_until(now_, event.ttl);
  claims_.index_by_token(claim);
  begin_when_known(claim);
}

void Engine::on(const DowngradeToken& event) {
  if (closing_.has_begun()) return fail(event.request, Errc::closed, nullptr);
  Claim& claim = new_claim_by_token(Claim::Purpose::extend, event.request, event.resource,
                                    event.token, settings_.max_ttl);
  claim.downgrade();
  // A downgrade extends nothing and has no deadline. A release of the token ends it.
  claim.valid_until = Instant::max();
  claims_.index_by_token(claim);
  begin_when_known(claim);
}

void Engine::on(const Adopt& event) {
  if (closing_.has_begun()) return fail(event.request, Errc::closed, nullptr);
  if (!has_room()) return fail(event.request, Errc::limit_reached, nullptr);
  Claim& claim = new_claim_by_token(Claim::Purpose::extend, event.request, event.resource,
                                    event.token, event.ttl);
  claim.set_more_resources(event.more_resources, event.group);
  // The lock may be a writer's: its downgrade may have reached too few nodes.
  if (claim.terms().kind() == Kind::shared) claim.downgrade();
  claim.valid_until = valid_until(now_, event.ttl);
  claim.work->adopted = event.renewal;
  if (event.fencing_number != 0) FencingTokens::hand_on(claim, event.fencing_number);
  claims_.index_by_token(claim);
  begin_when_known(claim);
}

/// Late requests may have returned the key to nodes, while somebody else had the lock in between:
/// see tools/docs/design/by-token.md. The nodes that have the key know of a larger number then.
void Engine::check_fencing_number(Claim& claim) {
  claim.task = Claim::Task::fence;
  const NodeSet granted = claim.round.granted() & nodes_.up();
  fencing_.asked(claim, sender_.send(claim, Verb::raise_fence, granted));
  agenda_.touch(claim);
}

/// A quorum still had the key, and keeps it for us: a lease like any other from here on.
void Engine::adopt(Claim& claim) {
  const ValidityBasis basis = basis_of_round(claim);
  // A clock may have stepped since the round was decided.
  claim.valid_until =
      std::min(claim.valid_until, basis.deadline(nodes_.steps(), basis.votes_needed));
  if (now_ >= claim.valid_until) return fencing_failed(claim, Errc::expired);
  claim.task = Claim::Task::none;
  claim.purpose = Claim::Purpose::acquire;
  claim.phase = Claim::Phase::held;
  claim.was_adopted = true;
  claim.unasked = NodeSet();
  claims_.lease_began(claim);
  claim.granted_at = now_;
  // Any node may have the key, and its previous owner may have given it a longer expiry.
  claim.keys.assume_present(nodes_.all());
  claim.keys.expires_by(gone_by(now_, settings_.max_ttl));
  begin_lease(claim, basis, *claim.work->adopted);
  names_.outlast(claim.round.ttl());
  const CallId request = claim.work->requests.front();
  claim.work->requests.clear();
  outbox_.emit(
      Acquired{request, claim.id(), &claim.round, now_ - claim.round.start(), claim.valid_until});
}

void Engine::on(const ReleaseToken& event) {
  if (closing_.has_begun()) return fail(event.request, Errc::closed, nullptr);
  const auto overlaps = [&event](const Claim& other) {
    return other.names(event.resource) ||
           std::any_of(event.more_resources.begin(), event.more_resources.end(),
                       [&other](const std::string& more) { return other.names(more); });
  };
  claims_.each_of_token(event.token.view(), [&](Claim& other) {
    if (!overlaps(other)) return;
    // Otherwise an extend that is under way would repair nodes after their release, and a node in
    // first contact would get the SET of a lease that was handed on.
    if (other.purpose == Claim::Purpose::extend) {
      other.valid_until = now_;
    } else if (other.task == Claim::Task::none) {
      other.unasked = NodeSet();
      agenda_.touch(other);
    }
  });
  Claim& claim = new_claim_by_token(Claim::Purpose::release, event.request, event.resource,
                                    event.token, settings_.max_ttl);
  claim.set_more_resources(event.more_resources);
  claim.by_operator = event.by_operator;
  claim.work->delay = event.delay;
  claim.keys.assume_present(nodes_.all());
  begin_when_known(claim);
}

void Engine::on(const Inspect& event) {
  if (closing_.has_begun()) return fail(event.request, Errc::closed, nullptr);
  begin_when_known(new_claim_by_token(Claim::Purpose::inspect, event.request, event.resource,
                                      event.token, Duration::zero()));
}

void Engine::on(const Observe& event) {
  if (closing_.has_begun()) return fail(event.request, Errc::closed, nullptr);
  inspect(observers_.add(event));
}

void Engine::inspect(Observation* observation) {
  if (observation == nullptr) return;
  Claim& claim = new_claim_by_token(Claim::Purpose::inspect, observation->observers.front().request,
                                    observation->resource, Token(), Duration::zero());
  observers_.begin(*observation, claim);
  begin_when_known(claim);
}

void Engine::begin_when_known(Claim& claim) {
  if (!nodes_.knows_deployment()) {
    claim.task = Claim::Task::meet_nodes;
    claim.unasked = nodes_.all();
    return;
  }
  switch (claim.purpose) {
    case Claim::Purpose::acquire:
      return;
    case Claim::Purpose::extend:
      return begin_extend(claim,
                          claim.downgraded && !claim.work->adopted ? Verb::downgrade : Verb::extend,
                          claim.round.ttl());
    case Claim::Purpose::release:
      return begin_release_by_token(claim);
    case Claim::Purpose::inspect:
      return begin_inspect(claim);
  }
}

bool Engine::begins_now(Claim& claim) {
  if (claim.task != Claim::Task::meet_nodes) return false;
  begin_when_known(claim);
  return true;
}

void Engine::begin_release_by_token(Claim& claim) {
  claim.task = Claim::Task::release_by_token;
  claim.verb = claim.release_verb();
  voters_.begin_round(claim, 1, settings_.max_ttl);
  claim.keys.expires_by(gone_by(now_, settings_.max_ttl));
  claim.keys.assume_present(nodes_.all());
  claim.unasked = NodeSet();
  const NodeSet asked = rounds_.ask(claim);
  claim.keys.owe_release(claim.keys.present() - asked - claim.unasked);
  agenda_.touch(claim);
}

void Engine::begin_inspect(Claim& claim) {
  claim.task = Claim::Task::inspect;
  claim.verb = Verb::inspect;
  voters_.begin_round(claim, 1, Duration::zero());
  claim.unasked = NodeSet();
  rounds_.ask(claim);
  agenda_.touch(claim);
}

void Engine::judge_release_by_token(Claim& claim) {
  const std::size_t released = claim.round.granted().size();
  const std::size_t refused = claim.round.with(Vote::refused).size();
  if (released >= claim.round.quorum()) return release_decided(claim, std::nullopt);
  // Nodes that did not answer may have had it: only the others prove that it had no majority.
  if (settings_.nodes.size() - refused < claim.round.quorum()) {
    return release_decided(claim, Errc::not_holder);
  }
  if (!claim.round.pending().empty()) return;
  // A node without the key keeps nobody out.
  const bool delayed = claim.work->delay > Duration::zero();
  const bool clean = !delayed && released > 0 && released + refused >= claim.round.quorum();
  release_decided(claim, clean ? std::nullopt : std::optional(Errc::unavailable));
}

void Engine::judge_inspect(Claim& claim) {
  if (!claim.round.pending().empty()) return;
  claim.task = Claim::Task::none;
  claim.phase = Claim::Phase::cleaning_up;
  for (const CallId request : claim.work->requests) {
    outbox_.emit(Inspected{request, claim.id(), &claim.round});
  }
  claim.work->requests.clear();
  if (claim.work->observation) observers_.inspected(claim);
}

}  // namespace redlock::core
