#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/vocabulary/holder_words.hpp"
#include "core/vocabulary/kind.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/time.hpp"
#include "support/overwrite.hpp"

namespace redlock::core {

/// The terms that most locks do not have.
struct SpecialTerms {
  std::vector<std::string> more_resources;  ///< taken and released together with the first
  std::string group;  ///< the group whose members can hold it together; empty: nobody else can
  std::uint32_t permits = 0;  ///< the permits of the semaphore; 0: not a semaphore
  Duration interval{};        ///< how long nobody else can have it, from the grant on
  /// The expiry for orphans, keys in the way that have none; none: orphans are left alone.
  std::optional<Duration> orphan_ttl;

  [[nodiscard]] Kind kind() const noexcept {
    if (permits > 0) return Kind::permit;
    if (!group.empty()) return group == readers_group ? Kind::shared : Kind::owned;
    return more_resources.empty() ? Kind::exclusive : Kind::several;
  }
  /// The traits of the kind.
  [[nodiscard]] const KindTraits& traits() const noexcept { return traits_of(kind()); }

  /// Whether this is a plain lock, which has no special terms.
  [[nodiscard]] bool none() const noexcept {
    return more_resources.empty() && group.empty() && permits == 0 &&
           interval == Duration::zero() && !orphan_ttl;
  }
};

inline const SpecialTerms plain_terms;

/// The terms of a call, which do not change while the call lasts.
struct LockTerms : SpecialTerms {
  std::string resource;
  Duration ttl{};
  std::string name;  ///< the holder's name, stored after the token

  /// One of the resources, counted from 1: `resource`, then `more_resources`.
  [[nodiscard]] const std::string& resource_at(std::uint64_t which) const {
    return which > 1 ? more_resources[which - 2] : resource;
  }
  /// The order in which nodes look at several resources: first at the one that the caller waits for
  /// (0: none), then at the others by their names, which is the same order for all clients.
  [[nodiscard]] std::vector<std::uint64_t> order(std::uint64_t waits_for) const {
    std::vector<std::uint64_t> order(more_resources.size() + 1);
    std::iota(order.begin(), order.end(), 1);
    std::sort(order.begin(), order.end(), [&](std::uint64_t one, std::uint64_t other) {
      if (one == waits_for || other == waits_for) return one != other && one == waits_for;
      return resource_at(one) < resource_at(other);
    });
    return order;
  }

  /// Takes the terms of the call, and keeps what the members have allocated.
  void assign(const Acquire& event) {
    support::overwrite(resource, event.resource);
    more_resources.assign(event.more_resources.begin(), event.more_resources.end());
    if (group != event.group) group.assign(event.group);
    permits = event.permits;
    interval = event.interval;
    ttl = event.ttl;
    if (name != event.name) name.assign(event.name);
    orphan_ttl = event.orphan_ttl;
  }
};

}  // namespace redlock::core
