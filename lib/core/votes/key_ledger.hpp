#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/lost_votes.hpp"
#include "core/votes/validity.hpp"

namespace redlock::core {

/// Owns the record of what one token may have left on the nodes: which nodes may have its key,
/// which requests that write or delete the key are in flight, and which nodes are owed a release.
/// The record alone decides which node is sent a release, and when. It must not depend on rounds,
/// links or verbs.
///
/// A node is *owed* a release until one is in flight to it. After a release fails, the node is owed
/// another. A node is *indeterminate* after its connection broke with a request unanswered: the
/// node can still execute the request, so the key can appear there after it was found absent.
class KeyLedger {
 public:
  // --- the key is written -----------------------------------------------------------------------
  /// A request that may write the key leaves for these nodes.
  void write_sent(NodeSet nodes) noexcept { present_ = present_ | nodes; }
  /// A SET leaves for these nodes: until it is answered, a release may have to follow it.
  void set_sent(NodeSet nodes) noexcept { set_in_flight_ = set_in_flight_ | nodes; }
  /// The SET was answered, or its connection ended.
  void set_answered(NodeIndex node) noexcept { set_in_flight_.remove(node); }
  /// An extend leaves for these nodes: it may write the key until it is answered.
  void extend_sent(NodeSet nodes) noexcept { extend_in_flight_ = extend_in_flight_ | nodes; }
  void extend_answered(NodeIndex node) noexcept { extend_in_flight_.remove(node); }
  /// The connection broke with a request that writes the key unanswered.
  void write_unanswered(NodeIndex node) noexcept {
    indeterminate_.add(node);
    write_in_doubt_.add(node);
  }
  /// The node said that it does not have the key.
  void absent(NodeIndex node) noexcept { present_.remove(node); }
  /// A request that sets or extends the key with this TTL was sent.
  void asked_for(Duration ttl, Instant now) noexcept {
    longest_ = std::max(longest_, ttl);
    expires_by(gone_by(now, ttl));
  }
  /// The longest TTL of all requests.
  [[nodiscard]] Duration longest_asked() const noexcept { return longest_; }
  /// A node has written the key at some time until now, with any of the requested TTLs.
  void may_be_written_until(Instant now) noexcept { expires_by(gone_by(now, longest_)); }
  /// By this instant, all nodes but the indeterminate ones have forgotten the key.
  void expires_by(Instant at) noexcept {
    expired_by_ = std::max(expired_by_, at);
    gone_by_ = std::max(gone_by_, at);
  }

  // --- the key is a vote ------------------------------------------------------------------------
  /// The node wrote the key while it had a vote, and has kept the key since.
  void voted(NodeIndex node) noexcept { voted_.add(node); }
  void vote_forgotten(NodeIndex node) noexcept { voted_.remove(node); }
  /// There are no votes at this point: only losses from here on matter.
  void begin_votes(const LostVotes& lost) noexcept { votes_lost_ = lost.count(); }
  /// Removes the votes that were lost since the last call.
  void forget_lost(const LostVotes& lost) noexcept {
    if (votes_lost_ == lost.count()) return;
    voted_ = voted_ - lost.since(votes_lost_);
    votes_lost_ = lost.count();
  }
  [[nodiscard]] bool has_vote_of(NodeIndex node) const noexcept { return voted_.has(node); }

  // --- the key is released ----------------------------------------------------------------------
  /// Every node that may have the key is owed a release.
  void owe_release() noexcept { owe_release_but_for({}); }
  /// Every node that may have the key is owed a release, except those of `unanswered` whose SET is
  /// in flight.
  void owe_release_but_for(NodeSet unanswered) noexcept {
    owed_ = present_ - release_in_flight_ - (unanswered & set_in_flight_);
  }
  void owe_release(NodeSet nodes) noexcept { owed_ = owed_ | nodes; }
  /// Each of these nodes counts as having the key, so that it is owed a release in any case.
  void assume_present(NodeSet nodes) noexcept { present_ = nodes; }
  /// Nothing is owed after this instant, even if keys last longer.
  void owe_until(Instant at) noexcept { expired_by_ = std::min(expired_by_, at); }
  /// The token has a new owner, who releases the key.
  void hand_over() noexcept { present_ = NodeSet(); }
  /// Nothing more is owed to nodes that cannot have the key.
  void forgive_absent() noexcept { owed_ = owed_ & (present_ | indeterminate_); }
  /// Nodes that are owed a release: it is to be sent, and is not in flight.
  [[nodiscard]] NodeSet to_release() const noexcept { return owed_; }
  void release_sent(NodeSet nodes) noexcept {
    release_in_flight_ = release_in_flight_ | nodes;
    owed_ = owed_ - nodes;
  }
  /// When to try again if no release could be sent, or no answer came.
  void resend_at(Instant at) noexcept { resend_at_ = at; }

