#pragma once

#include <cstdint>
#include <string>

#include "core/messages.hpp"
#include "core/node_set.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// A caller that wants to know of every change of a resource: an inspection now, and one after each
/// change. Nodes notify the client of changes (TrackedKeys); where too few do, it polls.
struct Observation {
  // kept by Pool
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  bool live = false;

  CallId request{};
  std::string resource;
  Duration poll_interval{};
  ClaimId inspecting{};    ///< the inspection under way
  NodeSet changed;         ///< nodes where it changed since that was sent
  bool news = false;       ///< it changed while an inspection was under way
  unsigned unsettled = 0;  ///< inspections in a row that found no quorum of one mind
};

}  // namespace redlock::core
