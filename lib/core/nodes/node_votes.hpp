#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"
#include "redlock/limits.hpp"
#include "redlock/report.hpp"

namespace redlock {

struct NodeVotes::Plain {
  std::shared_ptr<const std::vector<std::string>> urls;
  std::size_t size = 0;
  core::NodeSet granted;
  std::array<core::Duration, limits::nodes> round_trips{};  ///< by node, if the node granted
};

}  // namespace redlock
