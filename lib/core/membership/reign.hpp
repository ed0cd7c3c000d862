#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/membership/marker.hpp"

/// The record of a reign, which a replicated node keeps beside its marker. The rules are in
/// tools/docs/design/reigns.md.
namespace redlock::core {

/// The text for people about the quarantine that begins with a reign.
inline constexpr std::string_view primary_is_new = "its primary is new";
/// The same of a node that has no record of a reign. Not `may_be_new`: `bootstrap` does not shorten
/// this quarantine.
inline constexpr std::string_view servers_are_new = "its servers are new or have lost their data";

/// How many servers the member is, by its name: `servers=` in its query. 1: it is no replicated
/// node.
[[nodiscard]] std::size_t servers_of(std::string_view member) noexcept;

/// A reign is the time in which one server of a replicated node is primary, and at every instant a
/// majority of the node's servers, itself included, follows it. A record is written when followers
/// were seen, and says since when they are counted.
struct ReignRecord {
  std::string run_id{};  ///< the primary's server process
  std::string replid{};  ///< the replication id of its marker
  /// When it was confirmed, by the primary's clock, since 1970: names the reign. A quarantine began
  /// then.
  std::chrono::microseconds confirmed_at{};
  /// How often a replica had attached to the primary at an instant of this reign.
  std::uint64_t attachments = 0;

  friend bool operator==(const ReignRecord&, const ReignRecord&) = default;
};

/// The record of the marker's server in its present role, not yet confirmed.
[[nodiscard]] ReignRecord reign_of(const Marker& marker);
/// Whether the record is of the marker's server in its present role.
[[nodiscard]] bool is_reign_of(const ReignRecord& record, const Marker& marker);

/// The first words of a record, which name the server and its role.
[[nodiscard]] std::string head_of(const ReignRecord& record);
[[nodiscard]] std::string format_reign(const ReignRecord& record);
/// None: the text was not written by format_reign() or reign.lua.
[[nodiscard]] std::optional<ReignRecord> parse_reign(std::string_view text);

}  // namespace redlock::core
