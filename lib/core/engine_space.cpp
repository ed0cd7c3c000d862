#include "core/engine.hpp"

/// A hundred thousand callers may wait at once, and a connection takes so many requests and no
/// more. An attempt that meets it full would be lost at once, and try again a moment later:
/// together they would keep the loop busy with that, and the answers that make room waiting.
namespace redlock::core {

bool Engine::has_space(const Nodes::Ballot& ballot) const {
  // Half of it: what follows from the answers has to be sent too.
  std::size_t nodes = 0;
  nodes_.voters_of(ballot).each([&](NodeIndex node) {
    nodes += 2 * nodes_[node].unanswered() < settings_.max_unanswered ? 1U : 0U;
  });
  return nodes >= ballot.quorum;
}

void Engine::wait_for_space(Acquisition& acquisition) {
  enter_state(acquisition, Acquisition::State::backing_off);
  timers_.set(timer_of(acquisition), acquisition.give_up);
  if (acquisition.for_space) return;
  acquisition.for_space = true;
  for_space_.push_back({acquisition.index, acquisition.generation});
}

void Engine::use_space() {
  while (!for_space_.empty()) {
    const Nodes::Ballot ballot = nodes_.ballot();
    const bool reachable = nodes_.voters_of(ballot).size() >= ballot.quorum;
    // Where too few nodes may vote, nothing is sent, and each waits for them by itself.
    if (reachable && !has_space(ballot)) return;
    const ForSpace next = for_space_.front();
    for_space_.pop_front();
    Acquisition* const acquisition = acquisitions_.find(next.index, next.generation);
    if (acquisition == nullptr || !acquisition->for_space) continue;
    acquisition->for_space = false;
    if (acquisition->state == Acquisition::State::backing_off) try_again(*acquisition);
    drain();
  }
}

}  // namespace redlock::core
