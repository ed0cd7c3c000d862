#include <algorithm>
#include <chrono>
#include <string>

#include "core/admission.hpp"
#include "core/engine.hpp"
#include "core/quorum.hpp"
#include "support/assert.hpp"

/// What a node remembers: its membership record, and votes that count only with it.
namespace redlock::core {

void Engine::judge_marker(NodeIndex node) {
  Link& link = links_[node];
  const std::optional<Marker>& marker = link.marker();
  if (!link.unfit().empty()) return;
  if (settings_.restart_guard && !marker) {
    return link.declare_unfit("its membership record is missing or cannot be read");
  }
  if (!marker) return;
  switch (marker->state) {
    case Marker::State::blank:
      // Without the guard, nodes that no client with one has met are as good as any.
      if (settings_.restart_guard) {
        link.deny_vote(no_deployment);
      }
      return;
    case Marker::State::opening:
      return link.deny_vote("its deployment is being opened");
    case Marker::State::joining:
      return link.deny_vote("it is joining a deployment");
    case Marker::State::active:
      break;
  }
  if (!settings_.restart_guard || marker->max_ttl == settings_.max_ttl) return;
  link.declare_unfit("it belongs to a deployment with a max TTL of " + spoken(marker->max_ttl) +
                     "; this client has " + spoken(settings_.max_ttl));
}

Engine::Ballot Engine::ballot() const {
  // The deployment that most nodes carry which could vote: any other has no more votes here.
  const Link* best = nullptr;
  std::size_t most = 0;
  for (const Link& link : links_) {
    if (link.deployment().empty()) continue;
    const auto could_vote = [](const Link& other) {
      return other.up() && !other.twin && other.unfit().empty() && other.vote_denied().empty();
    };
    if (!could_vote(link)) continue;
    if (best != nullptr && link.deployment() == best->deployment()) continue;
    const auto count = static_cast<std::size_t>(
        std::count_if(links_.begin(), links_.end(), [&](const Link& other) {
          return could_vote(other) && other.deployment() == link.deployment();
        }));
    if (count <= most) continue;
    best = &link;
    most = count;
  }
  if (best == nullptr) return {{}, settings_.quorum};
  return {best->deployment(), std::max(settings_.quorum, majority(best->marker()->members.size()))};
}

std::string Engine::why_not_counted(NodeIndex node) const {
  const Ballot ballot = this->ballot();
  const Link& link = links_[node];
  if (!belongs_to(node, ballot.deployment)) {
    return link.deployment().empty() ? "it belongs to no deployment, and others do"
                                     : "it belongs to another deployment than most of the nodes";
  }
  if (ballot.quorum <= links_.size() || !link.marker()) return {};
  return "it belongs to a deployment of " + std::to_string(link.marker()->members.size()) +
         " nodes; this client has " + std::to_string(links_.size()) +
         (links_.size() == 1 ? " node" : " nodes");
}

bool Engine::belongs_to(NodeIndex node, std::string_view deployment) const {
  const Link& link = links_[node];
  // The configured quorum is one of the configured nodes.
  if (deployment.empty() && node >= configured_) return false;
  return link.vote_denied().empty() && link.deployment() == deployment;
}

bool Engine::counts_for(const Claim& claim, NodeIndex node) const {
  return belongs_to(node, claim.deployment);
}

void Engine::begin_round(Claim& claim, std::uint16_t number, Duration ttl) {
  const Ballot ballot = this->ballot();
  claim.deployment.assign(ballot.deployment);
  claim.round.begin(number, links_.size(), ballot.quorum, now_, ttl);
}

void Engine::on(const TurnEnd&) {
  uncovered_ = uncovered_ & up();
  if (uncovered_.empty()) return;
  // Sent to congested nodes too: there is one of these for many votes, and they wait for it.
  outbox_.send(uncovered_, Verb::read_marker);
  uncovered_ = NodeSet();
}

void Engine::look_at_marker(NodeIndex node) {
  if (!drain_until_) outbox_.send(NodeSet::of(node), Verb::read_marker);
}

void Engine::take_marker(const Answer& marker) {
  Link& link = links_[marker.node];
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
  while (const Link::HeldBack* held = links_[node].take_held_back()) {
    take_answer(held->answer(node), Vote::unreachable, held->arrival);
  }
}

void Engine::end_connection(NodeIndex node, Vote vote, std::string_view why) {
  outbox_.emit(Command::Kind::disconnect, node);
  drop(node, vote, why);
  links_[node].retry_soon(now_);
}

}  // namespace redlock::core
