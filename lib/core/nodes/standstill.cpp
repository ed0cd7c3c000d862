#include "core/nodes/standstill.hpp"

#include <algorithm>

#include "core/votes/validity.hpp"

namespace redlock::core {

void Standstill::close() noexcept {
  opened_at_.reset();
  stepped_ = asked_since_ = fresh_ = NodeSet();
}

void Standstill::stepped(NodeIndex node, const NodeClock::Reading& reading, Instant now) noexcept {
  if (!opened_at_) opened_at_ = now;
  if (now > last_step_) fresh_ = NodeSet();
  last_step_ = now;
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
  const bool is_fresh = sent >= last_step_;
  const bool is_news = !asked_since_.has(node) || (is_fresh && !fresh_.has(node));
  if (!stepped_.has(node) && is_news) gains_[node] = reading.gain;
  asked_since_.add(node);
  if (is_fresh) fresh_.add(node);
}

std::optional<Gain> Standstill::not_shown(NodeIndex node, const Gain& ours) const noexcept {
  if (!stepped_.has(node)) return ours;
  const Gain shown = gain_of(node);
  if (fresh_.has(node) || shown.most >= ours.least) return std::nullopt;
  return Gain{ours.least - shown.most, ours.most - shown.least};
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
  if (nodes < needed) {
    verdict.cause = Cause::theirs;
    return verdict;
  }
  // A node whose first reading came after the steps contradicts, too: it may have been right all
  // along.
  NodeSet contradict;
  ((asked_since_ & up) - stepped).each([&](NodeIndex node) {
    if (gains_[node].most < verdict.ours.least) contradict.add(node);
  });
  const bool all_told = (up - verdict.alike - asked_since_).empty() && up.size() >= needed;
  if (contradict.empty() && !all_told) return verdict;
  const bool agreed = contradict.empty() && verdict.alike.size() >= needed;
  bool blames = !agreed;
  stepped_.each([&](NodeIndex node) { blames = blames || leapt_too(node, verdict.ours); });
  const NodeSet fresh = fresh_ & up;
  const bool may_blame = contradict.empty() ? (up - fresh).empty() : !(contradict & fresh).empty();
  verdict.stale = blames && !may_blame;
  if (!verdict.stale) verdict.cause = agreed ? Cause::ours : Cause::theirs;
  return verdict;
}

}  // namespace redlock::core
