#include "core/duties/marker_proof.hpp"

namespace redlock::core {

void MarkerProof::end_turn() {
  unproven_ = unproven_ & nodes_.up();
  if (unproven_.empty()) return;
  // Congested nodes are asked, too: one reading serves many votes, and they wait for it.
  const NodeSet with_floor = unproven_ & floor_wanted_;
  const NodeSet others = unproven_ - with_floor;
  outbox_.read_markers(others, Stamp(Verb::read_marker));
  outbox_.read_markers(with_floor, Stamp(Verb::read_floor_and_marker));
  unproven_ = floor_wanted_ = NodeSet();
}

void MarkerProof::read(NodeIndex node, bool wants_votes) {
  // The reading also covers the votes that were requested earlier in this turn.
  const Verb reading = floor_wanted_.has(node) ? Verb::read_floor_and_marker : Verb::read_marker;
  // At a replicated node it covers them only together with the reign, whose reading also shows that
  // the server is a replica now.
  if (unproven_.has(node) || wants_votes) {
    return outbox_.read_markers(NodeSet::of(node), Stamp(reading));
  }
  outbox_.send(NodeSet::of(node), Stamp(reading));
}

std::size_t MarkerProof::confirmed(const PlainYeses& event) const {
  const Link& link = nodes_[event.node];
  if (!settings_.restart_guard || link.in_flight->has_held_back()) return 0;
  std::size_t count = event.answers.size();
  while (count > 0 && event.answers[count - 1].reply != Reply::marker) --count;
  return count > 0 && event.marker == link.mandate->marker_text() ? count : 0;
}

}  // namespace redlock::core
