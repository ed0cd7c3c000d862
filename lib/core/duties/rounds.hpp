#pragma once

#include <optional>

#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/agenda.hpp"
#include "core/duties/key_notes.hpp"
#include "core/duties/meter.hpp"
#include "core/duties/sender.hpp"
#include "core/duties/tracking.hpp"
#include "core/duties/voters.hpp"
#include "core/engine/messages.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// The round of a claim: which nodes it asks, and as what each node's answer counts in it. What
/// follows from the verdict is the engine's.
///
/// Of a claim, it records the votes, counts off what was unanswered, and adds to `unasked`. The
/// engine begins rounds (Voters::begin_round), and takes nodes out of `unasked` when they come up,
/// go down, or are not needed any more.
class Rounds {
 public:
  Rounds(Claims& claims, const Nodes& nodes, Voters& voters, Meter& meter, Agenda& agenda,
         Tracking& tracking, Sender& sender, KeyNotes& key_notes)
      : claims_(claims),
        nodes_(nodes),
        voters_(voters),
        meter_(meter),
        agenda_(agenda),
        tracking_(tracking),
        sender_(sender),
        key_notes_(key_notes) {}

  /// Asks every node for `claim.verb`. A node that cannot be asked is recorded as absent,
  /// one that owes too many answers as late. If it is
  /// not known yet whether it can be, it is entered in `unasked`. Returns the nodes that were
  /// asked.
  NodeSet ask(Claim& claim);

  /// A node's answer, or that there is none: `failure` is as what that counts. What it says of the
  /// key is noted, whichever round it was asked for. It counts as the node's vote only in the round
  /// that asked, and a grant or an extend only if the node has a vote for it now. If the node has
  /// to be asked again in another form, its vote is the answer to that.
  void take(Claim& claim, const Answer& answer, Vote failure, std::optional<Duration> took);
  /// The same for most answers, with the same effect: a SET that was granted, and of which there is
  /// nothing more to say; a release that was executed.
  void take_grant(Claim& claim, NodeIndex node, const Stamp& stamp, Duration took);
  void take_release(Claim& claim, NodeIndex node, const Stamp& stamp, Duration took);

 private:
  void record(Claim& claim, const Answer& answer, Vote failure, std::optional<Duration> took);

  Claims& claims_;
  const Nodes& nodes_;
  Voters& voters_;
  Meter& meter_;
  Agenda& agenda_;
  Tracking& tracking_;
  Sender& sender_;
  KeyNotes& key_notes_;
};

}  // namespace redlock::core
