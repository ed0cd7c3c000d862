#pragma once

#include <optional>
#include <vector>

#include "redlock/deployment.hpp"

namespace redlock::cli {

/// Compares the findings of successive checks. A finding is the same as before if it is of the same
/// kind and node: what it says may differ, as the rest of a quarantine does.
class FindingChanges {
 public:
  struct Change {
    std::vector<admin::Finding> appeared{};
    std::vector<admin::Finding> gone{};
  };

  /// None: these findings are those of the check before. The first check always changes something.
  [[nodiscard]] std::optional<Change> take(const std::vector<admin::Finding>& findings);

 private:
  std::optional<std::vector<admin::Finding>> before_{};
};

}  // namespace redlock::cli
