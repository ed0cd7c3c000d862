#pragma once

#include "core/duties/agenda.hpp"
#include "core/duties/closing.hpp"
#include "core/duties/failures.hpp"
#include "core/duties/new_claims.hpp"
#include "core/duties/observation.hpp"
#include "core/duties/observers.hpp"
#include "core/duties/rounds.hpp"
#include "core/duties/voters.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"

namespace redlock::core {

/// Asks every node what it stores for a resource: for a caller, or for its observers.
class Inspections {
 public:
  Inspections(Outbox& outbox, Agenda& agenda, const Closing& closing, Observers& observers,
              Voters& voters, Rounds& rounds, Failures& failures, NewClaims& new_claims)
      : outbox_(outbox),
        agenda_(agenda),
        closing_(closing),
        observers_(observers),
        voters_(voters),
        rounds_(rounds),
        failures_(failures),
        new_claims_(new_claims) {}

  void start(const Inspect& event);
  void start(const Observe& event);
  /// For the observers of a resource; null: nobody observes it.
  void observe(Observation* observation);
  /// The nodes have said whose votes count.
  void begin(Claim& claim);
  void judge(Claim& claim);

 private:
  static constexpr By<Inspections> me{};

  void begin_when_known(Claim& claim);

  Outbox& outbox_;
  Agenda& agenda_;
  const Closing& closing_;
  Observers& observers_;
  Voters& voters_;
  Rounds& rounds_;
  Failures& failures_;
  NewClaims& new_claims_;
};

}  // namespace redlock::core
