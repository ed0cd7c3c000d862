#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/membership/enrolment.hpp"
#include "core/nodes/link.hpp"
#include "core/vocabulary/capabilities.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/round.hpp"
#include "core/votes/validity_basis.hpp"

namespace redlock::core {

/// The links to all nodes, their clocks and markers: which are up, which may vote, and why not.
/// Does not know leases: the engine decides what a node's change means for them.
class Nodes {
 public:
  /// `settings` names the configured nodes, and grows with those that are learned.
  explicit Nodes(Settings& settings);

  /// A step begins.
  void set_now(Instant now) noexcept {
    now_ = now;
    check_kept();
  }

  [[nodiscard]] std::size_t size() const noexcept { return links_.size(); }
  [[nodiscard]] NodeSet all() const noexcept { return NodeSet::first(links_.size()); }
  [[nodiscard]] Link& operator[](std::size_t node) noexcept { return links_[node]; }
  [[nodiscard]] const Link& operator[](std::size_t node) const noexcept { return links_[node]; }
  [[nodiscard]] auto begin() noexcept { return links_.begin(); }
  [[nodiscard]] auto end() noexcept { return links_.end(); }
  [[nodiscard]] auto begin() const noexcept { return links_.begin(); }
  [[nodiscard]] auto end() const noexcept { return links_.end(); }
  /// Whether a node is a replicated one.
  [[nodiscard]] bool has_replicated() const noexcept { return has_replicated_; }
  /// Adds a member that the configuration does not name. It gets the last index.
  NodeIndex learn(std::string_view name);

  // --- who is there -----------------------------------------------------------------------------
  [[nodiscard]] NodeSet up() const { return able().up; }
  /// The nodes that are up, and their abilities.
  struct Able {
    NodeSet up{};
    NodeSet to_write{};  ///< not read_only()
    [[nodiscard]] NodeSet to(Capability capability) const {
      return by_capability[index_of(capability)];
    }
    std::array<NodeSet, capability_names.size()> by_capability{};
    std::uint64_t found_at = 0;  ///< VoteVersion::count() when it was found
  };
  [[nodiscard]] const Able& able() const {
    if (able_.found_at != version_.count()) find_able();
    return able_;
  }
  /// The nodes of this set that are up and take another request.
  [[nodiscard]] NodeSet open(NodeSet nodes) const {
    NodeSet open = nodes & up();
    const std::size_t most = settings_.max_unanswered;
    open.each([&](NodeIndex node) {
      if (links_[node].in_flight->size() >= most) open.remove(node);
    });
    return open;
  }
  /// Nodes whose right to vote is still unknown: they are in first contact, their clock or their
  /// reign was not read, or nobody knows whether the clock stepped.
  [[nodiscard]] NodeSet undetermined() const;
  /// Nodes that are being reconnected and may vote afterwards: see Link::returning().
  [[nodiscard]] NodeSet returning() const;
  /// Nodes that may vote, or whose right to vote is still unknown.
  [[nodiscard]] NodeSet candidates() const;
  /// Whether nodes that are being connected to could make a quorum with the others.
  [[nodiscard]] bool may_soon_have_quorum() const;
  /// The time in which a quorum answers: the round trip of the q-th fastest node. A round does not
  /// wait for a node that is far away or silent.
  [[nodiscard]] Duration quorum_round_trip() const;

  // --- who may vote -----------------------------------------------------------------------------
  [[nodiscard]] bool may_vote(NodeIndex node) const { return voters().has(node); }
  [[nodiscard]] bool may_vote_but_for_clock(NodeIndex node) const;
  [[nodiscard]] bool is_quarantined(NodeIndex node) const;
  [[nodiscard]] NodeSet voters() const {
    if (found_at_ != version_.count() || now_ >= voters_until_) find_voters();
    return voters_;
  }
  /// The nodes of this set that have forgotten nothing for `interval`: they know a lease that was
  /// granted within it. An interval can be longer than a quarantine.
  [[nodiscard]] NodeSet remembering(NodeSet nodes, Duration interval) const;
  /// Why a node that is up has no vote for new leases.
  [[nodiscard]] std::string exclusion(NodeIndex node) const;
  /// Why the node has no vote for new leases, whether it is up or down; empty: nothing is wrong
  /// with it.
  [[nodiscard]] std::string why_no_vote(NodeIndex node) const;
  /// The vote of a node that is not asked: down, or excluded. `interval`: how long the requested
  /// lease keeps everybody else out.
  void record_absent(Round& round, NodeIndex node, Duration interval) const;

