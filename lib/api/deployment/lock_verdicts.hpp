#pragma once

#include <cstddef>
#include <vector>

#include "redlock/listing.hpp"
#include "runtime/listing.hpp"

namespace redlock::api {

/// Compares what the nodes store, by votes, and puts the permits of a semaphore together. Pure. Its
/// verdicts differ from those of an inspection (`runtime::judge`). An inspection says whether one
/// resource can be acquired: a reservation or a key that is not a lock takes a node, and a resource
/// is free if a quorum says so. A list also shows locks that are left on a minority, and resources
/// that are only reserved. In a list, a key that could not be read is unknown.
[[nodiscard]] admin::LockList judge_locks(const std::vector<runtime::NodeLocks>& nodes,
                                          std::size_t quorum);

/// Adds the members of the deployment that the list of nodes lacks, as nodes that did not answer:
/// otherwise locks that they keep would count as free. Returns the quorum of that deployment, or
/// `quorum` if that is larger. Pure.
[[nodiscard]] std::size_t add_unlisted_members(std::vector<runtime::NodeLocks>& nodes,
                                               std::size_t quorum);

}  // namespace redlock::api
