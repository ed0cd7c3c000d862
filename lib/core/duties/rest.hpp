#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/engine/settings.hpp"

namespace redlock::core {

/// A million leases may be held at once, and only a few of them are asked for anything at a time.
/// What a round needs is put away where none is under way, and taken by the next one that begins,
/// of whatever claim.
class Rest {
 public:
  Rest(const Settings& settings, Claims& claims) : settings_(settings), claims_(claims) {}

  /// Something of the claim is under way from now on.
  void wake(Claim& claim) {
    if (!claim.work) take_work(claim);
  }
  /// Nothing is under way: where it is at rest, its work is put away after a while.
  void note_idle(Claim& claim);
  /// A step begins: nothing refers to the work of the claims at rest.
  void begin_step() {
    if (idle_.size() > settings_.most_idle) put_idle_away();
  }
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
