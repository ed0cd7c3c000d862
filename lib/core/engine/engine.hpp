#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/activities/answers.hpp"
#include "core/activities/attempts.hpp"
#include "core/activities/calls_by_token.hpp"
#include "core/activities/contacts.hpp"
#include "core/activities/inspections.hpp"
#include "core/activities/leases.hpp"
#include "core/activities/releases.hpp"
#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/agenda.hpp"
#include "core/duties/clocks.hpp"
#include "core/duties/closing.hpp"
#include "core/duties/enroller.hpp"
#include "core/duties/failures.hpp"
#include "core/duties/fencing_tokens.hpp"
#include "core/duties/idle_leases.hpp"
#include "core/duties/key_notes.hpp"
#include "core/duties/marker_proof.hpp"
#include "core/duties/meter.hpp"
#include "core/duties/names.hpp"
#include "core/duties/new_claims.hpp"
#include "core/duties/observers.hpp"
#include "core/duties/owed_releases.hpp"
#include "core/duties/queue_watch.hpp"
#include "core/duties/reigns.hpp"
#include "core/duties/rounds.hpp"
#include "core/duties/sender.hpp"
#include "core/duties/space_queue.hpp"
#include "core/duties/tracking.hpp"
#include "core/duties/voters.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/commands.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/lost_votes.hpp"
#include "core/waiting/acquisition.hpp"
#include "core/waiting/acquisitions.hpp"
#include "core/waiting/wait_queue.hpp"

namespace redlock::core {

/// The whole algorithm, without sockets, threads or a clock. Its driver
///  1. reads CLOCK_BOOTTIME right before each step: an older instant overstates validity;
///  2. steps it with one event, then carries out the appended commands in their order before the
///     next step (rounds and claims they refer to live until then);
///  3. sends each request in one piece and in order per connection, and answers each with exactly
///     one Answer, in the same order; requests open on a connection that ended are not answered,
///     NodeDown (or the engine's own Disconnect) covers them;
///  4. steps it with TurnEnd if nodes are unproven(), before the commands leave;
///  5. after the steps of a turn asks `next_deadline()` and steps with TimePassed when it has come,
///     *after* reading what has arrived: answers that are there must not be taken for missing.
///
/// step() never blocks, never calls out and, in steady state, never allocates.
class Engine {
 public:
  Engine(Settings settings, Randomness& random);
  // Links point to the settings.
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void step(Instant now, const Event& event, std::vector<Command>& out);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  /// The settings. Their nodes are the configured ones, then the learned ones.
  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  /// The claim; null: the id is stale.
  [[nodiscard]] const Claim* claim(ClaimId id) const { return claims_.find(id); }
  [[nodiscard]] const Link& link(NodeIndex node) const { return nodes_[node]; }
  /// Why a node that is up has no vote for new leases.
  [[nodiscard]] std::string exclusion(NodeIndex node) const { return nodes_.exclusion(node); }
  /// The prospects while there is no quorum.
  [[nodiscard]] Outlook outlook() const { return nodes_.outlook(); }
  /// Nodes that were sent a request for a vote since the last TurnEnd.
  [[nodiscard]] NodeSet unproven() const noexcept { return proof_.unproven(); }
  /// The channel on which nodes notify us; empty before the first Subscribe.
  [[nodiscard]] const Token& client_id() const noexcept { return wait_queue_.client_id(); }
  /// For how long nodes reserve a free resource for the first client in its queue.
  [[nodiscard]] Duration reserved_for() const noexcept { return wait_queue_.reserved_for(); }
  [[nodiscard]] std::size_t claims() const noexcept { return claims_.size(); }
  [[nodiscard]] std::size_t held() const noexcept { return claims_.leases(); }
  /// Nodes whose votes for that claim are not forgotten.
  [[nodiscard]] NodeSet votes(const Claim& claim) const noexcept {
    KeyLedger keys = claim.keys;
    keys.forget_lost(lost_votes_);
    return keys.votes();
  }
  /// For tests, which check from outside what holds in every state.
  template <typename Visit>
  void each_claim(Visit&& visit) const {
    claims_.each(std::forward<Visit>(visit));
  }
  /// Counters since the start, and the state at `now`. Not within a step. Visits every claim that
  /// may be owed something.
  [[nodiscard]] Metrics metrics(Instant now) const;
  /// Claims, acquisitions and keys that were visited one by one.
  [[nodiscard]] std::uint64_t visited() const noexcept {
    return claims_.visited() + acquisitions_.visited() + wait_queue_.visited();
  }
  template <typename Visit>
  void each_acquisition(Visit&& visit) const {
    acquisitions_.each(std::forward<Visit>(visit));
  }

 private:
  static constexpr By<Engine> me{};

