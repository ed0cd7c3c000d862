#include "api/client/watching.hpp"

namespace redlock::api {

bool Sighting::is_news(Inspection& inspection) {
  if (inspection.state == Inspection::State::indeterminate) return false;
  if (inspection.state == Inspection::State::split) return false;
  if (inspection.kind == LockKind::reserved) inspection.kind = LockKind::none;
  Seen now{inspection.state, inspection.kind, inspection.holder, inspection.owner};
  if (last_ == now) return false;
  last_ = std::move(now);
  return true;
}

}  // namespace redlock::api
