#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/claim/holds.hpp"
#include "core/claim/quorum.hpp"
#include "core/containers/boxed.hpp"
#include "core/nodes/node_set.hpp"
#include "core/time.hpp"
#include "redlock/error.hpp"
#include "redlock/report.hpp"
#include "support/assert.hpp"

namespace redlock::core {

/// One node's vote in a round. `text` is the holder of a refusal, else the reason, and lies in the
/// round; of an inspection with holds see Reply::found.
struct NodeVote {
  Vote vote = Vote::pending;
  std::optional<Duration> round_trip{};
  std::optional<Duration> remaining{};
  std::string_view text{};
  std::uint64_t number = 0;  ///< inspect: the resource's number
  Duration quarantine{};     ///< inspect: what is left of it
  std::optional<Holds> holds{};
  std::string_view for_people{};  ///< inspect: see Answer
};

/// The votes of one round. Each node's first vote counts and is final; the verdict, once given,
/// never changes, while stragglers are still recorded. What each node said lies apart, and can be
/// put away where all granted: a lease that nothing is asked for needs no more than that.
class Round {
 public:
  /// What each node said.
  class Votes {
    friend class Round;
    struct Brief {
      Vote vote = Vote::pending;
      std::optional<Duration> round_trip;
    };
    /// What a node that simply grants does not say.
    struct Words {
      std::optional<Duration> remaining;
      std::string text;
      std::uint64_t number = 0;
      Duration quarantine{};
      std::optional<Holds> holds;
      std::string for_people;
    };
    std::array<Brief, limits::nodes> brief;
    std::vector<Words> words;  // apart: made by the first that has any
  };

  void begin(std::uint16_t number, std::size_t nodes, std::size_t quorum, Instant start,
             Duration ttl);

  /// Names of nodes that are in it by another name: reports do not count them.
  void leave_out(NodeSet aliases) noexcept { left_out_ = left_out_ | aliases; }
  [[nodiscard]] NodeSet left_out() const noexcept { return left_out_; }

  /// There is none yet.
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
  /// The same for a grant without a word.
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

  /// All nodes granted, and none said more: nothing but the round trips is lost when the votes are
  /// put away.
  [[nodiscard]] bool is_unanimous() const noexcept { return grants_ == nodes_ && wordy_.empty(); }
  /// Takes the votes of such a round out of it: memory for another one.
  [[nodiscard]] std::unique_ptr<Votes> put_away() noexcept { return votes_.take(); }
  [[nodiscard]] bool is_put_away() const noexcept { return !votes_; }
  /// The end of that, with anybody's memory.
  void take_out(std::unique_ptr<Votes> votes);

  [[nodiscard]] Verdict verdict() const noexcept { return verdict_; }
  [[nodiscard]] std::uint16_t number() const noexcept { return number_; }
  /// Of the round behind this one. Numbers wrap around.
  [[nodiscard]] std::uint16_t next_number() const noexcept {
    return static_cast<std::uint16_t>(number_ + 1U);
  }
  [[nodiscard]] Instant start() const noexcept { return start_; }
  [[nodiscard]] Duration ttl() const noexcept { return ttl_; }
  [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::size_t quorum() const noexcept { return quorum_; }
  [[nodiscard]] NodeVote vote(NodeIndex node) const;
  /// Of one that granted.
  [[nodiscard]] Duration round_trip(NodeIndex node) const {
    return votes_ ? votes_->brief[node].round_trip.value_or(Duration::zero()) : Duration::zero();
  }
  [[nodiscard]] NodeSet with(Vote vote) const noexcept;
  [[nodiscard]] NodeSet pending() const noexcept {
    return NodeSet::first(nodes_) - granted_ - denied_;
  }
  [[nodiscard]] NodeSet granted() const noexcept { return granted_; }
  /// How many those are.
  [[nodiscard]] std::size_t grants() const noexcept { return grants_; }
  /// How many did not grant.
  [[nodiscard]] std::size_t denials() const noexcept { return denials_; }

  /// Why an acquire round was lost, distinguished by what to do next.
  [[nodiscard]] Errc why_lost() const;

  /// How long until q nodes can be free: the q-th smallest of what is left on each, where nodes
  /// that granted are free at once. None where too few nodes said.
  [[nodiscard]] std::optional<Duration> free_in() const;

  /// The holder on most of the refusing nodes; empty where none is known.
  [[nodiscard]] std::string_view leading_holder() const;

  /// A quorum names one holder, or for whom it is reserved, and no interval that goes on.
  [[nodiscard]] bool is_named_by_quorum() const;
  /// Another client is known to have it: a quorum names one holder, and no reservation.
  [[nodiscard]] bool is_anothers() const;

 private:
  void decide() noexcept {
    if (verdict_ == Verdict::pending) {
      verdict_ = core::verdict({nodes_, quorum_, grants_, denials_});
    }
  }
  void note_words(NodeIndex node, const Details& details);
  [[nodiscard]] std::string_view text(NodeIndex node) const noexcept;
  /// How many of these nodes named this holder.
  [[nodiscard]] std::size_t naming(NodeSet nodes, std::string_view holder) const;

  std::uint16_t number_ = 0;
  NodeSet granted_;
  NodeSet denied_;
  std::uint8_t grants_ = 0;   // how many granted_ are
  std::uint8_t denials_ = 0;  // and denied_
  NodeSet wordy_;             // whose words_ belong to this round
  NodeSet left_out_;
  Verdict verdict_ = Verdict::pending;
  std::uint8_t nodes_ = 0;
  std::uint8_t quorum_ = 0;
  Instant start_{};
  Duration ttl_{};
  Boxed<Votes> votes_;
};

}  // namespace redlock::core
