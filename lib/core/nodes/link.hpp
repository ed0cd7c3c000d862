#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/membership/marker.hpp"
#include "core/membership/node_memory.hpp"
#include "core/nodes/node_clock.hpp"
#include "core/vocabulary/capabilities.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "support/assert.hpp"
#include "support/ring.hpp"

namespace redlock::core {

/// Why a node that is up is not asked: see Link::congested().
inline constexpr std::string_view too_many_unanswered = "too many requests unanswered";
/// Why a node in first contact is not waited for.
inline constexpr std::string_view not_connected_yet = "not connected yet";
/// Why a node without a marker of its process is not asked.
inline constexpr std::string_view nobody_met_it =
    "it is new or has restarted, and no client that wants a lock has met it since";
/// Why a node with a blank marker is not asked.
inline constexpr std::string_view no_deployment =
    "it belongs to no deployment: it is new, or forgot which";

/// Why a node is connected to again whose number of evictions an operator has reset.
inline constexpr std::string_view counters_were_reset =
    "its counters were reset: it has to say whether it may evict keys";

/// When an answer came, and how long it took.
struct Arrival {
  Instant at{};
  Duration took{};
};

/// The version of what votes depend on, over all nodes: which are up, which deployment they belong
/// to, their abilities, their right to vote. A conclusion holds until the count changes. The end of
/// a quarantine is not counted, as it comes by time.
class VoteVersion {
 public:
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  void changed() noexcept { ++count_; }

 private:
  std::uint64_t count_ = 1;
};

/// The state of one node's connection: whether it is usable, how fast it answers, which requests
/// are unanswered, and when to try again.
class Link {
 public:
  enum class State : std::uint8_t {
    fresh,  ///< in first contact: worth a short wait
    up,     ///< ready for requests
    down,   ///< known to be down: a failure at once, reconnected in the background
  };

  /// `settings` and `standing` outlive the link.
  Link(const Settings& settings, VoteVersion& standing)
      : settings_(&settings), version_(&standing), clock_(settings.max_ttl) {}

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool up() const noexcept { return state_ == State::up; }
  [[nodiscard]] bool fresh() const noexcept { return state_ == State::fresh; }

  /// The connection was of use until a moment ago, and the first attempt to reconnect is under way:
  /// worth as short a wait as first contact.
  [[nodiscard]] bool returning() const noexcept { return returning_; }

  /// The driver begins to connect.
  void connecting(Instant now) noexcept;
  /// Returns how many keys the server had evicted, if an operator has reset that number since.
  std::optional<std::uint64_t> came_up(const NodeUp& event, Instant now);

  /// A connection ended. `vote` and `why` are the node's vote in rounds that begin while it is
  /// down.
  struct Failure {
    Vote vote = Vote::unreachable;
    std::string why;
  };
  /// Each connection that ended delays the next attempt, and each second in which a connection was
  /// of use shortens the delay again. A node that ends all connections is tried about once per
  /// second.
  void went_down(Instant now, Vote vote, std::string_view why, Randomness& random);
  void stop_retrying() noexcept;
  /// The next attempt comes at once, unless the connections before were of no use for long.
  void retry_soon(Instant now) noexcept;
  /// The client ends the connection for a reason that a new connection removes.
  void expect_return() noexcept;
  /// Like expect_return(), but called before the connection ends; the next attempt comes at once.
  void return_once_more() noexcept { returns_once_more_ = true; }
  /// Forgets the failures; a retry that is waiting begins at once.
  void retry_now(Instant now) noexcept;
  [[nodiscard]] const Failure& failure() const noexcept { return failure_; }

  /// The server's run_id as of the last time the node was up; empty before.
  [[nodiscard]] const std::string& server() const noexcept { return server_; }

  /// Earlier connections to this server that ended with unanswered requests. The server must have
  /// closed each of them before a release is sent. The caller sends the kills; a connection that is
  /// not confirmed by `killed` is a suspect again on the next connection.
  [[nodiscard]] const std::vector<std::int64_t>& suspects() const noexcept { return suspects_; }
  void killed() noexcept;

  /// The node that is the same server; none: there is no such node. A duplicate has no vote.
  [[nodiscard]] std::optional<NodeIndex> duplicate_of() const noexcept { return duplicate_of_; }
  void set_duplicate_of(std::optional<NodeIndex> other) noexcept {
    duplicate_of_ = other;
    version_->changed();
  }

  /// The node's abilities when it was last up.
  [[nodiscard]] Capabilities capabilities() const noexcept { return capabilities_; }
  [[nodiscard]] bool can(Capability capability) const noexcept {
    return capabilities_.has(capability);
  }
  /// The client may not use this plain command.
  void forget_plain(Verb verb) noexcept {
    const bool sets_all = verb == Verb::set_all;
    capabilities_ = capabilities_.without({sets_all ? Capability::set_all : Capability::compare});
    version_->changed();
  }

