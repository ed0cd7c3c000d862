#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/containers/boxed.hpp"
#include "core/vocabulary/holds.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/quorum.hpp"
#include "redlock/error.hpp"
#include "redlock/report.hpp"
#include "support/assert.hpp"

namespace redlock::core {

/// One node's vote in a round. `text` is the holder that a refusal names, otherwise the reason; it
/// points into the round. For an inspection of holds, see Reply::found.
struct NodeVote {
  Vote vote = Vote::pending;
  std::optional<Duration> round_trip{};
  std::optional<Duration> remaining{};
  std::string_view text{};
  /// inspect: the resource's fencing number; a refusal of several resources: which one is in the
  /// way.
  std::uint64_t number = 0;
  Duration quarantine{};  ///< inspect: what is left of the node's quarantine
  std::optional<Holds> holds{};
  std::string_view for_people{};  ///< inspect: see Answer
};

/// The votes of one round. Each node's first vote counts and is final. The verdict never changes
/// once it is given, but later votes are still recorded. The details of each node are kept apart,
/// and can be archived if all nodes granted: an idle lease needs only the verdict and the sets of
/// nodes.
class Round {
 public:
  /// The details of each node's vote.
  class Votes {
    friend class Round;
    struct Brief {
      Vote vote = Vote::pending;
      std::optional<Duration> round_trip;
    };
    /// Details that a plain grant does not have.
    struct Stored {
      std::optional<Duration> remaining;
      std::string text;
      std::uint64_t number = 0;
      Duration quarantine{};
      std::optional<Holds> holds;
      std::string for_people;
    };
    std::array<Brief, limits::nodes> brief;
    std::vector<Stored> stored;  // allocated by the first node that has details
  };

  void begin(std::uint16_t number, std::size_t nodes, std::size_t quorum, Instant start,
             Duration ttl);

  /// Leaves out second names of nodes that take part under another name: reports do not count them.
  void leave_out(NodeSet aliases) noexcept { left_out_ = left_out_ | aliases; }
  [[nodiscard]] NodeSet left_out() const noexcept { return left_out_; }

  /// There is no round until begin().
  void reset() noexcept { nodes_ = grants_ = 0; }

  struct Details {
    std::string_view text{};
    std::optional<Duration> round_trip{};
    std::optional<Duration> remaining{};
    std::uint64_t number = 0;
    Duration quarantine{};
    std::optional<Holds> holds{};
    std::string_view for_people{};

    [[nodiscard]] bool plain() const noexcept {
      return text.empty() && !remaining && number == 0 && quarantine == Duration::zero() &&
             !holds && for_people.empty();
    }
  };
  void record(NodeIndex node, Vote vote, const Details& details);
  /// Records a grant without details.
  void record_grant(NodeIndex node, std::optional<Duration> round_trip) {
    REDLOCK_ASSERT(node < nodes_);
    Votes::Brief& mine = votes_->brief[node];
    if (mine.vote != Vote::pending) return;
    mine.vote = Vote::granted;
    mine.round_trip = round_trip;
    granted_.add(node);
    ++grants_;
    decide();
  }

  /// Whether all nodes granted without details: then only the round trips are lost when the votes
  /// are archived.
  [[nodiscard]] bool is_unanimous() const noexcept {
    return grants_ == nodes_ && detailed_.empty();
  }
  /// Takes the votes out of a unanimous round, as memory for another round.
  [[nodiscard]] std::unique_ptr<Votes> archive() noexcept { return votes_.take(); }
  [[nodiscard]] bool is_archived() const noexcept { return !votes_; }
  /// Restores the votes, in any memory that archive() has returned.
  void restore(std::unique_ptr<Votes> votes);

  [[nodiscard]] Verdict verdict() const noexcept { return verdict_; }
  [[nodiscard]] std::uint16_t number() const noexcept { return number_; }
  /// The number of the next round. Numbers wrap around.
  [[nodiscard]] std::uint16_t next_number() const noexcept {
    return static_cast<std::uint16_t>(number_ + 1U);
  }
  [[nodiscard]] Instant start() const noexcept { return start_; }
  [[nodiscard]] Duration ttl() const noexcept { return ttl_; }
  [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::size_t quorum() const noexcept { return quorum_; }
  /// The most nodes that a quorum can do without: N - q.
  [[nodiscard]] std::size_t spare() const noexcept { return nodes_ - std::min(nodes_, quorum_); }
  [[nodiscard]] NodeVote vote(NodeIndex node) const;
  /// The round trip of a node that granted.
  [[nodiscard]] Duration round_trip(NodeIndex node) const {
    return votes_ ? votes_->brief[node].round_trip.value_or(Duration::zero()) : Duration::zero();
  }
  [[nodiscard]] NodeSet with(Vote vote) const noexcept;
  /// Nodes that refused because they have no key at all: nobody is in the way there.
  [[nodiscard]] NodeSet gone() const noexcept;
  [[nodiscard]] NodeSet pending() const noexcept {
    return NodeSet::first(nodes_) - granted_ - denied_;
  }
  [[nodiscard]] NodeSet granted() const noexcept { return granted_; }
  /// The number of nodes that granted.
  [[nodiscard]] std::size_t grants() const noexcept { return grants_; }
  /// The number of nodes that did not grant.
  [[nodiscard]] std::size_t denials() const noexcept { return denials_; }

  /// Why an acquire round was lost, distinguished by what to do next.
  [[nodiscard]] Errc why_lost() const;

  /// How long until q nodes can be free: the q-th smallest of the remaining times that nodes
  /// reported. A node that granted counts as free at once. None if too few nodes reported a time.
  [[nodiscard]] std::optional<Duration> free_in() const;

  /// The holder that most of the refusing nodes name; empty if none is known.
  [[nodiscard]] std::string_view leading_holder() const;

  /// Whether a quorum names one holder, or one client with a reservation. A lock that was released
  /// and whose interval goes on does not count.
  [[nodiscard]] bool is_named_by_quorum() const;
  /// Whether another client is known to hold the resource: a quorum names one holder, not a
  /// reservation.
  [[nodiscard]] bool is_anothers() const;

 private:
  void decide() noexcept {
    if (verdict_ == Verdict::pending) {
      verdict_ = core::verdict({nodes_, quorum_, grants_, denials_});
    }
  }
  void note_details(NodeIndex node, const Details& details);
  [[nodiscard]] std::string_view text(NodeIndex node) const noexcept;
  /// The number of these nodes that named this holder.
  [[nodiscard]] std::size_t naming(NodeSet nodes, std::string_view holder) const;

  std::uint16_t number_ = 0;
  NodeSet granted_;
  NodeSet denied_;
  std::uint8_t grants_ = 0;   // the number of nodes in granted_
  std::uint8_t denials_ = 0;  // the number of nodes in denied_
  NodeSet detailed_;          // nodes whose details belong to this round
  NodeSet left_out_;
  Verdict verdict_ = Verdict::pending;
  std::uint8_t nodes_ = 0;
  std::uint8_t quorum_ = 0;
  Instant start_{};
  Duration ttl_{};
  Boxed<Votes> votes_;
};

}  // namespace redlock::core
