#include "core/duties/idle_leases.hpp"

#include <utility>

namespace redlock::core {

void IdleLeases::take_work(Claim& claim) {
  if (spare_work_.empty()) {
    claim.work.by(me) = std::make_unique<Claim::Work>();
  } else {
    claim.work.by(me) = std::move(spare_work_.back());
    spare_work_.pop_back();
    claim.work->reset(me);
  }
  claim.round.by(me).restore(std::move(claim.work->votes.by(me)));
}

void IdleLeases::archive(Claim& claim) {
  claim.work->votes.by(me) = claim.round.by(me).archive();
  // A node never owes more than max_unanswered answers, so more spare work would rarely be used.
  if (spare_work_.size() < settings_.max_unanswered) {
    spare_work_.push_back(std::move(claim.work.by(me)));
  } else {
    claim.work.by(me).reset();
  }
}

void IdleLeases::note_idle(Claim& claim) {
  if (claim.idle || !claim.is_idle()) return;
  claim.idle.by(me) = true;
  idle_.push_back(claim.index);
}

void IdleLeases::archive_idle() {
  for (const std::uint32_t index : idle_) {
    Claim& claim = claims_.at(index);
    claim.idle.by(me) = false;
    if (claim.live && claim.is_idle()) archive(claim);
  }
  idle_.clear();
}

}  // namespace redlock::core