  // --- guards ---
  /// Why the node has no vote on this connection; empty: it has one.
  [[nodiscard]] const std::string& ineligible() const noexcept { return ineligible_; }
  void declare_ineligible(std::string_view why) {
    ineligible_.assign(why);
    version_->changed();
  }

  /// The node is a replica: no writing request is sent there until its role has changed.
  [[nodiscard]] bool read_only() const noexcept { return up() && replica_; }

  /// The node's membership record as the handshake saw it, word for word.
  [[nodiscard]] const std::string& marker_text() const noexcept { return marker_text_; }
  /// The parsed marker. None: the node has no marker, or not one of ours.
  [[nodiscard]] const std::optional<Marker>& marker() const noexcept { return marker_; }
  /// The node's deployment, as deployment_text() writes it; empty: none.
  [[nodiscard]] const std::string& deployment() const noexcept { return deployment_; }
  /// No client has marked the node since its process began, and this client does not want to.
  [[nodiscard]] bool unmarked() const noexcept { return up() && unmarked_; }
  /// The marker holds a number of evictions that an operator has reset since. The node votes.
  [[nodiscard]] bool outdated() const noexcept { return up() && outdated_; }
  /// Minimum time since the node last forgot anything; Duration::max(): it never did. If its clock
  /// is not known: the time since this client met it.
  [[nodiscard]] Duration remembers_for(Instant now) const noexcept;
  /// Why the membership record gives the node no vote for new leases; empty: it gives one. Existing
  /// leases are extended and released there in any case.
  [[nodiscard]] const std::string& vote_denied() const noexcept { return vote_denied_; }
  void deny_vote(std::string_view why) {
    vote_denied_.assign(why);
    version_->changed();
  }
  /// The node has another marker now. A marker of another process is ignored. Returns whether the
  /// node has forgotten nothing since the marker before.
  bool take_marker(std::string_view text, Instant now, bool of_another = false);
  /// The member that the node was by an active marker, on this or an earlier connection.
  [[nodiscard]] const std::string& known_as() const noexcept { return known_as_; }
  /// Has the marker read again at intervals, while `wanted`: nobody announces a change of it.
  void watch_marker(bool wanted, Instant now) noexcept;
  [[nodiscard]] bool marker_look_due(Instant now) noexcept;
  /// Has the node connected to again, while `wanted`, to see whether its name leads to another
  /// server.
  void watch_name(bool wanted, Instant now) noexcept;
  [[nodiscard]] bool name_look_due(Instant now) const noexcept {
    return up() && name_look_at_ && now >= *name_look_at_;
  }

  /// No vote for new leases until then: the latest end of three quarantines.
  [[nodiscard]] std::optional<Instant> quarantined_until() const noexcept {
    return longer_quarantine().until;
  }
  /// The quarantine in force; a doubt about the clock is not counted.
  [[nodiscard]] const std::string& quarantine_why() const noexcept {
    const Quarantine& stands = quarantine_in_force();
    return stands.until ? stands.why : doubt_.why;
  }
  /// Whether the node's quarantine is one that `bootstrap` may end: see may_be_new in marker.hpp.
  [[nodiscard]] bool may_be_new() const noexcept;
  /// This client's own quarantine, which the node does not know.
  void quarantine(Instant until, std::string_view why);
  /// A quarantine that the node keeps. A later handshake that finds another marker may find it
  /// ended.
  void quarantine_by_node(Instant until, std::string_view why);
  /// Whether a quarantine ended just now.
  [[nodiscard]] bool end_quarantine(Instant now) noexcept;

  /// A clock stepped, the node's or ours. Until it is known which one, the doubt counts as a
  /// quarantine of our own.
  void doubt(Instant until, std::string_view why);
  [[nodiscard]] bool in_doubt() const noexcept { return doubt_.until.has_value(); }
  /// Whether the doubt is the only quarantine that is in force.
  [[nodiscard]] bool only_in_doubt() const noexcept {
    return in_doubt() && !quarantine_in_force().until;
  }
  /// The node's clock did not step: the doubt ends.
  void trust_again() noexcept;
  /// The node's clock did step: the doubt becomes the node's own quarantine, of the same length.
  void confirm_doubt(std::string_view why);

