#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "api/client/completions.hpp"
#include "api/client/observing.hpp"
#include "api/leases/lease_cell.hpp"
#include "core/vocabulary/stamp.hpp"
#include "redlock/observer.hpp"

namespace redlock::api {

/// The leases that are not over, as far as the loop's thread knows: a holder may have ended one,
/// and its call is on its way. For the loop's thread only.
class HeldLeases {
 public:
  HeldLeases(Completions& completions, Observing& observing) noexcept
      : completions_(completions), observing_(observing) {}

  void add(std::shared_ptr<LeaseCell> cell);
  /// Null: that lease is over.
  [[nodiscard]] const std::shared_ptr<LeaseCell>& find(core::ClaimId claim) const noexcept;

  /// Takes the lease out. The holder of a lost lease gets the error that `explain` makes, whoever
  /// noticed the loss.
  template <typename Explain>
  void end(core::ClaimId claim, HoldObservation::End how, const Explain& explain) {
    const std::shared_ptr<LeaseCell> cell = take(claim);
    if (!cell) return;
    const bool lost = cell->was_lost();
    observing_.over(*cell, lost ? HoldObservation::End::lost : how);
    if (!lost) return completions_.spend(cell->take_callbacks());
    completions_.notify([cell, error = explain(*cell)] { cell->report_loss(error); });
  }
  /// The client closes: ends all leases. `detach` is called for the claims of those that were
  /// handed on: their calls may not have arrived, and closing releases all others.
  template <typename Detach>
  void end_all(const Detach& detach) {
    for (std::shared_ptr<LeaseCell>& held : held_) {
      if (!held) continue;
      const std::shared_ptr<LeaseCell> cell = std::exchange(held, nullptr);
      static_cast<void>(cell->lose());
      if (cell->was_handed_on()) detach(cell->claim());
      end_closed(cell);
    }
  }

 private:
  [[nodiscard]] std::shared_ptr<LeaseCell> take(core::ClaimId claim) noexcept;
  void end_closed(const std::shared_ptr<LeaseCell>& cell);

  std::vector<std::shared_ptr<LeaseCell>> held_;  // by the index of their claims
  const std::shared_ptr<LeaseCell> none_;
  Completions& completions_;
  Observing& observing_;
};

}  // namespace redlock::api
