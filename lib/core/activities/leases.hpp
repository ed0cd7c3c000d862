#pragma once

#include <optional>

#include "core/activities/inspections.hpp"
#include "core/activities/releases.hpp"
#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/claim/renewal.hpp"
#include "core/duties/agenda.hpp"
#include "core/duties/closing.hpp"
#include "core/duties/failures.hpp"
#include "core/duties/fencing_tokens.hpp"
#include "core/duties/idle_leases.hpp"
#include "core/duties/key_notes.hpp"
#include "core/duties/meter.hpp"
#include "core/duties/names.hpp"
#include "core/duties/observers.hpp"
#include "core/duties/queue_watch.hpp"
#include "core/duties/rounds.hpp"
#include "core/duties/sender.hpp"
#include "core/duties/voters.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/validity_basis.hpp"
#include "core/waiting/wait_queue.hpp"

namespace redlock::core {

/// Renews, extends, downgrades and adopts leases, and reports their loss. Extends and downgrades by
/// token go the same way.
class Leases {
 public:
  Leases(const Settings& settings, const Instant& now, Nodes& nodes, Claims& claims, Outbox& outbox,
         Agenda& agenda, WaitQueue& wait_queue, const Closing& closing, Meter& meter,
         FencingTokens& fencing, Names& names, Observers& observers, QueueWatch& queue_watch,
         IdleLeases& idle_leases, Voters& voters, Sender& sender, KeyNotes& key_notes,
         Rounds& rounds, Failures& failures, Inspections& inspections, Releases& releases)
      : settings_(settings),
        now_(now),
        nodes_(nodes),
        claims_(claims),
        outbox_(outbox),
        agenda_(agenda),
        wait_queue_(wait_queue),
        closing_(closing),
        meter_(meter),
        fencing_(fencing),
        names_(names),
        observers_(observers),
        queue_watch_(queue_watch),
        idle_leases_(idle_leases),
        voters_(voters),
        sender_(sender),
        key_notes_(key_notes),
        rounds_(rounds),
        failures_(failures),
        inspections_(inspections),
        releases_(releases) {}

  void extend(const Extend& event);
  void downgrade(const Downgrade& event);
  /// Tells the holder whether others wait.
  void watch_queue(const WatchQueue& event);
  /// Begins a round that extends or downgrades.
  void begin_extend(Claim& claim, Verb verb, Duration ttl);
  void judge(Claim& claim);
  /// The claim has become a lease: notes the nodes that its deadline rests on, and plans renewals.
  void begin(Claim& claim, const ValidityBasis& basis, const std::optional<RenewalLimits>& limits);
  void adopt(Claim& claim);
  void not_adopted(Claim& claim, Errc why);
  /// Time has come for a lease: it is lost, or something is due.
  void fire(Claim& claim);
  /// A clock has stepped, or keys were forgotten: leases may end sooner.
  void lower_deadlines();

 private:
  static constexpr By<Leases> me{};

  [[nodiscard]] static ValidityBasis basis_of_round(const Claim& claim);
  void extend_won(Claim& claim, const ValidityBasis& basis, Instant deadline);
  void extend_lost(Claim& claim);
  void begin_downgrade(Claim& claim);
  void judge_downgrade(Claim& claim);
  void start_queued_call(Claim& claim);
  void start_queued_extend(Claim& claim);
  void check_fencing_number(Claim& claim);
  void lose(Claim& claim);
  void warn(Claim& claim);

  const Settings& settings_;
  const Instant& now_;
  Nodes& nodes_;
  Claims& claims_;
  Outbox& outbox_;
  Agenda& agenda_;
  WaitQueue& wait_queue_;
  const Closing& closing_;
  Meter& meter_;
  FencingTokens& fencing_;
  Names& names_;
  Observers& observers_;
  QueueWatch& queue_watch_;
  IdleLeases& idle_leases_;
  Voters& voters_;
  Sender& sender_;
  KeyNotes& key_notes_;
  Rounds& rounds_;
  Failures& failures_;
  Inspections& inspections_;
  Releases& releases_;
};

}  // namespace redlock::core