  [[nodiscard]] const NodeClock& clock() const noexcept { return clock_; }
  [[nodiscard]] bool clock_known() const noexcept { return clock_.offset().has_value(); }
  /// See NodeClock::observe.
  NodeClock::Reading observe_clock(Instant sent, Instant received, Duration time) noexcept {
    if (!clock_known()) version_->changed();
    return clock_.observe(sent, received, time);
  }
  void our_clock_stood_still(const Gain& ours, bool read_since) noexcept {
    clock_.ours_stood_still(ours, read_since);
  }
  /// Whether the clock is far from the median of all nodes' clocks.
  [[nodiscard]] bool clock_far() const noexcept { return clock_far_; }
  void set_clock_far(bool far) noexcept {
    if (far != clock_far_) version_->changed();
    clock_far_ = far;
  }
  [[nodiscard]] Instant clock_read_at() const noexcept { return clock_read_at_; }
  void reading_clock(Instant now) noexcept { clock_read_at_ = now; }

  /// How many keys the server process had evicted when it was last asked.
  [[nodiscard]] std::uint64_t evicted() const noexcept { return evicted_; }
  /// The node may have evicted any lock: keys that were set there until now do not count.
  void lose_keys(std::uint64_t evicted) noexcept {
    evicted_ = evicted;
    clock_.lose_keys();
  }
  [[nodiscard]] Instant evictions_read_at() const noexcept { return evictions_read_at_; }
  void reading_evictions(Instant now) noexcept { evictions_read_at_ = now; }

  // --- requests in flight, in the order in which they were sent ---
  [[nodiscard]] bool congested() const noexcept {
    return ring_.size() >= settings_->max_unanswered;
  }
  [[nodiscard]] std::size_t unanswered() const noexcept { return ring_.size(); }
  void sent(const Stamp& stamp, Instant now) {
    REDLOCK_ASSERT(state_ == State::up);
    ring_.push({stamp, now});
  }
  /// Takes the oldest request, which must be the one that was answered; returns when its answer
  /// came, and its round trip.
  [[nodiscard]] Arrival answered(const Stamp& stamp, Instant now) {
    REDLOCK_ASSERT(held_count_ == 0);
    const Sent& oldest = ring_.front();
    REDLOCK_ASSERT(oldest.stamp == stamp);
    const Duration round_trip = now - oldest.at;
    ring_.pop();
    answered_ = true;
    measure(round_trip);
    return {now, round_trip};
  }
  /// Takes the oldest request of a connection that has ended.
  [[nodiscard]] std::optional<Stamp> take_unanswered() noexcept;

  /// Up, and no request but upkeep is unanswered: if the connection ends now, nobody misses it.
  [[nodiscard]] bool idle() const noexcept;

  /// Visits the stamps of the unanswered requests, in the order in which the requests were sent.
  template <typename Visit>
  void each_unanswered(Visit&& visit) const {
    for (std::size_t i = 0; i < ring_.size(); ++i) visit(ring_[i].stamp);
  }

  /// An answer that does not count before the marker after it is read: a vote, or an answer that
  /// follows a vote. Until then its request counts as unanswered.
  struct HeldBack {
    PlainYes plain_yes{};
    bool has_details = false;  ///< the answer is in held_details_, not in `plain_yes`
    Arrival arrival{};
  };
  [[nodiscard]] bool holds_back() const noexcept { return held_count_ > 0; }
  void hold_back(const Answer& answer, Instant now);
  void hold_back(const PlainYes& plain_yes, Instant now);
  /// Takes the oldest answer that was held back; its request is answered now. Null: there is none.
  /// Valid until the next hold_back().
  [[nodiscard]] const HeldBack* take_held_back() noexcept;
  /// The details of the answer that was just taken, if it has_details. Valid as long as that
  /// answer.
  [[nodiscard]] Answer take_held_details() noexcept;

  // --- time ---
  /// How long an answer may take: follows the measured round trip within the bounds of the
  /// settings.
  [[nodiscard]] Duration limit() const noexcept {
    if (!measured_) return settings_->longest_limit;
    return std::clamp(4 * (smoothed_ + 4 * variation_), settings_->shortest_limit,
                      settings_->longest_limit);
  }
  /// The smoothed round trip, but at most twice the last one: waits that are counted in round trips
  /// must not stay long after a burst.
  [[nodiscard]] Duration recent_round_trip() const noexcept {
    return std::min(smoothed_, 2 * last_round_trip_);
  }
  /// When the link next needs attention: an answer or a connection is overdue, a quarantine ends,
  /// or something is to be tried or read again. `never`: nothing is due.
  [[nodiscard]] Instant deadline() const noexcept {
    const bool only_answers =
        up() && !quarantined_until() && !role_check_at_ && !marker_look_at_ && !name_look_at_;
    if (!only_answers) return deadline_of_all().value_or(never);
    return ring_.empty() ? never : later(ring_.front().at, limit());
  }
  [[nodiscard]] bool answer_overdue(Instant now) const noexcept;
  /// How long a connection may take to be made: twice as long after each that took too long. A node
  /// that a thousand clients connect to at once serves none of them if all give up at the same
  /// limit. At most eight times as long: a node whose packets were dropped for a while is to be met
  /// soon after that.
  [[nodiscard]] Duration connect_limit() const noexcept {
    constexpr unsigned most_doublings = 3;
    return settings_->connect_limit() * (1 << std::min(slow_connections_, most_doublings));
  }
  [[nodiscard]] bool connect_overdue(Instant now) const noexcept;
  [[nodiscard]] bool retry_due(Instant now) const noexcept;
  /// Requests a new connection: only a handshake sees what the node is now, and marks it.
  void meet_anew(Instant now) noexcept { role_check_at_ = now; }
  /// Likewise, for a node that is likely to have kept its vote.
  void return_anew(Instant now) noexcept {
    meet_anew(now);
    return_once_more();
  }
  /// A replica's role is only seen by a handshake.
  [[nodiscard]] bool role_check_due(Instant now) const noexcept;

