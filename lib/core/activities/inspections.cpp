#include "core/activities/inspections.hpp"

namespace redlock::core {

void Inspections::start(const Inspect& event) {
  if (closing_.has_begun()) return failures_.fail(event.request, Errc::closed, nullptr);
  begin_when_known(new_claims_.make_by_token(Claim::Purpose::inspect, event.request, event.resource,
                                             event.token, Duration::zero()));
}

void Inspections::observe(Observation* observation) {
  if (observation == nullptr) return;
  Claim& claim =
      new_claims_.make_by_token(Claim::Purpose::inspect, observation->observers.front().request,
                                observation->resource, Token(), Duration::zero());
  observers_.begin(*observation, claim);
  begin_when_known(claim);
}

void Inspections::begin_when_known(Claim& claim) {
  if (!new_claims_.waits_for_nodes(claim)) begin(claim);
}

void Inspections::begin(Claim& claim) {
  claim.task.by(me) = Claim::Task::inspect;
  claim.verb.by(me) = Verb::inspect;
  voters_.begin_round(claim, 1, Duration::zero());
  claim.unasked.by(me) = NodeSet();
  rounds_.ask(claim);
  agenda_.touch(claim);
}

void Inspections::judge(Claim& claim) {
  if (!claim.round->pending().empty()) return;
  claim.task.by(me) = Claim::Task::none;
  claim.phase.by(me) = Claim::Phase::cleaning_up;
  for (const CallId request : *claim.work->requests) {
    outbox_.emit(Inspected{request, claim.id(), &*claim.round});
  }
  claim.work->requests.by(me).clear();
  if (claim.work->observation) observers_.inspected(claim);
}

void Inspections::start(const Observe& event) {
  if (closing_.has_begun()) return failures_.fail(event.request, Errc::closed, nullptr);
  observe(observers_.add(event));
}

}  // namespace redlock::core
