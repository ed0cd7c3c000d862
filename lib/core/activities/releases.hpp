#pragma once

#include <optional>

#include "core/activities/inspections.hpp"
#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/agenda.hpp"
#include "core/duties/closing.hpp"
#include "core/duties/failures.hpp"
#include "core/duties/meter.hpp"
#include "core/duties/names.hpp"
#include "core/duties/observers.hpp"
#include "core/duties/owed_releases.hpp"
#include "core/duties/queue_watch.hpp"
#include "core/duties/rounds.hpp"
#include "core/duties/voters.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/waiting/wait_queue.hpp"

namespace redlock::core {

/// Ends leases and attempts. OwedReleases decides when each node is sent a release.
class Releases {
 public:
  Releases(const Settings& settings, const Instant& now, Nodes& nodes, Claims& claims,
           Outbox& outbox, Agenda& agenda, WaitQueue& wait_queue, const Closing& closing,
           Meter& meter, Names& names, Observers& observers, QueueWatch& queue_watch,
           Voters& voters, OwedReleases& owed_releases, Rounds& rounds, Failures& failures,
           Inspections& inspections)
      : settings_(settings),
        now_(now),
        nodes_(nodes),
        claims_(claims),
        outbox_(outbox),
        agenda_(agenda),
        wait_queue_(wait_queue),
        closing_(closing),
        meter_(meter),
        names_(names),
        observers_(observers),
        queue_watch_(queue_watch),
        voters_(voters),
        owed_releases_(owed_releases),
        rounds_(rounds),
        failures_(failures),
        inspections_(inspections) {}

  void release(const Release& event);
  void detach(const Detach& event);
  /// Nobody needs the claim any more: releases its keys. The nodes in `unanswered` will refuse, and
  /// are sent no release.
  void clear(Claim& claim, NodeSet unanswered = {});
  /// The claim is no longer a lease.
  void end_lease(Claim& claim, Claim::Phase next);
  void judge(Claim& claim);
  /// By a token of which this client has no lease.
  void begin_by_token(Claim& claim);
  void judge_by_token(Claim& claim);

 private:
  static constexpr By<Releases> me{};

  void begin(Claim& claim, CallId request);
  void decide(Claim& claim, std::optional<Errc> problem);

  const Settings& settings_;
  const Instant& now_;
  Nodes& nodes_;
  Claims& claims_;
  Outbox& outbox_;
  Agenda& agenda_;
  WaitQueue& wait_queue_;
  const Closing& closing_;
  Meter& meter_;
  Names& names_;
  Observers& observers_;
  QueueWatch& queue_watch_;
  Voters& voters_;
  OwedReleases& owed_releases_;
  Rounds& rounds_;
  Failures& failures_;
  Inspections& inspections_;
};

}  // namespace redlock::core
