#include "runtime/node_reports.hpp"

#include <stdexcept>
#include <utility>

#include "support/assert.hpp"

namespace redlock {

NodeReports::NodeReports(std::vector<NodeReport> parts)
    : size_(static_cast<std::uint8_t>(parts.size())) {
  REDLOCK_ASSERT(parts.size() <= limits::nodes);
  parts_ = std::make_shared<const std::vector<NodeReport>>(std::move(parts));
}

NodeReports::NodeReports(Plain&& plain) noexcept
    : urls_(std::move(plain.urls)),
      round_trips_(plain.round_trips),
      granted_(plain.granted.bits()),
      size_(static_cast<std::uint8_t>(plain.size)) {}

NodeReport NodeReports::operator[](std::size_t node) const {
  REDLOCK_ASSERT(node < size_);
  if (parts_) return (*parts_)[node];
  NodeReport report;
  report.url = (*urls_)[node];
  if (((granted_ >> node) & 1U) == 0) return report;
  report.vote = Vote::granted;
  report.round_trip = round_trips_[node];
  return report;
}

NodeReport NodeReports::at(std::size_t node) const {
  if (node >= size_) throw std::out_of_range("a report of fewer nodes");
  return (*this)[node];
}

}  // namespace redlock
