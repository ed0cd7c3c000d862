#pragma once

#include <cstddef>
#include <vector>

#include "redlock/listing.hpp"
#include "runtime/listing.hpp"

namespace redlock::api {

/// Compares what the nodes store, by votes, and puts the permits of a semaphore together. Pure.
/// An inspection (`runtime::judge`) says whether one resource can be acquired: there, what is
/// reserved or no lock at all takes a node, and free is what a quorum says is free. A list says
/// what is worth a look: what is left on a minority, what only is reserved; and a key that could
/// not be read is unknown. So each has a verdict of its own.
[[nodiscard]] admin::LockList judge_locks(const std::vector<runtime::NodeLocks>& nodes,
                                          std::size_t quorum);

}  // namespace redlock::api
