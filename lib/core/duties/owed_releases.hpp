#pragma once

#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/agenda.hpp"
#include "core/duties/closing.hpp"
#include "core/duties/sender.hpp"
#include "core/nodes/nodes.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/waiting/acquisitions.hpp"

namespace redlock::core {

/// Makes sure that no node keeps a key that nobody wants: sends a release for each such key, again
/// and again until the node has answered or the key has expired. The claim's KeyLedger knows which
/// nodes are owed a release; the engine enters them when a claim is over, then calls send(). Rounds
/// sends the first release of a call by token, which is a round of its own.
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

  /// Sends a release to every node that is owed one and can be asked now. The others are asked
  /// after a pause. Nodes that cannot have the key are owed a release only while an interval lasts.
  void send(Claim& claim);
  /// A node that is owed a release came up. The release does not queue the client, which may have
  /// left meanwhile.
  void came_up(Claim& claim);
  /// The timer of a claim that is over is due: keys may have expired, or a release is repeated.
  void fire(Claim& claim);
  /// A node answered a request that wrote the key, or may have written it. If the claim is over,
  /// the node is owed a release; other claims are left alone.
  void written(Claim& claim, NodeIndex node);
  /// A node answered a release, or its connection ended. If the node may still have the key, it is
  /// owed another release, unless the claim goes on.
  void answered(Claim& claim, const Answer& answer);
  /// The node no longer executes requests from earlier connections. If it is a replica, the
  /// releases that it is owed wait until its role changes or the keys expire.
  void acknowledged(NodeIndex node);
  /// The connection to the node is given up: a release follows each SET there that nobody will
  /// count. SETs of leases are left alone: an extend may give the node the key again.
  void undo_sets(NodeIndex node);

 private:
  static constexpr By<OwedReleases> me{};

  [[nodiscard]] Duration pause() const;
  /// The release found no key of ours, but the node still has to keep the interval.
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
