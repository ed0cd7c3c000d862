#pragma once

#include <string_view>

#include "chaos/contender.hpp"

namespace redlock::chaos {

/// What people lock with on a service of a primary and replicas, if they do not ask who follows.
struct UnsafeLock {
  std::string_view name;
  /// A lock counts when this many replicas have acknowledged it.
  unsigned acknowledgements;
};

/// Null: there is no such lock.
[[nodiscard]] const UnsafeLock* find_unsafe_lock(std::string_view name) noexcept;
/// "set, set-wait"
[[nodiscard]] std::string_view unsafe_lock_names() noexcept;

/// Takes exclusive locks, and records them as ours. The sentinels, or servers of
/// the cluster, name the primary at each new connection. Returns the exit code.
[[nodiscard]] int run_unsafe_contender(const ContenderRequest& request, const UnsafeLock& lock);

}  // namespace redlock::chaos
