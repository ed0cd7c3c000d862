#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/session/output.hpp"
#include "redlock/listing.hpp"

namespace redlock::cli {

/// The locks as a table, see table_lines(). `names`: the names of the holders, in the order of the
/// locks, which are shown in place of their tokens; an empty name is not known.
[[nodiscard]] std::vector<std::string> lock_lines(const Style& style, const admin::LockList& list,
                                                  std::optional<std::size_t> width = std::nullopt,
                                                  const std::vector<std::string>& names = {});

/// "12 locks: 10 held, 1 split, 1 reserved; 3 wait".
[[nodiscard]] std::string lock_summary(const admin::LockList& list);

/// Reasons why the list is incomplete, a line each; none: it is complete.
[[nodiscard]] std::vector<std::string> list_warnings(const admin::LockList& list,
                                                     std::size_t limit);

/// One line that says that fewer than a quorum of the nodes answered, and why.
[[nodiscard]] std::string too_few_answered(const admin::LockList& list);

/// The JSON of `list`: one line.
[[nodiscard]] std::string list_json(const admin::LockList& list);

}  // namespace redlock::cli
