#pragma once

#include <cstdint>

#include "core/claim/claim.hpp"
#include "core/duties/fencing_tokens.hpp"
#include "core/duties/owed_releases.hpp"
#include "core/duties/sender.hpp"
#include "core/duties/tracking.hpp"
#include "core/duties/voters.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/lost_votes.hpp"
#include "core/waiting/acquisitions.hpp"
#include "core/waiting/wait_queue.hpp"

namespace redlock::core {

/// Notes what a node's answer says about the claim's key there, whatever becomes of the round:
/// whether the key is ours, whether it is a vote, and what to ask the node next. Counts no votes.
class KeyNotes {
 public:
  KeyNotes(const Instant& now, const LostVotes& lost_votes, const Voters& voters,
           Acquisitions& acquisitions, Tracking& tracking, FencingTokens& fencing,
           WaitQueue& wait_queue, Sender& sender, OwedReleases& owed_releases)
      : now_(now),
        lost_votes_(lost_votes),
        voters_(voters),
        acquisitions_(acquisitions),
        tracking_(tracking),
        fencing_(fencing),
        wait_queue_(wait_queue),
        sender_(sender),
        owed_releases_(owed_releases) {}

  /// A request for the lock was answered, or its connection ended.
  void set_answered(Claim& claim, const Answer& answer);
  /// A node granted the request with a plain yes. `is_voter`: the node's vote counts.
  void granted(Claim& claim, NodeIndex node, std::uint16_t round, bool is_voter);
  /// An extend was answered, or its connection ended. The key stays a vote as long as each answer
  /// says that the node kept it. If the round is decided, a node that lacks the key is repaired.
  void extend_answered(Claim& claim, const Answer& answer);
  /// The round of an extend is decided: gives the key to nodes that said in it that they lack the
  /// key. Not if fewer nodes than a quorum may still have it: somebody may have broken the lock.
  void repair(Claim& claim, NodeSet nodes);
  /// A release was answered, or its connection ended; the answer is passed to OwedReleases. Clients
  /// that are queued on the node are notified. A node that deleted the key for an operator is asked
  /// to record who that was.
  void release_answered(Claim& claim, const Answer& answer);
  /// A grant, or a request to raise the fencing number, was answered. A node that grants after the
  /// others were sent a higher number is sent that number, too.
  void fencing_answered(Claim& claim, const Answer& answer);

 private:
  static constexpr By<KeyNotes> me{};

  void note_set(Claim& claim, const Answer& answer);
  void note_position(Claim& claim, const Answer& answer);
  static void note_in_basis(Claim& claim, NodeIndex node, std::uint16_t round);
  void note_obstacle(const Claim& claim, const Answer& answer);
  void give_orphan_expiry(Claim& claim, const Answer& answer);
  static void forget_key(Claim& claim, const Answer& answer);
  [[nodiscard]] bool may_repair(const Claim& claim, NodeSet nodes) const;

  const Instant& now_;
  const LostVotes& lost_votes_;
  const Voters& voters_;
  Acquisitions& acquisitions_;
  Tracking& tracking_;
  FencingTokens& fencing_;
  WaitQueue& wait_queue_;
  Sender& sender_;
  OwedReleases& owed_releases_;
};

}  // namespace redlock::core
