#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/vocabulary/settings.hpp"

namespace redlock::core {

/// Gives a claim its Claim::Work when something of it gets under way, and takes the work of idle
/// leases back for other claims. A million leases can be held at once, and only a few of them are
/// busy at a time. Nothing else gives a claim its work or takes it.
class IdleLeases {
 public:
  IdleLeases(const Settings& settings, Claims& claims) : settings_(settings), claims_(claims) {}

  /// Gives the claim its work: something of it gets under way.
  void wake(Claim& claim) {
    if (!claim.work) take_work(claim);
  }
  /// Nothing of the claim is under way. If the claim is an idle lease, its work is taken back at
  /// the beginning of a later step. Up to Settings::most_idle idle claims keep their work.
  void note_idle(Claim& claim);
  /// A step begins: commands no longer refer to the work of idle claims.
  void begin_step() {
    if (idle_.size() > settings_.most_idle) archive_idle();
  }
  /// Takes back the work of a claim that no longer needs it.
  void archive(Claim& claim);

 private:
  static constexpr By<IdleLeases> me{};

  void take_work(Claim& claim);
  void archive_idle();

  const Settings& settings_;
  Claims& claims_;
  std::vector<std::unique_ptr<Claim::Work>> spare_work_;  ///< for the next claims that need some
  std::vector<std::uint32_t> idle_;  ///< claims that became idle and still have their work
};

}  // namespace redlock::core
