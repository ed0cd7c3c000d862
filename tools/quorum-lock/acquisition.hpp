#pragma once

#include "quorum-lock/signals.hpp"
#include "redlock/client.hpp"

namespace redlock::cli {

struct Acquisition {
  Result<Lease> lease;
  int signal = 0;  ///< that ended the waiting; 0: none did
};

/// Acquires; a signal that ends a process ends the waiting, and whatever the attempts left on the
/// nodes is released.
[[nodiscard]] Acquisition acquire_until_signal(Client& client, Target target,
                                               AcquireOptions options, const Signals& signals);

}  // namespace redlock::cli
