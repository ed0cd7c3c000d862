#include "core/duties/rest.hpp"

#include <utility>

namespace redlock::core {

void Rest::take_work(Claim& claim) {
  if (spare_work_.empty()) {
    claim.work = std::make_unique<Claim::Work>();
  } else {
    claim.work = std::move(spare_work_.back());
    spare_work_.pop_back();
    claim.work->reset();
  }
  claim.round.take_out(std::move(claim.work->votes));
}

void Rest::put_away(Claim& claim) {
  claim.work->votes = claim.round.put_away();
  // No more work than that can be in use at once if each node is to answer.
  if (spare_work_.size() < settings_.max_unanswered) {
    spare_work_.push_back(std::move(claim.work));
  } else {
    claim.work.reset();
  }
}

void Rest::note_idle(Claim& claim) {
  if (claim.idle || !claim.is_at_rest()) return;
  claim.idle = true;
  idle_.push_back(claim.index);
}

void Rest::put_idle_away() {
  for (const std::uint32_t index : idle_) {
    Claim& claim = claims_.at(index);
    claim.idle = false;
    if (claim.live && claim.is_at_rest()) put_away(claim);
  }
  idle_.clear();
}

}  // namespace redlock::core
