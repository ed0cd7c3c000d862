#include <algorithm>
#include <chrono>
#include <string>

#include "core/engine/engine.hpp"
#include "core/votes/quorum.hpp"
#include "support/assert.hpp"

/// The membership record of a node, and votes that count only with it.
namespace redlock::core {

void Engine::take_marker_reading(const Answer& answer) {
  if (answer.reply != Reply::marker) {
    return end_connection(answer.node, Vote::error,
                          "its membership record could not be read: " + std::string(answer.text));
  }
  take_marker(answer.node, answer.stamp, answer.text, answer.number);
}

void Engine::take_marker(NodeIndex node, const Stamp& stamp, std::string_view text,
                         std::uint64_t floor) {
  Link& link = nodes_[node];
  if (text != link.marker_text()) {
    end_connection(node, Vote::error,
                   "its membership record changed: it may have forgotten what it was asked just "
                   "now");
    return link.expect_return();
  }
  count_held_back(node, floor);
  static_cast<void>(link.answered(stamp, now_));
  enroller_.read(node, stamp);
}

void Engine::count_held_back(NodeIndex node, std::uint64_t floor) {
  while (const Link::HeldBack* const held = nodes_[node].take_held_back()) {
    if (!held->has_details) {
      take_counted_plain_yes(node, held->plain_yes, floor, held->arrival);
      continue;
    }
    Answer answer = nodes_[node].take_held_details();
    if (is_short(answer.stamp.verb)) {
      FencingTokens::complete(*claims_.find(answer.stamp.claim()), answer, floor);
    }
    take_answer(answer, Vote::unreachable, held->arrival);
  }
}

void Engine::take_counted_plain_yes(NodeIndex node, const PlainYes& plain_yes, std::uint64_t floor,
                                    const Arrival& arrival) {
  if (is_short(plain_yes.stamp.verb)) return take_fenced_plain_yes(node, plain_yes, floor, arrival);
  if (plain_yes.reply == Reply::clock) return take_time(node, plain_yes.time, arrival);
  take_plain_yes(node, plain_yes, arrival);
}

void Engine::take_marker_written(const Answer& answer) {
  const NodeIndex node = answer.node;
  const Enroller::Written what = enroller_.written(answer);
  if (what.changed) return end_connection(node, Vote::error, "its membership record changed");
  count_held_back(node, 0);
  enroller_.take_marker(answer, what);
  serve_claims_of(node);
  enroller_.report(node);
  wake_after_outage();
}

void Engine::mark_nodes() {
  // One after the other: when one node goes, the quorum that the next one needs may go with it.
  nodes_.all().each([&](NodeIndex node) {
    if (!enroller_.is_to_be_marked(node)) return;
    nodes_[node].return_once_more();
    end_connection(node, Vote::error,
                   nodes_[node].outdated() ? counters_were_reset : nobody_met_it);
  });
}

void Engine::end_connection(NodeIndex node, Vote vote, std::string_view why) {
  outbox_.emit(Disconnect{node});
  drop(node, vote, why);
  nodes_[node].retry_soon(now_);
}

}  // namespace redlock::core
