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

  /// Asks every node what the claim's round asks for. A node that cannot be asked is recorded as
  /// absent, or asked as soon as it is up. Returns the nodes that were asked.
  NodeSet ask(Claim& claim);

  /// A node's answer. `failure`: as what it counts that there is none.
  void take(Claim& claim, const Answer& answer, Vote failure, std::optional<Duration> took);
  /// The same of a plain SET that was granted, and of a release that was executed: most answers.
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
