#pragma once

#include <optional>
#include <vector>

#include "redlock/deployment.hpp"

namespace redlock::cli {

/// Compares the findings of successive checks. A finding counts as the same if its kind and node
/// are the same: its text may differ, such as the time that is left of a quarantine.
class FindingChanges {
 public:
  struct Change {
    std::vector<admin::Finding> appeared{};
    std::vector<admin::Finding> gone{};
  };

  /// None: nothing has changed since the check before. The first check always changes something.
  [[nodiscard]] std::optional<Change> take(const std::vector<admin::Finding>& findings);

 private:
  std::optional<std::vector<admin::Finding>> before_{};
};

}  // namespace redlock::cli
