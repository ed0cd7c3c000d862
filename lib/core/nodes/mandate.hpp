#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/membership/marker.hpp"
#include "core/membership/node_memory.hpp"
#include "core/vocabulary/capabilities.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

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

/// One node's right to vote: what its server is, what its marker says, which quarantines are in
/// force.
class Mandate {
 public:
  explicit Mandate(VoteVersion& version) : version_(&version) {}

  // --- what the server is -----------------------------------------------------------------------
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
  /// Why the node has no vote on this connection; empty: it has one.
  [[nodiscard]] const std::string& ineligible() const noexcept { return ineligible_; }
  void declare_ineligible(std::string_view why) {
    ineligible_.assign(why);
    version_->changed();
  }
  /// The node that is the same server; none: there is no such node. A duplicate has no vote.
  [[nodiscard]] std::optional<NodeIndex> duplicate_of() const noexcept { return duplicate_of_; }
  void set_duplicate_of(std::optional<NodeIndex> other) noexcept {
    duplicate_of_ = other;
    version_->changed();
  }
  [[nodiscard]] bool is_replica() const noexcept { return replica_; }
  /// The handshake found this. Returns whether the node has forgotten nothing since the marker
  /// before.
  bool met(const NodeUp& event, Instant now);
  /// A replica's role, and whether a node may evict keys, is only seen by a handshake.
  [[nodiscard]] bool role_check_due(Instant now) const noexcept {
    return role_check_at_ && now >= *role_check_at_;
  }
  /// Requests a new connection then: only a handshake sees what the node is, and marks it.
  void meet_anew(Instant at) noexcept { role_check_at_ = at; }

  // --- its marker -------------------------------------------------------------------------------
  /// The node's membership record as the handshake saw it, word for word.
  [[nodiscard]] const std::string& marker_text() const noexcept { return marker_text_; }
  /// The parsed marker. None: the node has no marker, or not one of ours.
  [[nodiscard]] const std::optional<Marker>& marker() const noexcept { return marker_; }
  /// The node's deployment, as deployment_text() writes it; empty: none.
  [[nodiscard]] const std::string& deployment() const noexcept { return deployment_; }
  /// No client has marked the node since its process began, and this client does not want to.
  [[nodiscard]] bool is_unmarked() const noexcept { return unmarked_; }
  /// The marker holds a number of evictions that an operator has reset since. The node votes.
  [[nodiscard]] bool is_outdated() const noexcept { return outdated_; }
  /// Since when the node has forgotten nothing, as far as this client knows without its clock.
  [[nodiscard]] Instant remembers_since() const noexcept { return remembers_since_; }
  /// The node has another marker now. A marker of another process is ignored. Returns whether the
  /// node has forgotten nothing since the marker before.
  bool take_marker(std::string_view text, Instant now, bool of_another = false);
  /// The member that the node was by an active marker, on this or an earlier connection.
  [[nodiscard]] const std::string& known_as() const noexcept { return known_as_; }
  /// Why the membership record gives the node no vote for new leases; empty: it gives one. Existing
  /// leases are extended and released there in any case.
  [[nodiscard]] const std::string& vote_denied() const noexcept { return vote_denied_; }
  void deny_vote(std::string_view why) {
    vote_denied_.assign(why);
    version_->changed();
  }
  /// Has the marker read again at intervals, while `wanted`: nobody announces a change of it.
  void watch_marker(bool wanted, Instant now) noexcept;
  [[nodiscard]] bool take_marker_look(Instant now) noexcept;
  /// Has the node connected to again, while `wanted`, to see whether its name leads to another
  /// server.
  void watch_name(bool wanted, Instant now) noexcept;
  [[nodiscard]] bool name_look_due(Instant now) const noexcept {
    return name_look_at_ && now >= *name_look_at_;
  }

  // --- its quarantines --------------------------------------------------------------------------
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
  void quarantine(Instant until, std::string_view why) { prolong(own_quarantine_, until, why); }
  /// A quarantine that the node keeps. A later handshake that finds another marker may find it
  /// ended.
  void quarantine_by_node(Instant until, std::string_view why) {
    prolong(node_quarantine_, until, why);
  }
  /// Whether a quarantine ended just now.
  [[nodiscard]] bool end_quarantine(Instant now) noexcept;
  /// A clock stepped, the node's or ours. Until it is known which one, the doubt counts as a
  /// quarantine of our own.
  void doubt(Instant until, std::string_view why) { prolong(doubt_, until, why); }
  [[nodiscard]] bool in_doubt() const noexcept { return doubt_.until.has_value(); }
  /// Whether the doubt is the only quarantine that is in force.
  [[nodiscard]] bool only_in_doubt() const noexcept {
    return in_doubt() && !quarantine_in_force().until;
  }
  /// The node's clock did not step: the doubt ends.
  void trust_again() noexcept;
  /// The node's clock did step: the doubt becomes the node's own quarantine, of the same length.
  void confirm_doubt(std::string_view why);

  /// Nothing but the end of a request can be due.
  [[nodiscard]] bool awaits_nothing() const noexcept {
    return !quarantined_until() && !role_check_at_ && !marker_look_at_ && !name_look_at_;
  }
  /// When a quarantine ends, or something is to be read again. None: nothing is due.
  [[nodiscard]] std::optional<Instant> deadline() const noexcept;

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

  VoteVersion* version_;
  Capabilities capabilities_;
  std::optional<NodeIndex> duplicate_of_;
  std::string ineligible_;
  bool replica_ = false;
  bool unmarked_ = false;
  bool outdated_ = false;
  std::optional<Instant> role_check_at_;
  std::string marker_text_;
  std::optional<Marker> marker_;
  std::string deployment_;
  Instant remembers_since_{};
  std::string vote_denied_;
  std::string known_as_;
  std::optional<Instant> marker_look_at_;
  std::optional<Instant> name_look_at_;
  Quarantine own_quarantine_;
  Quarantine doubt_;
  Quarantine node_quarantine_;
};

}  // namespace redlock::core
