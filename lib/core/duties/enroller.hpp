#pragma once

#include <cstdint>
#include <optional>

#include "core/duties/closing.hpp"
#include "core/membership/enrolment.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/commands.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/lost_votes.hpp"

namespace redlock::core {

/// Makes nodes members without an operator. Enrolment decides; this class carries the decisions
/// out, one write at a time, after the readings that confirm it. Before a lock is requested, it
/// writes nothing. It also has markers read that no vote would show, and connects to members that
/// the settings do not name. Nothing else of this client writes a marker on a connection that is
/// up.
class Enroller {
 public:
  Enroller(const Settings& settings, const Instant& now, const Closing& closing, Nodes& nodes,
           LostVotes& lost_votes, Outbox& outbox, Randomness& random)
      : settings_(settings),
        now_(now),
        closing_(closing),
        nodes_(nodes),
        lost_votes_(lost_votes),
        outbox_(outbox),
        random_(random),
        enrolment_(settings.max_ttl, settings.quarantine) {}

  /// A lock is requested: from now on, nodes can be marked and taken back. Returns true the first
  /// time.
  [[nodiscard]] bool want_votes() noexcept;
  /// Whether a lock was requested at some time.
  [[nodiscard]] bool wants_votes() const noexcept { return wants_votes_; }
  /// Whether the handshake marks a node that nobody has met. A client that only inspects locks
  /// leaves nodes as they are: a marker and a quarantine would come from its own options, which
  /// need not be those of the other clients.
  [[nodiscard]] bool may_mark(NodeIndex node) const {
    return settings_.restart_guard && wants_votes_ && !closing_.has_begun() &&
           nodes_.may_mark(node);
  }
  /// Whether the node is connected but unmarked, or its marker is outdated, so that another
  /// handshake has to mark it.
  [[nodiscard]] bool is_to_be_marked(NodeIndex node) const;

  /// The step has made all its changes. Begins what enrolment is to do next.
  void end_step() {
    if (due_ || again_at_ || waits_until_) act();
  }
  [[nodiscard]] Instant deadline() const noexcept;
  /// Whether a client that closes can still make a node a member: one node has no vote, and another
  /// one is being connected to. An opening that one more node completes is not left half done.
  [[nodiscard]] bool may_still_enrol() const;

  // --- events -----------------------------------------------------------------------------------
  void came_up() noexcept { due_ = true; }
  void dropped(NodeIndex node) noexcept;
  /// The node has no vote because of its marker. This is reported when enrolment has nothing left
  /// to do about it.
  void note_denied(NodeIndex node) noexcept {
    unenrolled_.add(node);
    due_ = true;
  }
  /// The node's marker was read and has not changed.
  void read(NodeIndex node, const Stamp& stamp) noexcept;
  /// The node did not write its marker. If this client had a write under way there, enrolment
  /// decides again after a second.
  void refused(NodeIndex node);
  struct Written {
    bool changed = false;     ///< the marker changed unexpectedly: another handshake is due
    bool was_member = false;  ///< the node was a voter: its answers to earlier requests count
    bool as_new = false;      ///< the node becomes active by this write: see opened_as_new
  };
  /// The node has a marker now, ours or another client's. Unless the marker changed, take_marker()
  /// follows as soon as the held-back answers are counted.
  [[nodiscard]] Written written(const Answer& answer);
  void take_marker(const Answer& answer, const Written& what);
  /// Reports the node if it still has no vote.
  void report(NodeIndex node);

 private:
  static constexpr By<Enroller> me{};

  void act();
  void watch_markers();
  void learn_members();
  void begin_writing(const Enrolment::Write& write);
  void ask_to_confirm(const Enrolment::Confirm& confirm);
  void begin_wait(const Enrolment::Wait& wait);
  void report_unenrolled();

  const Settings& settings_;
  const Instant& now_;
  const Closing& closing_;
  Nodes& nodes_;
  LostVotes& lost_votes_;
  Outbox& outbox_;
  Randomness& random_;
  Enrolment enrolment_;
  bool due_ = false;                    ///< something changed that enrolment has to consider
  bool wants_votes_ = false;            ///< a lock was requested at some time
  std::optional<MarkerWrite> writing_;  ///< the write under way
  NodeSet confirming_;  ///< nodes that were asked to confirm their marker and have not answered
  std::uint16_t confirming_pass_ = 0;   ///< the pass that `confirming_` belongs to
  NodeSet unenrolled_;                  ///< nodes without a vote that are still to be reported
  std::optional<Instant> again_at_;     ///< when to try again after a refused write
  std::optional<Instant> waits_until_;  ///< when the wait of enrolment ends
  std::uint16_t wait_ = 0;              ///< the number of that wait
};

}  // namespace redlock::core
