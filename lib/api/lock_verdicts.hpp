#pragma once

#include <cstddef>
#include <vector>

#include "redlock/listing.hpp"
#include "runtime/listing.hpp"

namespace redlock::api {

/// Compares what the nodes store, by votes, and puts the permits of a semaphore together. Pure.
[[nodiscard]] LockList judge_locks(const std::vector<runtime::NodeLocks>& nodes,
                                   std::size_t quorum);

}  // namespace redlock::api
