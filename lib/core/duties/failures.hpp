#pragma once

#include "core/claim/claim.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// Tells callers that their calls have failed.
class Failures {
 public:
  Failures(const Instant& now, Outbox& outbox) : now_(now), outbox_(outbox) {}

  /// `round`: none if no node was asked.
  void fail(CallId request, Errc code, const Round* round);
  /// All calls that wait for something of the claim.
  void fail_all(Claim& claim, Errc code, const Round* round);

 private:
  static constexpr By<Failures> me{};

  const Instant& now_;
  Outbox& outbox_;
};

}  // namespace redlock::core
