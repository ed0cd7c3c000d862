#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/claim/validity.hpp"
#include "core/nodes/lost_votes.hpp"
#include "core/nodes/node_set.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// What one token may have left on the nodes: which of them may have its key, which requests that
/// write or delete it are in flight, and which nodes are owed a release. The one place that decides
/// where a release goes, and when.
///
/// A node is *owed* a release until one is in flight to it; a release that fails is owed again.
/// A node is *indeterminate* when its connection broke with a request unanswered: the request may
/// be executed yet, so the key may appear there after it was found absent.
class KeyLedger {
 public:
  // --- the key is written -----------------------------------------------------------------------
  /// A request that may write the key leaves for these nodes.
  void write_sent(NodeSet nodes) noexcept { present_ = present_ | nodes; }
  /// A SET leaves for these nodes: until it is answered, a release may have to follow it.
  void set_sent(NodeSet nodes) noexcept { set_in_flight_ = set_in_flight_ | nodes; }
  void set_answered(NodeIndex node) noexcept { set_in_flight_.remove(node); }
  /// The same for an extend.
  void extend_sent(NodeSet nodes) noexcept { extend_in_flight_ = extend_in_flight_ | nodes; }
  void extend_answered(NodeIndex node) noexcept { extend_in_flight_.remove(node); }
  /// The connection broke with a request that writes the key unanswered.
  void write_unanswered(NodeIndex node) noexcept {
    indeterminate_.add(node);
    write_in_doubt_.add(node);
  }
  /// The node said that it does not have the key.
  void absent(NodeIndex node) noexcept { present_.remove(node); }
  /// The key was asked for with this TTL.
  void asked_for(Duration ttl, Instant now) noexcept {
    longest_ = std::max(longest_, ttl);
    expires_by(gone_by(now, ttl));
  }
  /// Of the TTLs that were asked for.
  [[nodiscard]] Duration longest_asked() const noexcept { return longest_; }
  /// A node has written the key at some time until now, with any of the TTLs that were asked for.
  void written_by(Instant now) noexcept { expires_by(gone_by(now, longest_)); }
  /// All nodes but the indeterminate ones have forgotten the key by then.
  void expires_by(Instant at) noexcept {
    expired_by_ = std::max(expired_by_, at);
    gone_by_ = std::max(gone_by_, at);
  }

  // --- the key is a vote ------------------------------------------------------------------------
  /// The key was written while the node had a vote, and was never missed since.
  void voted(NodeIndex node) noexcept { voted_.add(node); }
  void vote_forgotten(NodeIndex node) noexcept { voted_.remove(node); }
  /// There are none yet: only what is lost from here on matters.
  void begin_votes(const LostVotes& lost) noexcept { votes_lost_ = lost.count(); }
  /// The votes that went since it was last asked are forgotten.
  void forget_lost(const LostVotes& lost) noexcept {
    if (votes_lost_ == lost.count()) return;
    voted_ = voted_ - lost.since(votes_lost_);
    votes_lost_ = lost.count();
  }
  [[nodiscard]] bool has_vote_of(NodeIndex node) const noexcept { return voted_.has(node); }

  // --- the key is released ----------------------------------------------------------------------
  /// Every node that may have the key is owed a release.
  void owe_release() noexcept { owe_release_but_for({}); }
  /// The same, but for these until they have answered.
  void owe_release_but_for(NodeSet unanswered) noexcept {
    owed_ = present_ - release_in_flight_ - (unanswered & set_in_flight_);
  }
  void owe_release(NodeSet nodes) noexcept { owed_ = owed_ | nodes; }
  /// Every one of these nodes is to be released, whether it has the key or not.
  void assume_present(NodeSet nodes) noexcept { present_ = nodes; }
  /// Nothing is owed after this instant, though keys may last longer.
  void owe_until(Instant at) noexcept { expired_by_ = std::min(expired_by_, at); }
  /// The new owner of the token releases it.
  void hand_over() noexcept { present_ = NodeSet(); }
  /// Nothing more is owed to nodes that cannot have the key.
  void forgive_absent() noexcept { owed_ = owed_ & (present_ | indeterminate_); }
  /// Where a release is owed: to be sent, and not in flight.
  [[nodiscard]] NodeSet to_release() const noexcept { return owed_; }
  void release_sent(NodeSet nodes) noexcept {
    release_in_flight_ = release_in_flight_ | nodes;
    owed_ = owed_ - nodes;
  }
  /// When to try again where nothing could be sent, or no answer came.
  void resend_at(Instant at) noexcept { resend_at_ = at; }

