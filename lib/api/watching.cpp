#include "api/watching.hpp"

#include <algorithm>

namespace redlock::api {

bool Sighting::is_news(Inspection& inspection) {
  const auto answered =
      std::count_if(inspection.nodes.begin(), inspection.nodes.end(),
                    [](const NodeInspection& node) { return node.error.empty(); });
  if (static_cast<std::size_t>(answered) < inspection.quorum) return false;
  if (inspection.state == Inspection::State::split) return false;
  if (inspection.kind == LockKind::reserved) inspection.kind = LockKind::none;
  Seen now{inspection.state, inspection.kind, inspection.holder};
  if (last_ == now) return false;
  last_ = std::move(now);
  return true;
}

}  // namespace redlock::api