 private:
  struct Quarantine {
    std::optional<Instant> until{};
    std::string why{};
  };
  [[nodiscard]] const Quarantine& quarantine_in_force() const noexcept {
    const auto& own = own_quarantine_.until;
    const auto& of_node = node_quarantine_.until;
    return own && (!of_node || *own > *of_node) ? own_quarantine_ : node_quarantine_;
  }
  [[nodiscard]] const Quarantine& longer_quarantine() const noexcept {
    const Quarantine& longer = quarantine_in_force();
    if (!doubt_.until) return longer;
    return !longer.until || *doubt_.until > *longer.until ? doubt_ : longer;
  }
  void prolong(Quarantine& quarantine, Instant until, std::string_view why);

  struct Sent {
    Stamp stamp;
    Instant at;
  };
  void measure(Duration round_trip) noexcept {
    // Smoothed round trip and variation as TCP keeps them (RFC 6298).
    last_round_trip_ = round_trip;
    if (!measured_) {
      measured_ = true;
      smoothed_ = round_trip;
      variation_ = round_trip / 2;
      return;
    }
    const Duration distance =
        round_trip > smoothed_ ? round_trip - smoothed_ : smoothed_ - round_trip;
    variation_ += (distance - variation_) / 4;
    smoothed_ += (round_trip - smoothed_) / 8;
  }
  void forgive_failures(Instant now) noexcept;
  HeldBack& hold_back_next(const Stamp& stamp, Instant now);
  [[nodiscard]] std::optional<Instant> deadline_of_all() const noexcept;

  const Settings* settings_;
  VoteVersion* version_;
  State state_ = State::fresh;
  Failure failure_;
  std::optional<NodeIndex> duplicate_of_;
  std::string server_;
  std::int64_t connection_ = 0;
  Capabilities capabilities_;
  std::string ineligible_;
  bool replica_ = false;
  std::optional<Instant> role_check_at_;
  std::string marker_text_;
  bool unmarked_ = false;
  bool outdated_ = false;
  std::optional<Marker> marker_;
  std::string deployment_;
  /// Since when the node has forgotten nothing, as far as this client knows without its clock.
  Instant remembers_since_{};
  std::string vote_denied_;
  std::string known_as_;
  std::optional<Instant> marker_look_at_;
  std::optional<Instant> name_look_at_;
  Quarantine own_quarantine_;
  Quarantine doubt_;
  Quarantine node_quarantine_;
  NodeClock clock_;
  bool clock_far_ = false;
  Instant clock_read_at_ = Instant::min();
  std::uint64_t evicted_ = 0;
  Instant evictions_read_at_ = Instant::min();
  std::vector<std::int64_t> suspects_;  // oldest first

  support::Ring<Sent> ring_;
  std::vector<HeldBack> held_;
  std::size_t held_count_ = 0;  // the oldest requests in ring_ whose answers are held back
  std::size_t held_taken_ = 0;
  struct HeldDetails {
    Answer answer{};  // without its texts, which follow
    std::string text{};
    std::string for_people{};
  };
  std::vector<HeldDetails> held_details_;  // never shrinks: the texts' memory is reused
  std::size_t details_held_ = 0;
  std::size_t details_taken_ = 0;

  bool retrying_ = true;
  bool measured_ = false;
  Duration smoothed_{};
  Duration last_round_trip_{};
  Duration variation_{};
  unsigned failures_ = 0;  ///< connections that ended, less the seconds in which one was of use
  Instant up_since_{};
  bool answered_ = false;  ///< whether a request was answered on this connection
  bool returning_ = false;
  bool returns_once_more_ = false;
  unsigned slow_connections_ = 0;  ///< successive connections that were not made within their limit
  std::optional<Instant> connecting_since_;
  std::optional<Instant> retry_at_ = Instant::min();  // the first connection is due at once
};

}  // namespace redlock::core