  void handle(const Event& event);
  void begin(const Acquire& event);
  void cancel(const Cancel& event);
  void take(const Changed& event);
  void shut_down(const Shutdown& event);
  void fire_due();
  void fire(Claim& claim);
  void use_space();
  void drain() {
    if (!agenda_.touched().empty() || !wait_queue_.woken().empty()) judge_touched();
  }
  void judge_touched();
  void judge(Claim& claim);
  void finish_if_clean(Claim& claim);
  void reap();
  void report_drained();

  Settings settings_;
  Randomness& random_;
  Nodes nodes_;
  Claims claims_;
  Acquisitions acquisitions_;
  LostVotes lost_votes_;

  Instant now_ = Instant::min();
  Outbox outbox_;

  // The duties
  Agenda agenda_{now_, nodes_};
  Tracking tracking_{nodes_, outbox_};
  WaitQueue wait_queue_{
      settings_,          nodes_, outbox_, acquisitions_.pool(), tracking_.resources(),
      tracking_.queues(), random_};
  Clocks clocks_{settings_, now_, nodes_, outbox_};
  Closing closing_{now_, claims_, nodes_, outbox_};
  Enroller enroller_{settings_, now_, closing_, nodes_, lost_votes_, outbox_, random_};
  MarkerProof proof_{settings_, nodes_, outbox_};
  Reigns reigns_{settings_, now_, closing_, enroller_, nodes_, outbox_};
  Meter meter_{settings_, nodes_};
  FencingTokens fencing_{settings_, nodes_, meter_, outbox_};
  Names names_{settings_, now_, nodes_, outbox_};
  Observers observers_{settings_,        now_,   nodes_, claims_, tracking_.resources(),
                       agenda_.timers(), outbox_};
  QueueWatch queue_watch_{settings_, tracking_.queues(), wait_queue_, outbox_};
  IdleLeases idle_leases_{settings_, claims_};
  Voters voters_{now_, nodes_, lost_votes_, idle_leases_, meter_};
  Failures failures_{now_, outbox_};
  NewClaims new_claims_{settings_,   nodes_,       claims_, acquisitions_,
                        lost_votes_, idle_leases_, voters_};
  Sender sender_{settings_, now_,      acquisitions_, nodes_, idle_leases_, clocks_,
                 proof_,    tracking_, fencing_,      names_, wait_queue_,  outbox_};
  OwedReleases owed_releases_{settings_,     now_,    closing_, nodes_,
                              acquisitions_, claims_, agenda_,  sender_};
  KeyNotes key_notes_{now_,     lost_votes_, voters_, acquisitions_, tracking_,
                      fencing_, wait_queue_, sender_, owed_releases_};
  Rounds rounds_{claims_, nodes_, voters_, meter_, agenda_, tracking_, sender_, key_notes_};
  SpaceQueue space_queue_{settings_, nodes_, acquisitions_.pool()};

  // The activities
  Inspections inspections_{outbox_, agenda_, closing_,  observers_,
                           voters_, rounds_, failures_, new_claims_};
  Releases releases_{settings_,   now_,           nodes_,  claims_,   outbox_,     agenda_,
                     wait_queue_, closing_,       meter_,  names_,    observers_,  queue_watch_,
                     voters_,     owed_releases_, rounds_, failures_, inspections_};
  Leases leases_{settings_, now_,    nodes_,     claims_, outbox_,    agenda_,      wait_queue_,
                 closing_,  meter_,  fencing_,   names_,  observers_, queue_watch_, idle_leases_,
                 voters_,   sender_, key_notes_, rounds_, failures_,  inspections_, releases_};
  Attempts attempts_{settings_,     now_,        random_,      nodes_,      claims_,
                     acquisitions_, outbox_,     agenda_,      wait_queue_, clocks_,
                     closing_,      meter_,      fencing_,     names_,      observers_,
                     queue_watch_,  voters_,     sender_,      rounds_,     space_queue_,
                     failures_,     new_claims_, inspections_, releases_,   leases_};
  CallsByToken by_token_{settings_, now_,        nodes_,       claims_,   agenda_, closing_,
                         failures_, new_claims_, inspections_, releases_, leases_};
  Contacts contacts_{
      now_,    random_,        nodes_,      claims_,      acquisitions_, lost_votes_,  outbox_,
      agenda_, tracking_,      wait_queue_, clocks_,      closing_,      enroller_,    proof_,
      reigns_, meter_,         fencing_,    names_,       observers_,    queue_watch_, voters_,
      sender_, owed_releases_, rounds_,     inspections_, leases_,       attempts_,    by_token_};
  Answers answers_{now_,    nodes_,  claims_,   enroller_, proof_,
                   reigns_, rounds_, attempts_, contacts_};
};

}  // namespace redlock::core
