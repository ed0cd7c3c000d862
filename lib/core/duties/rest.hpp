#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/engine/settings.hpp"

namespace redlock::core {

/// A million leases may be held at once, and only a few of them are asked for anything at a time. A
/// claim has its Claim::Work only while something is under way. This puts the work of leases at
/// rest away, and gives it to the next claim that begins something. Nothing else gives a claim its
/// work or takes it.
class Rest {
 public:
  Rest(const Settings& settings, Claims& claims) : settings_(settings), claims_(claims) {}

  /// Something of the claim is under way from now on.
  void wake(Claim& claim) {
    if (!claim.work) take_work(claim);
  }
  /// Nothing of the claim is under way. If it is at rest then, its work is put away at the
  /// beginning of a later step. Up to Settings::most_idle claims at rest keep their work.
  void note_idle(Claim& claim);
  /// A step begins. No command refers to the work of claims at rest any more.
  void begin_step() {
    if (idle_.size() > settings_.most_idle) put_idle_away();
  }
  /// The claim needs its work no more.
  void put_away(Claim& claim);

 private:
  void take_work(Claim& claim);
  void put_idle_away();

  const Settings& settings_;
  Claims& claims_;
  std::vector<std::unique_ptr<Claim::Work>> spare_work_;
  std::vector<std::uint32_t> idle_;  ///< claims that were at rest, and have their work
};

}  // namespace redlock::core
