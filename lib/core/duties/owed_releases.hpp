#pragma once

#include "core/claim/acquisitions.hpp"
#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/agenda.hpp"
#include "core/duties/closing.hpp"
#include "core/duties/sender.hpp"
#include "core/engine/messages.hpp"
#include "core/engine/settings.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// Sees to it that no node keeps a key that nobody wants any more: asks for the release of each,
/// and again until the node has answered or the key has expired. The claim's KeyLedger knows which
/// nodes are owed one; the engine enters them there when a claim is over, then calls send(). Rounds
/// sends the first release of a call by token, which is a round of its own.
///
/// Of a claim, it changes what the ledger says of releases, `holds_left`, and whether a release
/// queues the client again.
class OwedReleases {
 public:
  OwedReleases(const Settings& settings, const Instant& now, const Closing& closing,
               const Nodes& nodes, const Acquisitions& acquisitions, Claims& claims, Agenda& agenda,
               Sender& sender)
      : settings_(settings),
        now_(now),
        closing_(closing),
        nodes_(nodes),
        acquisitions_(acquisitions),
        claims_(claims),
        agenda_(agenda),
        sender_(sender) {}

  /// To every node that is owed one and may be asked now. The others are asked after a pause. Nodes
  /// that cannot have the key are owed one only while an interval lasts.
  void send(Claim& claim);
  /// A node that is owed one came up. It queues nobody: the client may have left meanwhile.
  void came_up(Claim& claim);
  /// A node answered a request that wrote the key, or may have written it: a claim that is over
  /// does not want it. Does nothing for other claims.
  void written(Claim& claim, NodeIndex node);
  /// A node answered a release, or its connection ended. If the node may still have the key, it is
  /// owed another one. Does so for no claim that goes on.
  void answered(Claim& claim, const Answer& answer);
  /// Nothing of an earlier connection is executed on that node any more. If it is a replica, what
  /// it is owed waits for a change of its role, or for the expiry.
  void settled(NodeIndex node);
  /// The connection to the node is given up: a release follows each SET there that nobody will
  /// count. Not one of a lease: an extend may give the node its key again.
  void undo_sets(NodeIndex node);

 private:
  [[nodiscard]] Duration pause() const;
  /// The release was executed where our key is not: the interval counts there all the same.
  void note_cooldown(Claim& claim, const Answer& answer);

  const Settings& settings_;
  const Instant& now_;
  const Closing& closing_;
  const Nodes& nodes_;
  const Acquisitions& acquisitions_;
  Claims& claims_;
  Agenda& agenda_;
  Sender& sender_;
};

}  // namespace redlock::core
