#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/limits.hpp"

/// The record that a node keeps about itself and its deployment: one string, compared as a whole.
namespace redlock::core {

/// The membership record of one node. A vote counts only while the node keeps the very record that
/// the client saw when it connected, so every writing draws a new incarnation, and every writing is
/// a compare-and-set (mark.lua). The rules are in tools/docs/design/membership.md.
struct Marker {
  enum class State : std::uint8_t {
    blank,    ///< belongs to no deployment that it remembers: no vote
    opening,  ///< clients or `bootstrap` are opening a whole deployment: no vote until it is active
    joining,  ///< it is being added to a deployment by an operator, who alone may end this: no vote
    active,   ///< a member; votes unless it is quarantined
  };

  State state = State::blank;
  std::string incarnation{};  ///< random, drawn anew for each writing
  std::string deployment{};   ///< random, drawn for each set of members; blank: empty
  std::string run_id{};       ///< the run_id of the server process that was marked
  /// The history of that server's memory: see NodeMemory. A server with another history may have
  /// forgotten something since it was marked.
  std::string replid{};
  std::chrono::milliseconds max_ttl{0};  ///< the longest lease of the deployment
  bool durable = false;                  ///< the node was durable (see GuardOptions::trust_durable)
                                         ///< when it was marked
  std::string self{};                    ///< the member that this node is; blank: may be empty
  std::vector<std::string> members{};    ///< URLs without user and password, sorted; blank: empty
  /// The admission of each member; empty: first_admission for all.
  std::vector<std::string> admissions{};
  /// When the node last forgot anything, by its own clock, since 1970. `always`: it forgot nothing;
  /// its deployment was new when it was opened, and the node has been a member since then.
  static constexpr std::chrono::microseconds always{0};
  static constexpr std::chrono::microseconds from_its_writing{
      -1};  ///< written_at, once the marker is read
  std::chrono::microseconds remembers_since = always;
  /// When it was written, by the node's own clock, since 1970. mark.lua and guard.lua append it.
  std::chrono::microseconds written_at{0};

  friend bool operator==(const Marker&, const Marker&) = default;
};

/// An admission is drawn anew whenever a node that forgot is taken back. A server that was this
/// member before, and was not taken back then, is not the member from then on. The later of two
/// admissions of one member counts. The rules are in tools/docs/design/membership.md.
inline constexpr std::string_view first_admission = "0";
/// The admission that follows `before`, for the node whose marker has this incarnation. All clients
/// draw the same one.
[[nodiscard]] std::string next_admission(std::string_view before, std::string_view incarnation);
/// Whether the admission was drawn for the node whose marker has this incarnation.
[[nodiscard]] bool is_admission_of(std::string_view admission,
                                   std::string_view incarnation) noexcept;
[[nodiscard]] bool is_later_admission(std::string_view one, std::string_view other) noexcept;
/// The admission of this member; first_admission if the name is not a member.
[[nodiscard]] std::string_view admission_of(const Marker& marker, std::string_view member) noexcept;
/// The admission of the node itself.
[[nodiscard]] std::string_view own_admission(const Marker& marker) noexcept;
/// Precondition: `member` is a member.
void set_admission(Marker& marker, std::string_view member, std::string_view admission);
/// Gives each member of `marker` the later of its two admissions. Returns whether one rose.
bool raise_admissions(Marker& marker, const Marker& other);
/// The admission under which the node with this marker, blank or opening, becomes the member of
/// `list`. Its own, if it was marked for the opening of `list` and has forgotten nothing since;
/// otherwise a new one.
[[nodiscard]] std::string admission_for(const Marker& marker, const Marker& list,
                                        std::string_view member);

/// The deployment, its members and their admissions, in one text: votes count together only if this
/// is the same, word for word.
[[nodiscard]] std::string deployment_text(const Marker& marker);

/// An id begins with a number that each change raises. It says which of two ids is the later one,
/// even when the node that began the change is gone. An id without a number counts as 0.
[[nodiscard]] std::uint64_t generation_of(std::string_view id) noexcept;
[[nodiscard]] std::string next_id(std::uint64_t generation, std::string_view random);

/// Why a quarantine began, as the node keeps it: a client met the node without a marker. The node
/// is new, or has lost its data.
inline constexpr std::string_view met_unmarked = "empty";
/// A client met the node without a marker, and has since drawn the id of its deployment, marked the
/// node and made it active, while nobody else wrote there. The node has forgotten no vote of this
/// deployment.
inline constexpr std::string_view opened_as_new = "opened";
/// The text for people about such a node. A quarantine with this text is one that `bootstrap` may
/// end.
inline constexpr std::string_view may_be_new = "it is new or has lost its data";
inline constexpr std::string_view came_without_data = "it came without its data";
inline constexpr std::string_view may_have_forgotten =
    " and may have forgotten leases that are still valid";

/// The greatest length of a marker; a longer text is not a marker.
inline constexpr std::size_t marker_bytes = 8192;

/// Whether a marker can contain this name: the characters of a URL without user and password, no
/// spaces, no commas, at most 255 bytes, not "-".
[[nodiscard]] bool is_member_name(std::string_view name) noexcept;

/// The stored text without `written_at`, which the script appends after a space. Precondition: ids
/// are neither empty nor contain spaces (`deployment` may be empty), names are is_member_name().
[[nodiscard]] std::string format_marker(const Marker& marker);

/// Parses a marker. None: the text was not written by format_marker() and completed by a script. A
/// text of an earlier version is not a marker.
[[nodiscard]] std::optional<Marker> parse_marker(std::string_view text);

}  // namespace redlock::core
