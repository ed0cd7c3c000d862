#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/containers/written_by.hpp"
#include "core/nodes/contact.hpp"
#include "core/nodes/in_flight.hpp"
#include "core/nodes/mandate.hpp"
#include "core/nodes/node_clock.hpp"
#include "core/nodes/reign.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "support/assert.hpp"

namespace redlock::core {

/// Why a node that is up is not asked: see InFlight::congested().
inline constexpr std::string_view too_many_unanswered = "too many requests unanswered";
/// Why a node in first contact is not waited for.
inline constexpr std::string_view not_connected_yet = "not connected yet";
/// Why a node without a marker of its process is not asked.
inline constexpr std::string_view nobody_met_it = "it is new or restarted, and not yet admitted";
/// Why a node with a blank marker is not asked.
inline constexpr std::string_view no_deployment =
    "it belongs to no deployment: it is new, or forgot which";

/// Why a node is connected to again whose number of evictions an operator has reset.
inline constexpr std::string_view counters_were_reset =
    "its counters were reset: it has to say whether it may evict keys";

class Answers;
class Clocks;
class Closing;
class Contacts;
class Enroller;
class Nodes;
class Outbox;
class Sender;

/// One node as this client knows it: the connection, the requests in flight, the right to vote, the
/// clock. Each is a part with functions of its own; Link has those that concern several parts.
class Link {
 public:
  /// `settings` and `version` outlive the link. `servers`: how many the node is.
  Link(const Settings& settings, VoteVersion& version, std::size_t servers)
      : contact(Contact(settings)),
        in_flight(InFlight(settings)),
        mandate(Mandate(version)),
        reign(Reign(servers, version)),
        version_(&version),
        clock_(settings.max_ttl) {}

  /// The parts as a whole; Outbox and Enroller also enter requests and answers: sent(), answered().
  template <typename Part, typename... Writers>
  using Of = WrittenBy<Part, Link, Writers...>;
  Of<Contact, Contacts, Closing, Answers> contact;
  Of<InFlight, Contacts, Answers> in_flight;
  Of<Mandate, Nodes, Contacts, Clocks, Enroller, Sender> mandate;
  Of<Reign, Answers, Contacts> reign;

  [[nodiscard]] bool up() const noexcept { return contact->up(); }
  /// Returns how many keys the server had evicted, if an operator has reset that number since.
  std::optional<std::uint64_t> came_up(By<Contacts> /*their*/, const NodeUp& event, Instant now);
  void went_down(By<Contacts> /*their*/, Instant now, Vote vote, std::string_view why,
                 Randomness& random);
  /// Up, and no request but upkeep is unanswered: if the connection ends now, nobody misses it.
  [[nodiscard]] bool idle() const noexcept { return up() && in_flight->is_upkeep_only(); }
  void sent(By<Outbox> /*their*/, const Stamp& stamp, Instant now) {
    REDLOCK_ASSERT(up());
    in_flight.by(me).sent(stamp, now);
  }
  template <OneOf<Answers, Enroller> Writer>
  [[nodiscard]] Arrival answered(By<Writer> /*their*/, const Stamp& stamp, Instant now) {
    contact.by(me).was_answered();
    return in_flight.by(me).answered(stamp, now);
  }

  /// The node is a replica: no writing request is sent there until its role has changed.
  [[nodiscard]] bool read_only() const noexcept { return up() && mandate->is_replica(); }
  [[nodiscard]] bool unmarked() const noexcept { return up() && mandate->is_unmarked(); }
  [[nodiscard]] bool outdated() const noexcept { return up() && mandate->is_outdated(); }
  /// Minimum time since the node last forgot anything; Duration::max(): it never did. If its clock
  /// is not known: the time since this client met it.
  [[nodiscard]] Duration remembers_for(Instant now) const noexcept;
  /// Requests a new connection to a node that is likely to have kept its vote.
  void return_anew(By<Clocks> /*their*/, Instant now) noexcept {
    mandate.by(me).meet_anew(now);
    contact.by(me).return_once_more();
  }

  // --- clock and evictions ----------------------------------------------------------------------
  [[nodiscard]] const NodeClock& clock() const noexcept { return clock_; }
  [[nodiscard]] bool clock_known() const noexcept { return clock_.offset().has_value(); }
  /// See NodeClock::observe.
  NodeClock::Reading observe_clock(By<Clocks> /*their*/, Instant sent, Instant received,
                                   Duration time) noexcept {
    if (!clock_known()) version_->changed();
    return clock_.observe(sent, received, time);
  }
  void our_clock_stood_still(By<Clocks> /*their*/, const Gain& ours, bool read_since) noexcept {
    clock_.ours_stood_still(ours, read_since);
  }
  /// Whether the clock is far from the median of all nodes' clocks.
  [[nodiscard]] bool clock_far() const noexcept { return clock_far_; }
  void set_clock_far(By<Nodes> /*their*/, bool far) noexcept {
    if (far != clock_far_) version_->changed();
    clock_far_ = far;
  }
  [[nodiscard]] Instant clock_read_at() const noexcept { return clock_read_at_; }
  void reading_clock(By<Clocks> /*their*/, Instant now) noexcept { clock_read_at_ = now; }
  /// How many keys the server process had evicted when it was last asked.
  [[nodiscard]] std::uint64_t evicted() const noexcept { return evicted_; }
  /// The node may have evicted any lock: keys that were set there until now do not count.
  void lose_keys(By<Clocks> /*their*/, std::uint64_t evicted) noexcept {
    evicted_ = evicted;
    clock_.lose_keys();
  }
  [[nodiscard]] Instant evictions_read_at() const noexcept { return evictions_read_at_; }
  void reading_evictions(By<Clocks> /*their*/, Instant now) noexcept { evictions_read_at_ = now; }

  // --- time -------------------------------------------------------------------------------------
  /// When the link next needs attention: an answer or a connection is overdue, a quarantine ends,
  /// or something is to be tried or read again. `never`: nothing is due.
  [[nodiscard]] Instant deadline() const noexcept {
    if (!up()) return contact->deadline().value_or(never);
    if (mandate->awaits_nothing()) return in_flight->deadline();
    return std::min(in_flight->deadline(), mandate->deadline().value_or(never));
  }
  [[nodiscard]] bool answer_overdue(Instant now) const noexcept {
    return up() && !in_flight->empty() && now >= in_flight->deadline();
  }
  [[nodiscard]] bool role_check_due(Instant now) const noexcept {
    return up() && mandate->role_check_due(now);
  }
  /// Whether the marker is due to be read again; if so, the next reading is planned.
  [[nodiscard]] bool take_marker_look(By<Contacts> /*their*/, Instant now) noexcept {
    return up() && mandate.by(me).take_marker_look(now);
  }
  [[nodiscard]] bool name_look_due(Instant now) const noexcept {
    return up() && mandate->name_look_due(now);
  }

 private:
  static constexpr By<Link> me{};

  VoteVersion* version_;
  NodeClock clock_;
  bool clock_far_ = false;
  Instant clock_read_at_ = Instant::min();
  std::uint64_t evicted_ = 0;
  Instant evictions_read_at_ = Instant::min();
};

}  // namespace redlock::core
