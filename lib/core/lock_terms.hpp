#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/messages.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// What was asked for: it does not change while the call, or the lease that came of it, lasts.
struct LockTerms {
  std::string resource;                     ///< of one permit: the permit's own key
  std::vector<std::string> more_resources;  ///< taken and given back with it
  std::string group;          ///< who may hold it at the same time; empty: nobody else
  std::uint32_t permits = 0;  ///< one of so many; 0: the resource itself
  Duration hold_at_least{};   ///< for how long nobody else may have it, from the grant on
  Duration ttl{};
  std::string name;  ///< stored behind the token
  std::optional<Duration> orphan_ttl;

  /// Whether it is about this resource too.
  [[nodiscard]] bool names(std::string_view one) const {
    return resource == one ||
           std::find(more_resources.begin(), more_resources.end(), one) != more_resources.end();
  }

  /// Keeps what the members have allocated.
  void assign(const Acquire& event) {
    resource.assign(event.resource);
    more_resources.assign(event.more_resources.begin(), event.more_resources.end());
    group.assign(event.group);
    permits = event.permits;
    hold_at_least = event.hold_at_least;
    ttl = event.ttl;
    name.assign(event.name);
    orphan_ttl = event.orphan_ttl;
  }
  /// Resources and nothing else: of a round about somebody's token.
  void assign(std::string_view of, std::span<const std::string> more = {}) {
    resource.assign(of);
    more_resources.assign(more.begin(), more.end());
    group.clear();
    permits = 0;
    hold_at_least = ttl = Duration::zero();
    name.clear();
    orphan_ttl.reset();
  }
};

}  // namespace redlock::core
