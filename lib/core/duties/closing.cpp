#include "core/duties/closing.hpp"

#include <chrono>
#include <cstddef>

namespace redlock::core {
namespace {

constexpr Duration longest_greeting = std::chrono::milliseconds(100);

/// So many connections of one node may end while the client closes. One that refuses them all, or
/// answers with nonsense, is not worth waiting for until the end of its limit.
constexpr std::uint8_t most_connections = 5;

}  // namespace

void Closing::begin(Duration grace) {
  until_ = later(now_, grace);
  greet_until_ = std::min(*until_, later(now_, longest_greeting));
}

void Closing::keep_connections(NodeSet indeterminate) {
  nodes_.all().each([&](NodeIndex node) {
    Link& link = nodes_[node];
    // One that is returning may be there to be marked: see Enroller::may_still_enrol().
    if (link.up() || link.returning() || indeterminate.has(node)) {
      link.retry_now(now_);
    } else {
      link.stop_retrying();
    }
  });
}

void Closing::dropped(NodeIndex node) {
  if (!until_ || ++drops_[node] < most_connections) return;
  given_up_.add(node);
  nodes_[node].stop_retrying();
}

bool Closing::awaits_answers(NodeSet forgetting) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    // Nobody waits long for a node that is only to forget our name.
    const bool late = forgetting.has(static_cast<NodeIndex>(i)) && !may_meet_nodes();
    if (nodes_[i].unanswered() > (late ? 1U : 0U)) return true;
  }
  return false;
}

void Closing::end() {
  over_ = true;
  for (Link& link : nodes_) link.stop_retrying();
}

}  // namespace redlock::core
