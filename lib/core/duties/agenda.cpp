#include "core/duties/agenda.hpp"

namespace redlock::core {

void Agenda::touch(Claim& claim) {
  if (claim.touched) return;
  claim.touched.by(me) = true;
  touched_.push_back(claim.index);
}

void Agenda::retime(Claim& claim) {
  std::optional<Instant> at;
  switch (claim.phase) {
    case Claim::Phase::acquiring:
      at = claim.valid_until;
      break;
    case Claim::Phase::held:
      at = earlier(claim.valid_until, claim.lease().renewal.warn_at(claim.valid_until));
      if (claim.task == Claim::Task::none) {
        // A queued call is due at once, but not in this step: it begins the round anew, to which
        // the step's commands refer.
        at = earlier(at, claim.has_queued_calls() ? now_ : claim.lease().renewal.due());
      }
      break;
    case Claim::Phase::lost:
    case Claim::Phase::by_token:
      break;
    case Claim::Phase::cleaning_up:
      if (!claim.keys->clean()) at = claim.keys->next(nodes_.able().to_write);
      break;
  }
  timers_.set(timer_of(claim), at);
}

}  // namespace redlock::core
