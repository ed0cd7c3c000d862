#pragma once

#include "redlock/inspection.hpp"
#include "redlock/result.hpp"

namespace redlock::api {

/// Whether the token that the inspection asked about holds the resource; unavailable where the
/// nodes that did not answer could decide it either way.
[[nodiscard]] Result<Ownership> judge_ownership(const Result<Inspection>& inspection);

}  // namespace redlock::api
