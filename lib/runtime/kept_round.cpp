#include "runtime/kept_round.hpp"

#include <algorithm>

#include "runtime/explain.hpp"

namespace redlock::runtime {

KeptRound::KeptRound(const core::Round& round, const std::vector<std::string>& urls,
                     core::Duration elapsed, core::Duration validity)
    : urls_(&urls),
      nodes_(round.nodes()),
      quorum_(round.quorum()),
      ttl_(round.ttl()),
      elapsed_(elapsed),
      validity_(std::max(validity, core::Duration::zero())),
      granted_(round.granted()) {
  granted_.each([&](core::NodeIndex node) {
    round_trips_[node] = round.vote(node).round_trip.value_or(core::Duration::zero());
  });
  if ((granted_ | round.pending()).size() == round.nodes()) return;
  wordy_ = report_round(round, urls, elapsed, validity).nodes;
}

RoundReport KeptRound::report() const {
  RoundReport report;
  report.quorum = quorum_;
  report.ttl = ttl_;
  report.elapsed = elapsed_;
  report.validity = validity_;
  report.nodes = wordy_;
  if (!wordy_.empty()) return report;
  report.nodes.resize(nodes_);
  for (std::size_t i = 0; i < nodes_; ++i) {
    NodeReport& node = report.nodes[i];
    node.url = (*urls_)[i];
    if (!granted_.has(static_cast<core::NodeIndex>(i))) continue;
    node.vote = Vote::granted;
    node.round_trip = round_trips_[i];
  }
  return report;
}

}  // namespace redlock::runtime
