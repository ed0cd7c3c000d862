#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/export.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// The lock that a call asks for. `AcquireOptions` says on which terms.
///
/// A string converts to the exclusive lock on the resource of that name. The functions below make
/// the other kinds, which exclude each other:
///
///     client.acquire("invoice/42");
///     client.acquire(redlock::shared("index"));
///     client.acquire(redlock::owned("ledger", "nightly"));
///     client.acquire(redlock::permit("encoders", 4));
///     client.acquire(redlock::all_of({"from", "to"}));
///     client.acquire(redlock::interval("hourly", 55min));
///
/// Making a target checks nothing. A call refuses an unusable one with `invalid_argument`, before
/// anything is sent. A target that was moved from names no resource.
///
/// Thread safety: a value.
class REDLOCK_EXPORT Target {
 public:
  enum class Kind {
    exclusive,  ///< one holder
    shared,     ///< many readers or one writer
    owned,      ///< any number of holds of one owner
    permit,     ///< one of the permits of a semaphore
    all_of,     ///< several resources, all or none
  };

  /// Implicit, so that a resource's name can be given wherever a target is expected.
  Target(const char* resource);
  Target(std::string_view resource);
  Target(std::string resource);
  Target(std::nullptr_t) = delete;
  Target(const Target&);
  Target(Target&&) noexcept;
  Target& operator=(const Target&);
  Target& operator=(Target&&) noexcept;
  ~Target();

  /// Which kind of lock it is.
  [[nodiscard]] Kind kind() const noexcept;
  /// The resource; for `all_of`, the first one; for a `permit`, the name of the semaphore.
  [[nodiscard]] const std::string& resource() const noexcept;
  /// The resources of `all_of` after the first, as given.
  [[nodiscard]] const std::vector<std::string>& more_resources() const noexcept;
  /// Empty unless the target is `owned`.
  [[nodiscard]] const std::string& owner() const noexcept;
  /// Zero unless the target is a `permit`.
  [[nodiscard]] std::size_t permits() const noexcept;
  /// How long the resource stays taken after it was acquired, at most `limits::longest_max_ttl`.
  /// Zero: no interval.
  [[nodiscard]] std::chrono::nanoseconds interval() const noexcept;

 private:
  friend struct TargetMaker;
  struct REDLOCK_HIDDEN More;
  REDLOCK_HIDDEN Target(Kind kind, std::string resource, More more);
  [[nodiscard]] REDLOCK_HIDDEN const More& more() const noexcept;

  Kind kind_ = Kind::exclusive;
  std::string resource_;
  std::shared_ptr<const More> more_;  // null: the exclusive lock on one resource
};

/// A reader's hold: many readers, or one writer. A writer is any caller that acquires the resource
/// without `shared`. Each reader has a TTL of its own. While a writer waits, the nodes admit no new
/// readers, so that a stream of readers does not starve it. Waiters are served in order, and
/// readers that follow each other enter together.
[[nodiscard]] REDLOCK_EXPORT Target shared(std::string resource);

/// A hold of this owner, 1 to `limits::name_bytes` bytes. Every caller that names the same owner is
/// granted a lease of its own, from other processes too. `Round::holds_left` of a release
/// says how many remain. While anybody else waits for the resource, the owner is granted further
/// holds only as long as it has one that is older than that wait.
[[nodiscard]] REDLOCK_EXPORT Target owned(std::string resource, std::string owner);

/// One of the permits of a semaphore, 1 to `limits::permits`. All contenders should name the same
/// number. Each permit is a lock of its own, and `Lease::resource()` names it: "jobs#3". A
/// semaphore does not exclude a lock on the resource itself. For `interval` see `interval`;
/// each permit has its own.
[[nodiscard]] REDLOCK_EXPORT Target permit(std::string resource, std::size_t permits,
                                           std::chrono::nanoseconds interval = {});

/// Several resources, all or none: one lease, one token, at most `limits::resources`. Contenders
/// may name them in any order without blocking each other forever. For `interval` see
/// `interval`.
[[nodiscard]] REDLOCK_EXPORT Target all_of(std::vector<std::string> resources,
                                           std::chrono::nanoseconds interval = {});

/// Once per interval over all contenders: nobody acquires the resource again until `interval`
/// has passed since it was acquired, even if it is released at once or the holder dies. The
/// interval is at most `limits::longest_max_ttl`, a year. It may be longer than max TTL: a node
/// that forgot its data has no vote for an interval until the interval has passed since then. So
/// all contenders must name the same interval. The interval belongs to the lease: after
/// `Lease::detach`, releasing the token frees the resource.
[[nodiscard]] REDLOCK_EXPORT Target interval(std::string resource,
                                             std::chrono::nanoseconds interval);

}  // namespace REDLOCK_ABI
}  // namespace redlock
