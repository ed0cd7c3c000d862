#include "api/client/held_leases.hpp"

#include <cstddef>

namespace redlock::api {

void HeldLeases::add(std::shared_ptr<LeaseCell> cell) {
  const std::size_t index = cell->claim().index;
  if (index >= held_.size()) held_.resize(index + 1);
  held_[index] = std::move(cell);
}

const std::shared_ptr<LeaseCell>& HeldLeases::find(core::ClaimId claim) const noexcept {
  if (claim.index >= held_.size()) return none_;
  // The slot may now be another lease's.
  const std::shared_ptr<LeaseCell>& held = held_[claim.index];
  return held && held->claim() == claim ? held : none_;
}

std::shared_ptr<LeaseCell> HeldLeases::take(core::ClaimId claim) noexcept {
  return find(claim) ? std::exchange(held_[claim.index], nullptr) : nullptr;
}

void HeldLeases::end_closed(const std::shared_ptr<LeaseCell>& cell) {
  observing_.over(
      *cell, cell->was_handed_on() ? HoldObservation::End::detached : HoldObservation::End::closed);
  // Signals lost(), so that the holder stops. on_lost is not called: closing is deliberate, and its
  // captures may be gone.
  completions_.spend(cell->take_callbacks());
  if (cell->was_lost()) completions_.notify([cell] { cell->report_loss({}); });
}

}  // namespace redlock::api
