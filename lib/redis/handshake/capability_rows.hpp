#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "core/vocabulary/capabilities.hpp"

/// How the handshake finds a server's capabilities. A new capability needs a row here.
namespace redlock::redis {

/// A version of Redis. A fork says which version it is compatible with.
struct VersionRow {
  int since = 0;  ///< the major version; 0: any version, also one that is not a number
  core::Capabilities gives;
};

inline constexpr std::array version_rows{
    // Withdrawn if SCRIPT LOAD or EVAL is refused.
    VersionRow{0, {core::Capability::run_scripts}},
    // SET … NX GET is an error before Redis 7.0; ZMSCORE and ZADD GT came with 6.2. Redis 6.0 would
    // also notify us of the writes of our own scripts. Tracking is withdrawn if the server refuses
    // CLIENT TRACKING or is ineligible.
    VersionRow{
        7, {core::Capability::name_holder, core::Capability::set_fenced, core::Capability::track}},
};

/// A command that not every server knows. COMMAND GETKEYS answers the keys of the call, or an error
/// if the server does not know the command. COMMAND INFO and COMMAND LIST cost the server more.
struct CommandRow {
  std::array<std::string_view, 6> words;  ///< empty ones at the end
  core::Capabilities gives;
  /// A capability that an earlier row gives, and that is preferred to this row.
  std::optional<core::Capability> unless{};

  [[nodiscard]] constexpr std::span<const std::string_view> question() const noexcept {
    const auto end = std::find(words.begin(), words.end(), std::string_view());
    return {words.begin(), end};
  }
};

inline constexpr std::array command_rows{
    CommandRow{{"COMMAND", "GETKEYS", "DELIFEQ", "key", "value"}, {core::Capability::compare}},
    // DELIFEQ is shorter, and is used if the server knows both. Every server that knows DELEX has
    // what came with Redis 7.0, whatever its version looks like.
    CommandRow{{"COMMAND", "GETKEYS", "DELEX", "key"},
               {core::Capability::compare, core::Capability::compare_by_delex,
                core::Capability::name_holder, core::Capability::set_fenced},
               core::Capability::compare},
    CommandRow{{"COMMAND", "GETKEYS", "MSETEX", "1", "key", "value"}, {core::Capability::set_all}},
};

[[nodiscard]] constexpr core::Capabilities with_a_row() noexcept {
  core::Capabilities all;
  for (const VersionRow& row : version_rows) all = all.with(row.gives);
  for (const CommandRow& row : command_rows) all = all.with(row.gives);
  return all;
}
static_assert(with_a_row() == core::Capabilities::all(), "each capability has a name and a row");

}  // namespace redlock::redis
