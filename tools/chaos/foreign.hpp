#pragma once

#include "chaos/contender.hpp"

namespace redlock::chaos {

/// Replaces this process by the command of a contender that is not ours: another Redlock client,
/// in any language, that takes exclusive leases on the same resources and writes the same history.
/// It learns from its environment, which is part of the contract in tools/docs/CLI.md, what ours
/// read from their arguments. Gives the exit code when the command cannot be executed.
[[nodiscard]] int become_foreign(const ContenderRequest& request);

}  // namespace redlock::chaos
