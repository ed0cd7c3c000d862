#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/agenda.hpp"
#include "core/duties/clocks.hpp"
#include "core/duties/closing.hpp"
#include "core/duties/enroller.hpp"
#include "core/duties/fencing_tokens.hpp"
#include "core/duties/idle_leases.hpp"
#include "core/duties/key_notes.hpp"
#include "core/duties/marker_proof.hpp"
#include "core/duties/meter.hpp"
#include "core/duties/names.hpp"
#include "core/duties/observers.hpp"
#include "core/duties/owed_releases.hpp"
#include "core/duties/queue_watch.hpp"
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
  [[nodiscard]] std::uint64_t walked() const noexcept {
    return claims_.walked() + acquisitions_.walked() + wait_queue_.walked();
  }
  template <typename Visit>
  void each_acquisition(Visit&& visit) const {
    acquisitions_.each(std::forward<Visit>(visit));
  }

 private:
  // engine.cpp: what happens when
  void handle(const Event& event);
  void on(const Acquire&);
  void on(const Extend&);
  void on(const Downgrade&);
  void on(const Release&);
  void on(const Detach&);
  void on(const ExtendToken&);
  void on(const DowngradeToken&);
  void on(const Adopt&);
  void on(const ReleaseToken&);
  void on(const Inspect&);
  void on(const Observe&);
  void on(const WatchQueue&);
  void on(const Cancel&);
  void on(const Answer&);
  void on(const PlainYeses&);
  void on(const NodeUp&);
  void on(const NodeDown&);
  void on(const Subscribed&);
  void on(const Notification&);
  void on(const Unsubscribed&);
  void on(const Changed&);
  void on(const TimePassed&);
  void on(const TurnEnd&);
  void on(const Shutdown&);
  void take_tracked(const Answer& answer);
  void fire_due();
  /// A client that wants nothing, or closes, reads no clocks and lets its name expire: the next
  /// request for a lock reads the clocks and writes the name again.
  [[nodiscard]] bool wants_something() const noexcept {
    return !closing_.has_begun() && (claims_.size() > 0 || acquisitions_.size() > 0);
  }
  void drain() {
    if (!agenda_.touched().empty() || !wait_queue_.woken().empty()) judge_touched();
  }
  void judge_touched();
  void reap();
  void report_drained();
  void fail(CallId request, Errc code, const Round* round);
  void fail_requests(Claim& claim, Errc code, const Round* round);

  // engine_links.cpp: nodes that come and go
  void tend_links();
  void drop(NodeIndex node, Vote vote, std::string_view why);
  void kill_suspects(NodeIndex node);
  void serve_claims_of(NodeIndex node);
  /// More nodes may vote than before: claims that waited for votes go on.
  void serve_all_claims();
  void take_clock(const Answer& answer, const std::optional<Arrival>& arrival);
  void take_time(NodeIndex node, Duration time, const Arrival& arrival);
  void judge_clocks();
  void end_doubt(NodeSet excluded);
  /// A clock has stepped, or keys were forgotten: leases may end sooner.
  void lower_deadlines();
  void retry_connecting();
  void wake_after_outage();

  // engine_marker.cpp: what a node remembers
  void take_marker_reading(const Answer& answer);
  /// `floor`: the fencing floor that was read with the marker; 0: none was read.
  void take_marker(NodeIndex node, const Stamp& stamp, std::string_view text, std::uint64_t floor);
  void count_held_back(NodeIndex node, std::uint64_t floor);
  /// Takes an answer that is no longer held back, or never had to be.
  void take_counted_plain_yes(NodeIndex node, const PlainYes& plain_yes, std::uint64_t floor,
                              const Arrival& arrival);
  void take_marker_written(const Answer& answer);
  /// Ends connections to nodes that nobody has met: the next handshake marks them.
  void mark_nodes();
  void end_connection(NodeIndex node, Vote vote, std::string_view why);

  // engine_answers.cpp: whom an answer concerns
  void take_answer(const Answer& answer, Vote failure, const std::optional<Arrival>& arrival);
  /// As take_answer(), for a plain yes, as most answers are.
  void take_plain_yes(NodeIndex node, const PlainYes& plain_yes, Arrival arrival);
  /// A fenced SET in its short form was granted: the floor was read after it.
  void take_fenced_plain_yes(NodeIndex node, const PlainYes& plain_yes, std::uint64_t floor,
                             const Arrival& arrival);
  void take_upkeep(const Answer& answer, const std::optional<Arrival>& arrival);
  void judge(Claim& claim);

  // engine_acquire.cpp: attempts, waiting
  Claim& new_claim(Claim::Purpose purpose, std::string_view resource, const Token& token);
  [[nodiscard]] bool has_room() const;
  void try_again(Acquisition& acquisition);
  /// The acquisition waits until the nodes have answered other requests.
  void wait_for_space(Acquisition& acquisition);
  void use_space();
  void start_attempt(Acquisition& acquisition);
  void judge_attempt(Claim& claim);
  void judge_fencing(Claim& claim);
  void raise_fencing_number(Claim& claim);
  void fencing_failed(Claim& claim, Errc why);
  void grant(Claim& claim);
  void begin_lease(Claim& claim, const ValidityBasis& basis,
                   const std::optional<RenewalLimits>& limits);
  [[nodiscard]] static Verb verb_for(const Acquisition& acquisition);
  void lose_attempt(Claim& claim, Errc why);
  void pause_or_fail(Acquisition& acquisition);
  /// Whether waiting cannot help.
  [[nodiscard]] bool is_hopeless(Acquisition& acquisition) const;
  void plan_next_try(Acquisition& acquisition, Instant at_latest = Instant::max());
  void set_wake_up(Acquisition& acquisition);
  void finish(Acquisition& acquisition, Errc code);
  void fire(Acquisition& acquisition);

  // engine_release.cpp: how a lease ends
  void begin_release(Claim& claim, CallId request);
  void end_lease(Claim& claim, Claim::Phase next);
  void clear(Claim& claim, NodeSet unanswered = {});
  void judge_release(Claim& claim);
  void release_decided(Claim& claim, std::optional<Errc> problem);

  // engine_hold.cpp: a lease's life after it was granted
  void begin_extend(Claim& claim, Verb verb, Duration ttl);
  [[nodiscard]] static ValidityBasis basis_of_round(const Claim& claim);
  void judge_extend(Claim& claim);
  void extend_won(Claim& claim, const ValidityBasis& basis, Instant deadline);
  void extend_lost(Claim& claim);
  void begin_downgrade(Claim& claim);
  void judge_downgrade(Claim& claim);
  void start_queued_call(Claim& claim);
  void start_queued_extend(Claim& claim);
  void lose(Claim& claim);
  void warn(Claim& claim);
  void fire(Claim& claim);
  void finish_if_clean(Claim& claim);

  // engine_by_token.cpp: calls about tokens that are not ours
  Claim& new_claim_by_token(Claim::Purpose purpose, CallId request, std::string_view resource,
                            const Token& token, Duration ttl);
  void check_fencing_number(Claim& claim);
  void adopt(Claim& claim);
  /// Begins the round of a call by token as soon as it is known whose votes count.
  void begin_when_known(Claim& claim);
  /// Whether the claim waited to know whose votes count. Begins its round if that is known now.
  bool begins_now(Claim& claim);
  void begin_release_by_token(Claim& claim);
  void begin_inspect(Claim& claim);
  void judge_release_by_token(Claim& claim);
  void judge_inspect(Claim& claim);
  /// Begins an inspection for the observers of a resource; null: nobody observes it.
  void inspect(Observation* observation);

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
  Meter meter_{settings_, nodes_};
  FencingTokens fencing_{settings_, nodes_, meter_, outbox_};
  Names names_{settings_, now_, nodes_, outbox_};
  Observers observers_{settings_,        now_,   nodes_, claims_, tracking_.resources(),
                       agenda_.timers(), outbox_};
  QueueWatch queue_watch_{settings_, tracking_.queues(), wait_queue_, outbox_};
  IdleLeases idle_leases_{settings_, claims_};
  Voters voters_{now_, nodes_, lost_votes_, idle_leases_, meter_};
  Sender sender_{settings_, now_,      acquisitions_, nodes_, idle_leases_, clocks_,
                 proof_,    tracking_, fencing_,      names_, wait_queue_,  outbox_};
  OwedReleases owed_releases_{settings_,     now_,    closing_, nodes_,
                              acquisitions_, claims_, agenda_,  sender_};
  KeyNotes key_notes_{now_,     lost_votes_, voters_, acquisitions_, tracking_,
                      fencing_, wait_queue_, sender_, owed_releases_};
  Rounds rounds_{claims_, nodes_, voters_, meter_, agenda_, tracking_, sender_, key_notes_};
  SpaceQueue for_space_{settings_, nodes_, acquisitions_.pool()};
};

}  // namespace redlock::core
