#include <algorithm>
#include <chrono>
#include <string>

#include "core/admission.hpp"
#include "core/engine.hpp"
#include "core/quorum.hpp"
#include "support/assert.hpp"

/// What a node remembers: its membership record, and votes that count only with it.
namespace redlock::core {

void Engine::begin_round(Claim& claim, std::uint16_t number, Duration ttl) {
  wake(claim);
  const Nodes::Ballot& ballot = nodes_.ballot();
  claim.work->deployment.assign(ballot.deployment);
  claim.work->ballot_found_at = ballot.found_at;
  claim.round.begin(number, nodes_.size(), ballot.quorum, now_, ttl);
}

void Engine::on(const TurnEnd&) {
  uncovered_ = uncovered_ & nodes_.up();
  if (uncovered_.empty()) return;
  // Sent to congested nodes too: there is one of these for many votes, and they wait for it.
  outbox_.send(SendUpkeep{{uncovered_, upkeep(Verb::read_marker)}});
  uncovered_ = NodeSet();
}

void Engine::look_at_marker(NodeIndex node) {
  if (!drain_until_) {
    outbox_.send(SendUpkeep{{NodeSet::of(node), upkeep(Verb::read_marker)}});
  }
}

void Engine::take_marker(const Answer& marker) {
  Link& link = nodes_[marker.node];
  if (marker.reply != Reply::marker) {
    return end_connection(marker.node, Vote::error,
                          "its membership record could not be read: " + std::string(marker.text));
  }
  if (marker.text != link.marker_text()) {
    return end_connection(marker.node, Vote::error,
                          "its membership record changed: it may have forgotten what it was asked "
                          "just now");
  }
  count_held_back(marker.node);
  static_cast<void>(link.answered(marker.stamp, now_));
  take_confirmation(marker.node, marker.stamp);
}

void Engine::count_held_back(NodeIndex node) {
  Answer answer;
  answer.node = node;
  while (const std::optional<Arrival> arrival = nodes_[node].take_held_back(answer)) {
    take_answer(answer, Vote::unreachable, arrival);
  }
}

void Engine::end_connection(NodeIndex node, Vote vote, std::string_view why) {
  outbox_.emit(Disconnect{node});
  drop(node, vote, why);
  nodes_[node].retry_soon(now_);
}

}  // namespace redlock::core
