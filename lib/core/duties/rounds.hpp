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
#include "core/nodes/nodes.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// Carries out the round of a claim: asks the nodes, and counts each node's answer. The activities
/// begin rounds (Voters::begin_round), decide what follows from the verdict, and remove nodes from
/// `unasked` when they come up, go down, or are no longer needed.
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

  /// Sends `claim.verb` to every node, and returns the nodes that were asked. A node that cannot be
  /// asked is recorded as absent, one that owes too many answers as late. A node is entered in
  /// `unasked` while it is unknown whether it can be asked.
  NodeSet ask(Claim& claim);

  /// Takes a node's answer, or the lack of one, which counts as `failure`. The key's state in the
  /// answer is recorded, whichever round it belongs to. It counts as the node's vote only in the
  /// round that requested it, and a grant or an extend only if the node has a vote for it now. If
  /// the node has to be asked again in another form, its vote is the answer to that request.
  void take(Claim& claim, const Answer& answer, Vote failure, std::optional<Duration> took);
  /// Short forms of take(), with the same effect, for the most frequent answers: a SET that was
  /// granted with a plain yes, and a release that was executed.
  void take_grant(Claim& claim, NodeIndex node, const Stamp& stamp, Duration took);
  void take_release(Claim& claim, NodeIndex node, const Stamp& stamp, Duration took);

 private:
  static constexpr By<Rounds> me{};

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