  // --- deployments ------------------------------------------------------------------------------
  /// The deployment whose votes a round counts, and its quorum.
  struct Ballot {
    std::string_view deployment{};
    std::size_t quorum = 0;
    std::size_t size = 0;        ///< number of its members; 0: it is not known
    NodeSet members{};           ///< the nodes that belong to it
    std::uint64_t found_at = 0;  ///< VoteVersion::count() when it was found
  };
  [[nodiscard]] const Ballot& ballot() const {
    if (ballot_.found_at != version_.count()) find_ballot();
    return ballot_;
  }
  /// Whether it is settled which deployment counts: a quorum of it is up, or no node is left that
  /// this client has not met.
  [[nodiscard]] bool knows_deployment() const;
  /// The nodes that may vote in that deployment now.
  [[nodiscard]] NodeSet voters_of(const Ballot& ballot) const;
  [[nodiscard]] NodeSet voters_of(std::string_view deployment) const;
  [[nodiscard]] bool belongs_to(NodeIndex node, std::string_view deployment) const;
  /// Why the node's deployment does not count; empty: it does.
  [[nodiscard]] std::string why_not_counted(NodeIndex node) const;
  /// Whether another server now has the node's membership: one of the same name, or this one before
  /// its old data were restored.
  [[nodiscard]] bool lost_its_membership(NodeIndex node) const;
  /// Whether this client may mark a node that no client has met: a quorum is connected, this node
  /// included, and most of the others have this client's max TTL. With a longer one, this client
  /// would keep the node in quarantine for too long.
  [[nodiscard]] bool may_mark(NodeIndex node) const;
  /// The marker of a node that came up decides whether it may vote.
  void judge_marker(NodeIndex node);
  [[nodiscard]] std::vector<NodeView> views() const;
  /// The prospects while there is no quorum.
  [[nodiscard]] Outlook outlook() const;

  // --- duplicates -------------------------------------------------------------------------------
  /// Whether another address already names the same server. That one keeps the vote.
  [[nodiscard]] bool find_duplicate(NodeIndex node);
  /// Whether a configured node has neither been connected to nor found unreachable.
  [[nodiscard]] bool is_first_contact() const;
  /// Learned names of servers that are connected by another name: not nodes of their own.
  [[nodiscard]] NodeSet aliases() const;

  // --- clocks -----------------------------------------------------------------------------------
  /// Compares all clocks with their median. Returns the nodes that lost their vote by it.
  [[nodiscard]] NodeSet compare_clocks();
  /// The node's offset from that median; none: it is not known.
  [[nodiscard]] std::optional<Duration> clock_offset(NodeIndex node) const;
  [[nodiscard]] bool reading_is_old(NodeIndex node) const;
  /// Whether the node's number of evictions is read with its clock.
  [[nodiscard]] bool evictions_due(NodeIndex node) const;
  /// When the next clock is to be read if nothing else is sent.
  [[nodiscard]] Instant next_clock_reading() const;
  [[nodiscard]] bool clock_reading_due(NodeIndex node) const;
  [[nodiscard]] const SharedMarks& steps() const noexcept { return steps_; }
  /// A clock has stepped: later leases begin after the step.
  void note_step();
  /// Nodes that take this fencing number without a script, and would not refuse it.
  [[nodiscard]] NodeSet can_set_fenced(std::uint64_t number) const;

 private:
  static constexpr By<Nodes> me{};

  /// Why a node that was marked by a client with another max TTL has no deployment.
  [[nodiscard]] std::string why_closed(const Marker& marker) const;
  /// Whether the marker's max TTL allows this client's leases.
  [[nodiscard]] bool fits(const Marker& marker) const;
  /// How much longer the node must remember to know every lease of `interval`; zero: it knows.
  [[nodiscard]] Duration remembers_in(NodeIndex node, Duration interval) const;
  template <typename Which>
  [[nodiscard]] NodeSet where(Which&& which) const {
    NodeSet set;
    all().each([&](NodeIndex node) {
      if (which(node)) set.add(node);
    });
    return set;
  }

  void add_link(std::string_view name);
  [[nodiscard]] Duration find_quorum_round_trip() const;
  [[nodiscard]] bool is_voter(NodeIndex node) const;
  void find_voters() const;
  void find_able() const;
  void find_ballot() const;
  [[nodiscard]] Ballot count_ballot() const;
  [[nodiscard]] bool is_alias(NodeIndex node) const;
  [[nodiscard]] bool may_vote_but_for_doubt(NodeIndex node) const;
  /// Why votes of the node's primary do not count, and when they will.
  [[nodiscard]] std::string why_no_reign(const Link& link) const;
  /// It is about to be read whether a majority follows the node's primary.
  [[nodiscard]] bool awaits_reign(NodeIndex node) const;
  /// Checks `version_`: a change that it missed would be a vote that does not exist.
  void check_kept() const;
  /// The median of the clocks that are known, less ours.
  struct Median {
    std::size_t known = 0;
    Duration offset{};
  };
  [[nodiscard]] Median median_clock() const;
  /// Whether the median includes this clock.
  [[nodiscard]] static bool clock_counts(const Link& link);
  /// When the clock and the number of evictions, which are read together, were last read.
  [[nodiscard]] Instant read_at(const Link& link) const;
  /// Whether all known clocks are so near each other that none can be far from their median.
  [[nodiscard]] bool clocks_agree() const;

  Settings& settings_;
  VoteVersion version_;
  std::vector<Link> links_;
  std::size_t configured_;  ///< links to configured nodes; links to learned nodes follow them
  bool has_replicated_ = false;
  bool clocks_compared_ = false;
  SharedMarks steps_;
  // Caches of results that are read at every answer and rarely change. They are computed again when
  // `version_` changes and when a quarantine ends.
  mutable Ballot ballot_{};
  mutable Able able_{};
  mutable NodeSet voters_;
  mutable std::uint64_t found_at_ = 0;
  mutable Instant voters_until_ = Instant::min();
  mutable Duration round_trip_{};
  mutable Instant round_trip_found_at_ = Instant::min();
  Instant now_ = Instant::min();
};

}  // namespace redlock::core
