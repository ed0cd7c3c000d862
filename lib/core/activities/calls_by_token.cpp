#include "core/activities/calls_by_token.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "core/votes/validity.hpp"

namespace redlock::core {
namespace {

// The known terms of somebody else's lock.
SpecialTerms terms_of(std::span<const std::string> more_resources, std::string_view group = {}) {
  return {{more_resources.begin(), more_resources.end()}, std::string(group), 0, {}, {}};
}

}  // namespace

void CallsByToken::extend(const ExtendToken& event) {
  if (closing_.has_begun()) return failures_.fail(event.request, Errc::closed, nullptr);
  Claim& claim = new_claims_.make_by_token(Claim::Purpose::extend, event.request, event.resource,
                                           event.token, event.ttl);
  claim.set_terms(me, terms_of(event.more_resources));
  claim.valid_until.by(me) = valid_until(now_, event.ttl);
  claims_.index_by_token(claim);
  begin_when_known(claim);
}

void CallsByToken::downgrade(const DowngradeToken& event) {
  if (closing_.has_begun()) return failures_.fail(event.request, Errc::closed, nullptr);
  Claim& claim = new_claims_.make_by_token(Claim::Purpose::extend, event.request, event.resource,
                                           event.token, settings_.max_ttl);
  claim.downgrade(me);
  // A downgrade extends nothing and has no deadline. A release of the token ends it.
  claim.valid_until.by(me) = Instant::max();
  claims_.index_by_token(claim);
  begin_when_known(claim);
}

void CallsByToken::adopt(const Adopt& event) {
  if (closing_.has_begun()) return failures_.fail(event.request, Errc::closed, nullptr);
  if (!new_claims_.has_room()) return failures_.fail(event.request, Errc::limit_reached, nullptr);
  Claim& claim = new_claims_.make_by_token(Claim::Purpose::extend, event.request, event.resource,
                                           event.token, event.ttl);
  claim.set_terms(me, terms_of(event.more_resources, event.group));
  // The lock may be a writer's: its downgrade may have reached too few nodes.
  if (claim.terms().kind() == Kind::shared) claim.downgrade(me);
  claim.valid_until.by(me) = valid_until(now_, event.ttl);
  claim.work->adopted.by(me) = event.renewal;
  if (event.fencing_number != 0) FencingTokens::hand_on(claim, event.fencing_number);
  claims_.index_by_token(claim);
  begin_when_known(claim);
}

void CallsByToken::release(const ReleaseToken& event) {
  if (closing_.has_begun()) return failures_.fail(event.request, Errc::closed, nullptr);
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
      other.valid_until.by(me) = now_;
    } else if (other.task == Claim::Task::none) {
      other.unasked.by(me) = NodeSet();
      agenda_.touch(other);
    }
  });
  Claim& claim = new_claims_.make_by_token(Claim::Purpose::release, event.request, event.resource,
                                           event.token, settings_.max_ttl);
  claim.set_terms(me, terms_of(event.more_resources));
  claim.by_operator.by(me) = event.by_operator;
  claim.work->delay.by(me) = event.delay;
  claim.keys.by(me).assume_present(nodes_.all());
  begin_when_known(claim);
}

void CallsByToken::begin_when_known(Claim& claim) {
  if (new_claims_.waits_for_nodes(claim)) return;
  switch (claim.purpose) {
    case Claim::Purpose::acquire:
      return;
    case Claim::Purpose::extend:
      return leases_.begin_extend(
          claim, claim.downgraded() && !claim.work->adopted ? Verb::downgrade : Verb::extend,
          claim.round->ttl());
    case Claim::Purpose::release:
      return releases_.begin_by_token(claim);
    case Claim::Purpose::inspect:
      return inspections_.begin(claim);
  }
}

bool CallsByToken::begins_now(Claim& claim) {
  if (claim.task != Claim::Task::meet_nodes) return false;
  begin_when_known(claim);
  return true;
}

}  // namespace redlock::core
