#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "quorum-lock/locks/break_many.hpp"
#include "quorum-lock/locks/breaking.hpp"
#include "redlock/client.hpp"
#include "redlock/inspection.hpp"
#include "redlock/listing.hpp"

namespace redlock::cli {

/// A lock that is to be broken: on a resource, or on one permit of a semaphore.
struct ChosenLock {
  Breaking what{};
  Inspection before{};
};

struct ChosenLocks {
  std::vector<ChosenLock> locks{};
  admin::LockList rows{};  ///< the locks as `list` shows them; permits are one row
  /// The holder's name, for each row; empty: not known, or several.
  std::vector<std::string> names{};
  std::vector<std::string> values{};  ///< resources with a value that is not a lock token
};

/// Asks the nodes about each listed lock, and chooses the locks and tokens that the user means.
/// Errors: those of the first inspection that failed.
[[nodiscard]] Result<ChosenLocks> choose_locks(Client& client, const admin::LockList& list,
                                               const ManyBreaking& many);

/// Calls `task` with 0 to `count` - 1, several at once. One after the other, a thousand blocking
/// calls on a client would take a thousand round trips.
void for_each_at_once(std::size_t count, const std::function<void(std::size_t)>& task);

}  // namespace redlock::cli