  /// A SET that nobody will count is unanswered on a connection that is given up. The server still
  /// executes what it has received, so a release has to follow the SET.
  [[nodiscard]] bool wants_undo(NodeIndex node) const noexcept {
    return set_in_flight_.has(node) && !release_in_flight_.has(node) && present_.has(node);
  }
  /// Whether a release has to follow a SET on any node.
  [[nodiscard]] bool wants_undo() const noexcept {
    return !((set_in_flight_ & present_) - release_in_flight_).empty();
  }
  void undo_sent(NodeSet nodes) noexcept { release_in_flight_ = release_in_flight_ | nodes; }
  /// Whether the node may have the key, and no release of it is owed or in flight.
  [[nodiscard]] bool wants_release(NodeIndex node) const noexcept {
    return present_.has(node) && !release_in_flight_.has(node) && !owed_.has(node);
  }

  enum class Release : std::uint8_t {
    done,       ///< the node does not have the key
    refused,    ///< an error: nothing was executed
    unanswered  ///< the connection broke
  };
  void release_answered(NodeIndex node, Release answer) noexcept {
    release_in_flight_.remove(node);
    if (answer != Release::done) return;
    present_.remove(node);
    owed_.remove(node);
    indeterminate_.remove(node);
    write_in_doubt_.remove(node);
  }
  /// After this answer, the node may still have the key, and is owed another release. `expired`:
  /// when a key that was written until now has expired.
  void release_again(NodeIndex node, Release answer, Instant expired) noexcept;

  // --- when it is over --------------------------------------------------------------------------
  /// Time has passed: nodes whose keys have expired are owed no release. An indeterminate request
  /// may still write the key.
  void expire(Instant now) noexcept {
    if (now >= expired_by_) owed_ = owed_ & indeterminate_;
  }
  [[nodiscard]] bool resend_due(Instant now) const noexcept { return now >= resend_at_; }
  /// When expire() or a release is due; none: an event comes first. `up`: nodes that can be asked.
  [[nodiscard]] std::optional<Instant> next(NodeSet up) const noexcept;
  /// Whether no node is owed a release.
  [[nodiscard]] bool clean() const noexcept { return owed_.empty(); }

  [[nodiscard]] NodeSet present() const noexcept { return present_; }
  [[nodiscard]] NodeSet release_in_flight() const noexcept { return release_in_flight_; }
  [[nodiscard]] NodeSet indeterminate() const noexcept { return indeterminate_; }
  [[nodiscard]] NodeSet set_in_flight() const noexcept { return set_in_flight_; }
  [[nodiscard]] NodeSet votes() const noexcept { return voted_; }
  /// Whether the node may still execute a request that writes the key.
  [[nodiscard]] bool may_be_written(NodeIndex node) const noexcept {
    return (write_in_doubt_ | set_in_flight_ | extend_in_flight_).has(node);
  }
  /// How long a node may have the key from now on, if it has written the key.
  [[nodiscard]] Duration left(Instant now) const noexcept {
    return std::max(gone_by_ - now, Duration::zero());
  }
  /// How long a node may have the key from the moment it writes the key.
  [[nodiscard]] Duration left_once_written() const noexcept { return longest_ + drift(longest_); }
  /// Nodes that a release did not reach, or may not have reached.
  [[nodiscard]] NodeSet undelivered() const noexcept {
    return (owed_ | release_in_flight_) & (present_ | indeterminate_);
  }

 private:
  NodeSet present_;  ///< nodes that may have the key: they wrote it or were asked to, and are not
                     ///< known to lack it
  NodeSet voted_;    ///< nodes whose key is a vote: see voted()
  NodeSet set_in_flight_;      ///< nodes with an unanswered SET
  NodeSet release_in_flight_;  ///< nodes with an unanswered release
  NodeSet owed_;               ///< nodes to which a release is still to be sent
  NodeSet indeterminate_;      ///< nodes that may still execute a request of an ended connection
  NodeSet write_in_doubt_;     ///< nodes that are indeterminate for a request that writes the key
  NodeSet extend_in_flight_;   ///< nodes with an unanswered extend
  std::uint32_t votes_lost_ = 0;  ///< LostVotes::count() at the last forget_lost()
  Duration longest_{};            ///< the longest TTL of all requests
  Instant expired_by_{};  ///< when all keys have expired, or when releases are no longer owed
  Instant gone_by_{};     ///< when all but indeterminate nodes have forgotten the key
  Instant resend_at_{};   ///< when to send owed releases again
};

}  // namespace redlock::core
