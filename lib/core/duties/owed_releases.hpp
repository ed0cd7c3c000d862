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
/// and again until the node has answered or the key has expired. With KeyLedger, all of which node
/// is sent a release, and when.
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

  /// To every node that is owed one and may be asked now.
  void send(Claim& claim);
  /// A node that is owed one came up. It queues nobody: the client may have left meanwhile.
  void came_up(Claim& claim);
  /// A node answered a request that wrote the key: a claim that is over does not want it.
  void written(Claim& claim, NodeIndex node);
  /// A node answered a release.
  void answered(Claim& claim, const Answer& answer);
  /// Nothing of an earlier connection is executed on that node any more. If it is a replica, what
  /// it is owed waits for a change of its role, or for the expiry.
  void settled(NodeIndex node);
  /// The connection to the node is given up: the release of each SET that nobody will count follows
  /// it.
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
