#pragma once

#include <cstdint>
#include <optional>

#include "core/duties/closing.hpp"
#include "core/engine/commands.hpp"
#include "core/engine/messages.hpp"
#include "core/engine/outbox.hpp"
#include "core/engine/settings.hpp"
#include "core/membership/enrolment.hpp"
#include "core/nodes/lost_votes.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"
#include "core/randomness.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// Makes nodes members without an operator. Enrolment decides; this carries it out, one writing at
/// a time, after the readings that confirm it. Nothing is written before a lock is asked for. Also
/// has markers read again that no vote would show, and connects to members that the settings do not
/// name. Nothing else of this client writes a marker on a connection that is up.
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

  /// A lock is asked for: nodes may be marked and taken back from now on. True: the first time.
  [[nodiscard]] bool want_votes() noexcept;
  /// Whether a node that nobody has met is marked by its handshake. A client that only inspects
  /// locks leaves nodes as they are: a marker and a quarantine would come from its own options,
  /// which need not be those of the other clients.
  [[nodiscard]] bool may_mark(NodeIndex node) const {
    return settings_.restart_guard && wants_votes_ && !closing_.has_begun() &&
           nodes_.may_mark(node);
  }
  /// Whether the node is connected, and was met without a mark: another handshake marks it.
  [[nodiscard]] bool is_to_be_marked(NodeIndex node) const;

  /// The step has changed what it will. Begins what is to be done next.
  void end_step() {
    if (due_ || again_at_ || waits_until_) act();
  }
  [[nodiscard]] Instant deadline() const noexcept;
  /// Whether a client that closes may still make a node a member: a node has no vote, and another
  /// one is being connected to. No opening is left half done that one more node completes.
  [[nodiscard]] bool may_still_enrol() const;

  // --- events -----------------------------------------------------------------------------------
  void came_up() noexcept { due_ = true; }
  void dropped(NodeIndex node) noexcept;
  /// The node has no vote for its marker. That is reported once nothing is done about it.
  void note_denied(NodeIndex node) noexcept {
    unenrolled_.add(node);
    due_ = true;
  }
  /// The node's marker was read, and is the one that is known.
  void read(NodeIndex node, const Stamp& stamp) noexcept;
  /// The node did not write. If it was asked to, it is asked again after a second.
  void refused(NodeIndex node);
  struct Written {
    bool changed = false;     ///< unexpectedly: another handshake is due
    bool was_member = false;  ///< what the node was asked before counts
    bool as_new = false;      ///< see opened_as_new
  };
  /// There is a marker now, ours or another's. Unless it changed, take_marker() follows as soon as
  /// what was held back is counted.
  [[nodiscard]] Written written(const Answer& answer);
  void take_marker(const Answer& answer, const Written& what);
  /// Reports a node that has no vote all the same.
  void report(NodeIndex node);

 private:
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
  bool due_ = false;
  bool wants_votes_ = false;
  std::optional<MarkerWrite> writing_;
  NodeSet confirming_;  ///< read again, and not answered
  std::uint16_t confirming_pass_ = 0;
  NodeSet unenrolled_;
  std::optional<Instant> again_at_;
  std::optional<Instant> waits_until_;
  std::uint16_t wait_ = 0;
};

}  // namespace redlock::core
