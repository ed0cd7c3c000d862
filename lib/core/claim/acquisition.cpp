#include "core/claim/acquisition.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace redlock::core {

void Acquisition::note_free_permits(std::string_view free) {
  const std::size_t known = std::min(free.size(), free_permits.size());
  for (std::size_t each = 0; each < known; ++each) {
    if (free[each] == '1') ++free_permits[each];
  }
}

void Acquisition::choose_permit(Randomness& random) {
  const std::uint8_t most = *std::max_element(free_permits.begin(), free_permits.end());
  // Any of the best: contenders that all took the first would divide its nodes among them.
  const auto best = std::count(free_permits.begin(), free_permits.end(), most);
  auto skip = random.between(Duration::zero(), Duration(best - 1)).count();
  for (std::uint32_t each = 0; each < free_permits.size(); ++each) {
    if (free_permits[each] != most || skip-- > 0) continue;
    permit = each;
    break;
  }
  // The answers are old by the next attempt.
  std::fill(free_permits.begin(), free_permits.end(), std::uint8_t{0});
}

bool Acquisition::may_change_permit(Instant now, std::size_t quorum) const {
  if (!terms.traits().is_chosen || moves >= terms.permits) return false;
  if (give_up && now >= *give_up) return false;
  return *std::max_element(free_permits.begin(), free_permits.end()) >= quorum;
}

std::vector<std::uint64_t> order_of(const Acquisition& acquisition) {
  std::vector<std::uint64_t> order(acquisition.terms.more_resources.size() + 1);
  std::iota(order.begin(), order.end(), 1);
  std::sort(order.begin(), order.end(), [&](std::uint64_t one, std::uint64_t other) {
    return resource_at(acquisition, one) < resource_at(acquisition, other);
  });
  return order;
}

const std::string& resource_at(const Acquisition& acquisition, std::uint64_t which) {
  return which > 1 ? acquisition.terms.more_resources[which - 2] : acquisition.terms.resource;
}

std::uint64_t find_blocking(const Acquisition& acquisition) {
  if (acquisition.terms.kind() != Kind::several) return 0;
  std::vector<std::size_t> nodes(acquisition.terms.more_resources.size() + 2);
  std::size_t past = acquisition.last.granted().size();
  acquisition.last.with(Vote::refused).each([&](NodeIndex node) {
    const std::uint64_t which = acquisition.last.vote(node).number;
    if (which == 0 || which >= nodes.size()) return;
    ++nodes[which];
    ++past;
  });
  // Nodes that have not answered may let it have all of them, as they did before.
  const std::size_t pending = acquisition.last.pending().size();
  std::uint64_t last = 0;
  const std::vector<std::uint64_t> order = order_of(acquisition);
  const auto waited_for = std::find(order.begin(), order.end(), acquisition.waiting.blocked_by);
  for (auto which = order.begin(); which != order.end(); ++which) {
    if (nodes[*which] == 0) continue;
    past -= nodes[*which];
    last = *which;
    const bool had_it = waited_for != order.end() && which < waited_for;
    if (past + (had_it ? pending : 0) < acquisition.last.quorum()) break;
  }
  return last;
}

std::string_view resource_in_the_way(const Acquisition& acquisition) {
  const std::uint64_t which = acquisition.has_last ? find_blocking(acquisition) : 0;
  return which == 0 ? std::string_view() : resource_at(acquisition, which);
}

}  // namespace redlock::core
