#include "core/nodes/node_votes.hpp"

#include <utility>

#include "support/assert.hpp"

namespace redlock {

NodeVotes::NodeVotes(std::vector<NodeVote> parts)
    : size_(static_cast<std::uint16_t>(parts.size())) {
  REDLOCK_ASSERT(parts.size() <= UINT16_MAX);
  parts_ = std::make_unique<const Parts>(std::move(parts)).release();
}

NodeVotes::NodeVotes(Plain&& plain) noexcept
    : urls_(std::move(plain.urls)),
      granted_(plain.granted.bits()),
      size_(static_cast<std::uint16_t>(plain.size)) {
  static_assert(limits::nodes <= most_plain, "of more nodes, make the parts here");
  for (std::size_t node = 0; node < size_; ++node) {
    round_trips_[node] = static_cast<float>(plain.round_trips[node].count());
  }
}

NodeVotes::NodeVotes(const NodeVotes& other)
    : urls_(other.urls_),
      round_trips_(other.round_trips_),
      granted_(other.granted_),
      size_(other.size_) {
  // Reports of plain rounds are made when they are read.
  if (!urls_ && size_ > 0) parts_ = std::make_unique<const Parts>(other.parts()).release();
}

NodeVotes& NodeVotes::operator=(NodeVotes other) noexcept {
  other.parts_ = parts_.exchange(other.parts_);
  urls_.swap(other.urls_);
  round_trips_ = other.round_trips_;
  granted_ = other.granted_;
  size_ = other.size_;
  return *this;
}

const NodeVotes::Parts& NodeVotes::parts() const {
  const Parts* const made = parts_.load(std::memory_order_acquire);
  return made != nullptr ? *made : make_parts();
}

const NodeVotes::Parts& NodeVotes::make_parts() const {
  auto parts = std::make_unique<Parts>(size_);
  for (std::size_t node = 0; node < size_; ++node) {
    NodeVote& report = (*parts)[node];
    report.url = (*urls_)[node];
    if (((granted_ >> node) & 1U) == 0) continue;
    report.vote = Vote::granted;
    report.round_trip = core::Duration(static_cast<core::Duration::rep>(round_trips_[node]));
  }
  // If two threads read at the same time, the first one's reports stay.
  const Parts* first = nullptr;
  if (!parts_.compare_exchange_strong(first, parts.get(), std::memory_order_acq_rel)) {
    return *first;
  }
  return *parts.release();
}

void NodeVotes::forget_parts() noexcept {
  const std::unique_ptr<const Parts> owned(parts_.load(std::memory_order_relaxed));
}

}  // namespace redlock
