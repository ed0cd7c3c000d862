#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/options.hpp"
#include "redlock/target.hpp"

/// For tests of programs that use the library: link redlock::testing. It needs `redis-server` or
/// `valkey-server` in PATH.
namespace redlock {
inline namespace REDLOCK_ABI {

/// A deployment of private nodes. Its servers listen on Unix sockets in a temporary directory,
/// which only this user can enter, and keep nothing on disk. The destructor ends them, removes the
/// directory and does not throw. If the process is killed, the kernel ends the servers, and the
/// directory stays.
///
/// Functions throw std::runtime_error with one line that says what failed, and std::out_of_range
/// for a node that there is not. Nodes are numbered from 0. One thread at a time may call them.
class REDLOCK_EXPORT TestDeployment {
 public:
  /// Returns when the nodes answer and can vote. `max_ttl` is short, because a node that lost its
  /// data has no vote for that time. Longer TTLs are refused, also `limits::default_ttl`.
  explicit TestDeployment(std::size_t nodes = 3,
                          std::chrono::milliseconds max_ttl = std::chrono::seconds{2});
  ~TestDeployment();
  TestDeployment(const TestDeployment&) = delete;
  TestDeployment& operator=(const TestDeployment&) = delete;

  /// For `Client::create`: the nodes and max TTL.
  [[nodiscard]] ClientOptions options() const;

  void stop(std::size_t node);    ///< freezes it (SIGSTOP): it answers nobody, and forgets nothing
  void resume(std::size_t node);  ///< after `stop`
  void kill(std::size_t node);    ///< ends it (SIGKILL); it loses its data
  /// After `kill`: starts it at the same URL, without data. Clients make it a member again, and it
  /// votes after a quarantine of `max_ttl`, if a quorum of the other members remembers it.
  void start(std::size_t node);
  /// Waits until all nodes vote, for at most twice `max_ttl` and ten seconds.
  void wait_until_all_vote();

  /// Acquires the lock for another client than those under test, named "another client". It holds
  /// the lock while the lease lives. A TTL above `max_ttl` becomes `max_ttl`. Throws immediately if
  /// the lock is not granted.
  [[nodiscard]] Lease hold(Target target, AcquireOptions options = {});

  /// Takes the lock from all that hold it, as an operator does by `Client::break_lock`: any client
  /// can acquire it now. The holder's lease cannot be renewed, and is lost at its deadline, after
  /// its TTL at most. Throws if nobody holds the lock.
  void break_lock(std::string_view resource);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
