#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "core/node_set.hpp"
#include "core/round.hpp"
#include "core/time.hpp"
#include "redlock/limits.hpp"
#include "redlock/report.hpp"

namespace redlock::runtime {

/// The outcome of a round, stored compactly until a caller asks for its report: a string is stored
/// only if a node gave a reason, so that the usual round needs none.
class KeptRound {
 public:
  /// `urls` lives longer, and is not changed.
  KeptRound(const core::Round& round, const std::vector<std::string>& urls, core::Duration elapsed,
            core::Duration validity);

  [[nodiscard]] RoundReport report() const;

 private:
  const std::vector<std::string>* urls_;
  std::size_t nodes_;
  std::size_t quorum_;
  core::Duration ttl_;
  core::Duration elapsed_;
  core::Duration validity_;
  core::NodeSet granted_;
  std::array<core::Duration, limits::nodes> round_trips_;  // of those that granted
  std::vector<NodeReport> wordy_;                          // empty, or the report of all nodes
};

}  // namespace redlock::runtime
