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

/// How a round went, kept small for whoever may ask for its report later: words are kept only where
/// a node had something to say, so that the usual round costs no string.
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
  std::vector<NodeReport> wordy_;                          // empty, or all there is to be told
};

}  // namespace redlock::runtime
