#pragma once

#include "core/activities/inspections.hpp"
#include "core/activities/leases.hpp"
#include "core/activities/releases.hpp"
#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/agenda.hpp"
#include "core/duties/clocks.hpp"
#include "core/duties/closing.hpp"
#include "core/duties/failures.hpp"
#include "core/duties/fencing_tokens.hpp"
#include "core/duties/meter.hpp"
#include "core/duties/names.hpp"
#include "core/duties/new_claims.hpp"
#include "core/duties/observers.hpp"
#include "core/duties/queue_watch.hpp"
#include "core/duties/rounds.hpp"
#include "core/duties/sender.hpp"
#include "core/duties/space_queue.hpp"
#include "core/duties/voters.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/waiting/acquisition.hpp"
#include "core/waiting/acquisitions.hpp"
#include "core/waiting/wait_queue.hpp"

namespace redlock::core {

/// Carries out acquire calls: begins attempts, grants leases, decides when a call asks again.
class Attempts {
 public:
  Attempts(const Settings& settings, const Instant& now, Randomness& random, Nodes& nodes,
           Claims& claims, Acquisitions& acquisitions, Outbox& outbox, Agenda& agenda,
           WaitQueue& wait_queue, Clocks& clocks, const Closing& closing, Meter& meter,
           FencingTokens& fencing, Names& names, Observers& observers, QueueWatch& queue_watch,
           Voters& voters, Sender& sender, Rounds& rounds, SpaceQueue& space_queue,
           Failures& failures, NewClaims& new_claims, Inspections& inspections, Releases& releases,
           Leases& leases)
      : settings_(settings),
        now_(now),
        random_(random),
        nodes_(nodes),
        claims_(claims),
        acquisitions_(acquisitions),
        outbox_(outbox),
        agenda_(agenda),
        wait_queue_(wait_queue),
        clocks_(clocks),
        closing_(closing),
        meter_(meter),
        fencing_(fencing),
        names_(names),
        observers_(observers),
        queue_watch_(queue_watch),
        voters_(voters),
        sender_(sender),
        rounds_(rounds),
        space_queue_(space_queue),
        failures_(failures),
        new_claims_(new_claims),
        inspections_(inspections),
        releases_(releases),
        leases_(leases) {}

  /// Null: refused. The caller begins the first attempt by try_again().
  [[nodiscard]] Acquisition* begin(const Acquire& event);
  void cancel(const Cancel& event);
  /// The client closes.
  void end_all();
  void try_again(Acquisition& acquisition);
  void judge(Claim& claim);
  void judge_fencing(Claim& claim);
  void lose(Claim& claim, Errc why);
  void fire(Acquisition& acquisition);
  void wake(const WaitQueue::Woken& woken);
  /// More nodes may be there, or may vote, than before.
  void retry_connecting();
  void wake_after_outage();

 private:
  static constexpr By<Attempts> me{};

  /// The acquisition waits until the nodes have answered other requests.
  void wait_for_space(Acquisition& acquisition);
  void start(Acquisition& acquisition);
  void raise_fencing_number(Claim& claim);
  void fencing_failed(Claim& claim, Errc why);
  void grant(Claim& claim);
  [[nodiscard]] static Verb verb_for(const Acquisition& acquisition);
  void pause_or_fail(Acquisition& acquisition);
  /// Whether waiting cannot help.
  [[nodiscard]] bool is_hopeless(Acquisition& acquisition) const;
  void plan_next_try(Acquisition& acquisition, Instant at_latest = Instant::max());
  void set_wake_up(Acquisition& acquisition);
  void finish(Acquisition& acquisition, Errc code);

  const Settings& settings_;
  const Instant& now_;
  Randomness& random_;
  Nodes& nodes_;
  Claims& claims_;
  Acquisitions& acquisitions_;
  Outbox& outbox_;
  Agenda& agenda_;
  WaitQueue& wait_queue_;
  Clocks& clocks_;
  const Closing& closing_;
  Meter& meter_;
  FencingTokens& fencing_;
  Names& names_;
  Observers& observers_;
  QueueWatch& queue_watch_;
  Voters& voters_;
  Sender& sender_;
  Rounds& rounds_;
  SpaceQueue& space_queue_;
  Failures& failures_;
  NewClaims& new_claims_;
  Inspections& inspections_;
  Releases& releases_;
  Leases& leases_;
};

}  // namespace redlock::core
