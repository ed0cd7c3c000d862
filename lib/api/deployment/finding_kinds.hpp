#pragma once

#include <string_view>

#include "redlock/deployment.hpp"

namespace redlock::api {

/// What a kind of finding means; a row for each.
struct FindingKind {
  admin::Finding::Kind kind{};
  std::string_view id{};
  /// A node with it cannot be opened: neither a quarantine nor waiting resolves the problem, and an
  /// opened node votes at once.
  bool forbids_opening = false;
  /// The nodes that it names have no vote; for duplicates: all but the first.
  bool costs_vote = false;
};

[[nodiscard]] const FindingKind& kind_of(admin::Finding::Kind kind) noexcept;

/// Whether a finding costs the node at this URL its vote.
[[nodiscard]] bool costs_vote_of(const admin::Finding& finding, std::string_view url);

}  // namespace redlock::api
