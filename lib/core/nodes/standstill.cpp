#include "core/nodes/standstill.hpp"

#include <algorithm>

#include "core/votes/validity.hpp"

namespace redlock::core {

void Standstill::close() noexcept {
  opened_at_.reset();
  stepped_ = asked_since_ = NodeSet();
}

void Standstill::stepped(NodeIndex node, const NodeClock::Reading& reading, Instant now) noexcept {
  if (!opened_at_) opened_at_ = now;
  // The answer to a request that was under way when the machine stopped may show only a part of the
  // step.
  const bool again = stepped_.has(node);
  gains_[node] = again ? gains_[node] + reading.gain : reading.gain;
  steps_[node] = again ? steps_[node] + reading.step : reading.step;
  stepped_.add(node);
}

void Standstill::read(NodeIndex node, const NodeClock::Reading& reading, Instant sent) noexcept {
  // A node that was asked before may have answered before our clock stood still.
  if (sent < *opened_at_) return;
  if (!stepped_.has(node) && !asked_since_.has(node)) gains_[node] = reading.gain;
  asked_since_.add(node);
}

Gain Standstill::gain_of(NodeIndex node) const noexcept {
  const Gain& gain = gains_[node];
  if (!stepped_.has(node)) return gain;
  const Duration apart = std::min(drift(steps_[node]), bound_);
  return {gain.least - apart, gain.most + apart};
}

NodeSet Standstill::with(Duration gain, NodeSet nodes) const noexcept {
  NodeSet all;
  nodes.each([&](NodeIndex node) {
    if (gain_of(node).has(gain)) all.add(node);
  });
  return all;
}

Standstill::Verdict Standstill::judge(NodeSet up, std::size_t needed,
                                      std::size_t nodes) const noexcept {
  Verdict verdict;
  const NodeSet stepped = stepped_ & up;
  // The range that most of the steps share begins at the beginning of one step's range.
  stepped.each([&](NodeIndex node) {
    const NodeSet alike = with(gain_of(node).least, stepped);
    if (alike.size() > verdict.alike.size()) verdict.alike = alike;
  });
  verdict.ours = {Duration::min(), Duration::max()};
  verdict.alike.each([&](NodeIndex node) {
    verdict.ours.least = std::max(verdict.ours.least, gain_of(node).least);
    verdict.ours.most = std::min(verdict.ours.most, gain_of(node).most);
  });
  // A node whose first reading came after the steps contradicts, too: it may have been right all
  // along.
  bool contradicted = false;
  ((asked_since_ & up) - stepped).each([&](NodeIndex node) {
    contradicted = contradicted || gains_[node].most < verdict.ours.least;
  });
  if (nodes < needed || contradicted) {
    verdict.cause = Cause::theirs;
    return verdict;
  }
  const bool all_told = (up - verdict.alike - asked_since_).empty();
  if (!all_told || up.size() < needed) return verdict;
  verdict.cause = verdict.alike.size() >= needed ? Cause::ours : Cause::theirs;
  return verdict;
}

}  // namespace redlock::core