  /// A SET that nobody will count is unanswered on a connection that is given up: what the server
  /// has already received it still executes, so a release is to be sent behind it.
  [[nodiscard]] bool wants_undo(NodeIndex node) const noexcept {
    return set_in_flight_.has(node) && !release_in_flight_.has(node) && present_.has(node);
  }
  /// So it is on any node.
  [[nodiscard]] bool wants_undo() const noexcept {
    return !((set_in_flight_ & present_) - release_in_flight_).empty();
  }
  void undo_sent(NodeSet nodes) noexcept { release_in_flight_ = release_in_flight_ | nodes; }
  /// The node has the key, and no release of it is owed or in flight.
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
  /// The node may still have the key after that answer, and is owed another release.
  /// `expired` is when a key that was written until now has expired.
  void release_again(NodeIndex node, Release answer, Instant expired) noexcept;

  // --- when it is over --------------------------------------------------------------------------
  /// Time passes: what has expired needs no release. A request that is indeterminate may still
  /// write the key.
  void expire(Instant now) noexcept {
    if (now >= expired_by_) owed_ = owed_ & indeterminate_;
  }
  [[nodiscard]] bool resend_due(Instant now) const noexcept { return now >= resend_at_; }
  /// When expire() or a release is due; none: an event comes first. `up` are the nodes that can be
  /// asked.
  [[nodiscard]] std::optional<Instant> next(NodeSet up) const noexcept;
  /// No node is owed a release.
  [[nodiscard]] bool clean() const noexcept { return owed_.empty(); }

  [[nodiscard]] NodeSet present() const noexcept { return present_; }
  [[nodiscard]] NodeSet release_in_flight() const noexcept { return release_in_flight_; }
  [[nodiscard]] NodeSet indeterminate() const noexcept { return indeterminate_; }
  [[nodiscard]] NodeSet set_in_flight() const noexcept { return set_in_flight_; }
  [[nodiscard]] NodeSet votes() const noexcept { return voted_; }
  /// The node may still execute a request that writes the key.
  [[nodiscard]] bool may_be_written(NodeIndex node) const noexcept {
    return (write_in_doubt_ | set_in_flight_ | extend_in_flight_).has(node);
  }
  /// For how long the key may be on a node: from now on, or from when the node writes it.
  [[nodiscard]] Duration left(Instant now) const noexcept {
    return std::max(gone_by_ - now, Duration::zero());
  }
  [[nodiscard]] Duration left_once_written() const noexcept { return longest_ + drift(longest_); }
  /// Where a release did not arrive, or may not have arrived.
  [[nodiscard]] NodeSet undelivered() const noexcept {
    return (owed_ | release_in_flight_) & (present_ | indeterminate_);
  }

 private:
  NodeSet present_;            ///< may have the key: written or asked to, and not known to lack it
  NodeSet voted_;              ///< see voted()
  NodeSet set_in_flight_;      ///< SET sent, not answered
  NodeSet release_in_flight_;  ///< release sent, not answered
  NodeSet owed_;               ///< a release is still to be delivered
  NodeSet indeterminate_;
  NodeSet write_in_doubt_;  ///< indeterminate, and not only for a release
  NodeSet extend_in_flight_;
  std::uint32_t votes_lost_ = 0;  ///< see forget_lost()
  Duration longest_{};
  Instant expired_by_{};  ///< or nothing is owed any more
  Instant gone_by_{};     ///< see expires_by()
  Instant resend_at_{};
};

}  // namespace redlock::core
