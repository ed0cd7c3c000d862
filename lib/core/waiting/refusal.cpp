#include "core/waiting/refusal.hpp"

#include <algorithm>
#include <vector>

#include "core/vocabulary/holder_words.hpp"
#include "redlock/inspection.hpp"
#include "redlock/token.hpp"

namespace redlock::core {
namespace {

bool names_foreign(const Round& lost) {
  bool found = false;
  lost.with(Vote::refused).each([&](NodeIndex node) {
    found = found || obstacle_of(lost.vote(node).text) == Obstacle::foreign;
  });
  return found;
}

/// The first of several resources, in the order of LockTerms::order(), that fewer than a quorum of
/// the nodes let the caller have; 0 if there is only one resource.
std::uint64_t find_blocking(const Round& lost, const LockTerms& terms, std::uint64_t waited_for) {
  if (terms.kind() != Kind::several) return 0;
  std::vector<std::size_t> nodes(terms.more_resources.size() + 2);
  std::size_t past = lost.granted().size();
  lost.with(Vote::refused).each([&](NodeIndex node) {
    const std::uint64_t which = lost.vote(node).number;
    if (which == 0 || which >= nodes.size()) return;
    ++nodes[which];
    ++past;
  });
  // What comes before the awaited resource is mostly reserved for the caller. Nodes that have not
  // answered may still let the caller have it.
  const std::size_t pending = lost.pending().size();
  std::uint64_t last = 0;
  for (const std::uint64_t which : terms.order(waited_for)) {
    if (nodes[which] == 0) continue;
    past -= nodes[which];
    last = which;
    const bool had_it = waited_for > 0 && terms.resource_at(which) < terms.resource_at(waited_for);
    if (past + (had_it ? pending : 0) < lost.quorum()) break;
  }
  return last;
}

}  // namespace

Obstacle obstacle_of(std::string_view holder) {
  if (holder.empty()) return Obstacle::unknown;
  if (is_group(holder)) return Obstacle::holds;
  if (holder == waiting_writer) return Obstacle::lock;
  if (holder == interval_token) return Obstacle::interval;
  if (holder.starts_with(reservation_prefix)) return Obstacle::reservation;
  const std::optional<Token> token = Token::parse(holder);
  return token && !token->client_id().empty() ? Obstacle::lock : Obstacle::foreign;
}

Refusal refusal_by(const Round& lost, Errc why, const LockTerms& terms, std::uint64_t waited_for) {
  const std::string_view holder = lost.leading_holder();
  Refusal refusal;
  refusal.why = why;
  refusal.obstacle = obstacle_of(holder);
  refusal.is_another_group = refusal.obstacle == Obstacle::holds && holder != terms.group;
  refusal.is_known = lost.is_named_by_quorum();
  // The holders of permits are unknown.
  refusal.is_foreign = why == Errc::held && !is_ours(refusal.obstacle) && !terms.traits().is_chosen;
  refusal.is_among_foreign = !refusal.is_known && names_foreign(lost);
  refusal.granted = lost.granted();
  refusal.resource = find_blocking(lost, terms, waited_for);
  refusal.free_in = lost.free_in();
  refusal.began = lost.start();
  return refusal;
}

}  // namespace redlock::core
