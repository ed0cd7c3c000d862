#include "core/acquisition.hpp"

#include <algorithm>
#include <vector>

namespace redlock::core {

std::uint64_t find_blocking(const Acquisition& acquisition) {
  if (acquisition.terms.more_resources.empty()) return 0;
  std::vector<std::size_t> nodes(acquisition.terms.more_resources.size() + 2);
  acquisition.last.with(Vote::refused).each([&](NodeIndex node) {
    const std::uint64_t which = acquisition.last.vote(node).number;
    if (which < nodes.size()) ++nodes[which];
  });
  return static_cast<std::uint64_t>(std::max_element(nodes.begin(), nodes.end()) - nodes.begin());
}

std::string_view resource_in_the_way(const Acquisition& acquisition) {
  const std::uint64_t which = acquisition.has_last ? find_blocking(acquisition) : 0;
  if (which == 0) return {};
  return which == 1 ? acquisition.terms.resource : acquisition.terms.more_resources[which - 2];
}

}  // namespace redlock::core
