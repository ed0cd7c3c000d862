#include "core/duties/failures.hpp"

namespace redlock::core {

void Failures::fail(CallId request, Errc code, const Round* round) {
  if (request == CallId::none) return;
  outbox_.emit(Failed{
      request, code, round, round != nullptr ? now_ - round->start() : Duration::zero(), {}, 0});
}

void Failures::fail_all(Claim& claim, Errc code, const Round* round) {
  if (!claim.work) return;
  for (const CallId request : *claim.work->requests) fail(request, code, round);
  claim.work->requests.by(me).clear();
  for (const Claim::QueuedExtend& queued : *claim.work->queued) fail(queued.request, code, nullptr);
  claim.work->queued.by(me).clear();
  for (const CallId request : *claim.work->downgrades) fail(request, code, nullptr);
  claim.work->downgrades.by(me).clear();
}

}  // namespace redlock::core
