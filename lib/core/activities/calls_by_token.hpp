#pragma once

#include "core/activities/inspections.hpp"
#include "core/activities/leases.hpp"
#include "core/activities/releases.hpp"
#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/agenda.hpp"
#include "core/duties/closing.hpp"
#include "core/duties/failures.hpp"
#include "core/duties/new_claims.hpp"
#include "core/nodes/nodes.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// Calls about a token of which this client has no lease: extend, downgrade, adopt, release. Their
/// round counts the votes of one deployment, so it begins when the nodes have said which.
class CallsByToken {
 public:
  CallsByToken(const Settings& settings, const Instant& now, const Nodes& nodes, Claims& claims,
               Agenda& agenda, const Closing& closing, Failures& failures, NewClaims& new_claims,
               Inspections& inspections, Releases& releases, Leases& leases)
      : settings_(settings),
        now_(now),
        nodes_(nodes),
        claims_(claims),
        agenda_(agenda),
        closing_(closing),
        failures_(failures),
        new_claims_(new_claims),
        inspections_(inspections),
        releases_(releases),
        leases_(leases) {}

  void extend(const ExtendToken& event);
  void downgrade(const DowngradeToken& event);
  void adopt(const Adopt& event);
  void release(const ReleaseToken& event);
  /// Whether the claim waited to know whose votes count. Begins its round if that is known now.
  bool begins_now(Claim& claim);

 private:
  static constexpr By<CallsByToken> me{};

  void begin_when_known(Claim& claim);

  const Settings& settings_;
  const Instant& now_;
  const Nodes& nodes_;
  Claims& claims_;
  Agenda& agenda_;
  const Closing& closing_;
  Failures& failures_;
  NewClaims& new_claims_;
  Inspections& inspections_;
  Releases& releases_;
  Leases& leases_;
};

}  // namespace redlock::core
