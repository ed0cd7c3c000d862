#include "core/duties/space_queue.hpp"

namespace redlock::core {

bool SpaceQueue::has_space(const Nodes::Ballot& ballot) const {
  // Only half of each connection is used: what follows from the answers has to be sent, too.
  std::size_t nodes = 0;
  nodes_.voters_of(ballot).each([&](NodeIndex node) {
    nodes += 2 * nodes_[node].in_flight->size() < settings_.max_unanswered ? 1U : 0U;
  });
  return nodes >= ballot.quorum;
}

void SpaceQueue::wait(Acquisition& acquisition) {
  if (acquisition.waits_for_space) return;
  acquisition.waits_for_space.by(me) = true;
  waiting_.push_back({acquisition.index, acquisition.generation});
}

Acquisition* SpaceQueue::next() {
  while (!waiting_.empty()) {
    const Nodes::Ballot ballot = nodes_.ballot();
    const bool reachable = nodes_.voters_of(ballot).size() >= ballot.quorum;
    // If too few nodes can vote, nothing is sent, and each acquisition waits for them by itself.
    if (reachable && !has_space(ballot)) return nullptr;
    const Waiting first = waiting_.front();
    waiting_.pop_front();
    Acquisition* const acquisition = acquisitions_.find(first.index, first.generation);
    if (acquisition == nullptr || !acquisition->waits_for_space) continue;
    acquisition->waits_for_space.by(me) = false;
    if (acquisition->state == Acquisition::State::backing_off) return acquisition;
  }
  return nullptr;
}

}  // namespace redlock::core
