#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "redlock/deployment.hpp"

namespace redlock::cli {

/// The meaning of a finding for monitoring. `critical`: two clients may be granted the same lock,
/// or a guarantee that clients rely on does not hold. Everything else is a `warning`, because locks
/// are granted and safe while a quorum has a vote.
enum class FindingLevel { warning, critical };

/// "warning", "critical".
[[nodiscard]] std::string_view to_string(FindingLevel level) noexcept;

struct FindingRow {
  admin::Finding::Kind kind{};
  FindingLevel level = FindingLevel::warning;
};

/// A row for each kind of finding.
[[nodiscard]] std::span<const FindingRow> finding_rows() noexcept;
[[nodiscard]] const FindingRow& finding_row_of(admin::Finding::Kind kind) noexcept;

/// How many of the checked nodes have a vote for new locks now.
[[nodiscard]] std::size_t count_voters(const admin::DeploymentCheck& check);

/// Whether new locks are granted now.
struct Grants {
  bool granted = false;
  std::string text{};  ///< "2 of 5 nodes have a vote, 3 are needed", and when, if that is known
};
/// `guarded`: with the restart guard.
[[nodiscard]] Grants grants_of(const admin::DeploymentCheck& check, bool guarded);

}  // namespace redlock::cli
