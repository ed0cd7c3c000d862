#include "common/text/reasons.hpp"

#include <algorithm>

namespace redlock::cli {

void Reasons::add(std::string_view node, std::string_view reason) {
  const auto group = std::find_if(groups_.begin(), groups_.end(),
                                  [reason](const Group& each) { return each.reason == reason; });
  if (group == groups_.end()) {
    groups_.push_back({std::string(reason), std::string(node)});
  } else {
    group->nodes.append(", ").append(node);
  }
}

std::string Reasons::text() const {
  std::string text;
  for (const Group& group : groups_) {
    if (!text.empty()) text += "; ";
    text += group.nodes + ": " + group.reason;
  }
  return text;
}

}  // namespace redlock::cli
