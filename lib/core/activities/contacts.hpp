#pragma once

#include <optional>
#include <string_view>

#include "core/activities/attempts.hpp"
#include "core/activities/calls_by_token.hpp"
#include "core/activities/inspections.hpp"
#include "core/activities/leases.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/agenda.hpp"
#include "core/duties/clocks.hpp"
#include "core/duties/closing.hpp"
#include "core/duties/enroller.hpp"
#include "core/duties/fencing_tokens.hpp"
#include "core/duties/marker_proof.hpp"
#include "core/duties/meter.hpp"
#include "core/duties/names.hpp"
#include "core/duties/observers.hpp"
#include "core/duties/owed_releases.hpp"
#include "core/duties/queue_watch.hpp"
#include "core/duties/reigns.hpp"
#include "core/duties/rounds.hpp"
#include "core/duties/sender.hpp"
#include "core/duties/tracking.hpp"
#include "core/duties/voters.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/lost_votes.hpp"
#include "core/waiting/acquisitions.hpp"
#include "core/waiting/wait_queue.hpp"

namespace redlock::core {

/// Tends the connections and clocks of the nodes, and serves the claims and acquisitions that wait
/// for a node.
class Contacts {
 public:
  Contacts(const Instant& now, Randomness& random, Nodes& nodes, Claims& claims,
           const Acquisitions& acquisitions, LostVotes& lost_votes, Outbox& outbox, Agenda& agenda,
           Tracking& tracking, WaitQueue& wait_queue, Clocks& clocks, Closing& closing,
           Enroller& enroller, MarkerProof& proof, Reigns& reigns, Meter& meter,
           FencingTokens& fencing, Names& names, Observers& observers, QueueWatch& queue_watch,
           Voters& voters, Sender& sender, OwedReleases& owed_releases, Rounds& rounds,
           Inspections& inspections, Leases& leases, Attempts& attempts, CallsByToken& by_token)
      : now_(now),
        random_(random),
        nodes_(nodes),
        claims_(claims),
        acquisitions_(acquisitions),
        lost_votes_(lost_votes),
        outbox_(outbox),
        agenda_(agenda),
        tracking_(tracking),
        wait_queue_(wait_queue),
        clocks_(clocks),
        closing_(closing),
        enroller_(enroller),
        proof_(proof),
        reigns_(reigns),
        meter_(meter),
        fencing_(fencing),
        names_(names),
        observers_(observers),
        queue_watch_(queue_watch),
        voters_(voters),
        sender_(sender),
        owed_releases_(owed_releases),
        rounds_(rounds),
        inspections_(inspections),
        leases_(leases),
        attempts_(attempts),
        by_token_(by_token) {}

  /// A client that wants nothing, or closes, reads no clocks and lets its name expire: the next
  /// request for a lock reads the clocks and writes the name again.
  [[nodiscard]] bool want_something() const noexcept {
    return !closing_.has_begun() && (claims_.size() > 0 || acquisitions_.size() > 0);
  }
  /// Time has passed.
  void tend();
  void came_up(const NodeUp& event);
  void went_down(const NodeDown& event);
  void drop(NodeIndex node, Vote vote, std::string_view why);
  void end_connection(NodeIndex node, Vote vote, std::string_view why);
  /// Ends connections to nodes that nobody has met: the next handshake marks them.
  void mark_nodes();
  void serve_claims_of(NodeIndex node);
  /// Takes an answer that counts, or the lack of one, which counts as `failure`.
  void take_answer(const Answer& answer, Vote failure, const std::optional<Arrival>& arrival);
  void take_time(NodeIndex node, Duration time, const Arrival& arrival);
  /// The reign of the node's primary stands from now on, or no longer.
  void take_reign(NodeIndex node);

 private:
  static constexpr By<Contacts> me{};

  void take_reign_written(const Answer& answer);

  void kill_suspects(NodeIndex node);
  /// More nodes may vote than before: claims that waited for votes go on.
  void serve_all();
  void take_upkeep(const Answer& answer, const std::optional<Arrival>& arrival);
  void take_tracked(const Answer& answer);
  void take_clock(const Answer& answer, const std::optional<Arrival>& arrival);
  void judge_clocks();
  void end_doubt(NodeSet excluded);

  const Instant& now_;
  Randomness& random_;
  Nodes& nodes_;
  Claims& claims_;
  const Acquisitions& acquisitions_;
  LostVotes& lost_votes_;
  Outbox& outbox_;
  Agenda& agenda_;
  Tracking& tracking_;
  WaitQueue& wait_queue_;
  Clocks& clocks_;
  Closing& closing_;
  Enroller& enroller_;
  MarkerProof& proof_;
  Reigns& reigns_;
  Meter& meter_;
  FencingTokens& fencing_;
  Names& names_;
  Observers& observers_;
  QueueWatch& queue_watch_;
  Voters& voters_;
  Sender& sender_;
  OwedReleases& owed_releases_;
  Rounds& rounds_;
  Inspections& inspections_;
  Leases& leases_;
  Attempts& attempts_;
  CallsByToken& by_token_;
};

}  // namespace redlock::core
