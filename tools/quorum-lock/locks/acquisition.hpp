#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "common/session/settings.hpp"
#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"
#include "quorum-lock/locks/wait_notice.hpp"
#include "redlock/client.hpp"
#include "redlock/detached_lease.hpp"

namespace redlock::cli {

/// The exit code if another holds the lock until the wait is over: --conflict-exit-code. Throws
/// UsageError.
[[nodiscard]] int conflict_code_of(const Arguments& given);

/// The exit code of a call that got no lock; `failed` is that of its error. `conflict_code` only if
/// another has the lock: of several that ask at the same instant, none may get it, and none must
/// take another for the holder.
[[nodiscard]] int code_of_refusal(const Error& error, const Target& target, int failed,
                                  int conflict_code);

struct Acquisition {
  Result<Lease> lease;
  std::string holder_name{};  ///< name of the holder that is in the way; empty: not known
  int signal = 0;             ///< the signal that ended the waiting; 0: none
  /// Has ended; may still wait for an answer, which the lease need not wait for.
  std::unique_ptr<WaitNotice> notice{};
};

/// Acquires, and says on standard error what it waits for; a signal that ends a process ends the
/// waiting, and whatever the attempts left on the nodes is released.
[[nodiscard]] Acquisition acquire_until_signal(Client& client, const Target& target,
                                               std::chrono::nanoseconds wait,
                                               AcquireOptions options, const Settings& settings,
                                               const Signals& signals);

/// A lock that is on the nodes already, and whose token somebody handed on.
struct Adoption {
  DetachedLease lease;
  std::uint64_t permits = 0;  ///< of the semaphore that the resource is; 0: it is none
};

/// Takes it over if a quorum still has it. A signal that comes meanwhile counts as one that comes
/// when the lock is held: it is released.
[[nodiscard]] Acquisition adopt_until_signal(Client& client, Adoption adoption,
                                             AcquireOptions options, const Signals& signals);

}  // namespace redlock::cli
