#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "quorum-lock/settings.hpp"
#include "quorum-lock/signals.hpp"
#include "quorum-lock/wait_notice.hpp"
#include "redlock/client.hpp"

namespace redlock::cli {

struct Acquisition {
  Result<Lease> lease;
  std::string
      holder_name{};  ///< what people call the holder that is in the way, where one is known
  int signal = 0;     ///< that ended the waiting; 0: none did
  /// Says nothing any more, and may still wait for an answer: the lease need not.
  std::unique_ptr<WaitNotice> notice{};
};

/// Acquires, and says on standard error what it waits for; a signal that ends a process ends the
/// waiting, and whatever the attempts left on the nodes is released.
[[nodiscard]] Acquisition acquire_until_signal(Client& client, const Target& target,
                                               std::chrono::nanoseconds wait,
                                               AcquireOptions options, const Settings& settings,
                                               const Signals& signals);

}  // namespace redlock::cli
