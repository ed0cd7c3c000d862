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

/// The exit code if another client holds the lock until the wait is over: --conflict-exit-code.
/// Throws UsageError.
[[nodiscard]] int conflict_code_of(const Arguments& given);

/// The exit code of a call that got no lock; `failed` is the code of its error. Returns
/// `conflict_code` only if another client has the lock. If several clients ask at the same instant,
/// it can happen that none of them gets the lock, and none must then take another one for the
/// holder.
[[nodiscard]] int code_of_refusal(const Error& error, const Target& target, int failed,
                                  int conflict_code);

struct Acquisition {
  Result<Lease> lease;
  std::string holder_name{};  ///< name of the holder that is in the way; empty: not known
  int signal = 0;             ///< the signal that ended the waiting; 0: none
  /// The notice, which has ended. It may still wait for an answer; the lease need not wait for
  /// that.
  std::unique_ptr<WaitNotice> notice{};
};

/// Acquires the lock, and says on standard error what it waits for. A signal that ends a process
/// ends the wait, and everything that the attempts left on the nodes is released.
[[nodiscard]] Acquisition acquire_until_signal(Client& client, const Target& target,
                                               std::chrono::nanoseconds wait,
                                               AcquireOptions options, const Settings& settings,
                                               const Signals& signals);

/// A lock that is on the nodes already, and whose token somebody handed on.
struct Adoption {
  DetachedLease lease;
  std::uint64_t permits = 0;  ///< the permits of the semaphore; 0: the resource is not a semaphore
};

/// Takes the lock over if a quorum still has it. A signal that comes meanwhile counts as one that
/// comes while the lock is held: the lock is released.
[[nodiscard]] Acquisition adopt_until_signal(Client& client, Adoption adoption,
                                             AcquireOptions options, const Signals& signals);

}  // namespace redlock::cli
