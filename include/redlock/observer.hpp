#pragma once

#include "redlock/language.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "redlock/clock.hpp"
#include "redlock/error.hpp"
#include "redlock/export.hpp"
#include "redlock/token.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// An acquire call that began or ended.
struct REDLOCK_EXPORT AcquireObservation {
  std::uint64_t call = 0;         ///< names the call and its lease within one client
  BootClock::time_point at{};     ///< when it happened, which may be before the observer is called
  std::string resource{};         ///< the resource; of several, the first
  std::optional<Errc> failure{};  ///< ended: why no lease was granted; none: one was
};

/// A lease whose hold began or ended.
struct REDLOCK_EXPORT HoldObservation {
  enum class End {
    open,      ///< the hold has not ended
    released,  ///< by its holder
    detached,  ///< handed on: this client no longer extends or releases it
    lost,      ///< its deadline passed
    closed,    ///< the client was closed
  };
  std::uint64_t call = 0;  ///< the call that acquired the lease
  BootClock::time_point at{};
  std::string resource{};  ///< the resource; for a permit, its name
  Token token{};
  std::optional<FencingToken> fencing_token{};
  End end = End::open;
};

/// The enumerator's name: "released".
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(HoldObservation::End end) noexcept;

/// Observes a client's acquire calls and leases. A program can make spans for a tracing system from
/// them: see tests/examples/spans.cpp. Calls that were refused for their arguments, and leases that
/// a Mutex object hands on among its threads, are not observed.
///
/// Threads: all functions are called on the client's loop thread, one at a time, in the order of
/// the events; the caller of acquire can be answered before. They must not block and must not
/// throw. An observer that several clients share is called on several threads. With an observer, a
/// blocking call costs one extra context switch.
class REDLOCK_EXPORT Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer();

  /// A call has passed the check of its arguments.
  virtual void acquire_began(const AcquireObservation& call) noexcept;
  /// Follows each acquire_began() once.
  virtual void acquire_ended(const AcquireObservation& call) noexcept;
  /// Follows an acquire_ended() without a failure.
  virtual void hold_began(const HoldObservation& hold) noexcept;
  /// Follows each hold_began() once.
  virtual void hold_ended(const HoldObservation& hold) noexcept;
  /// The deadline passed; hold_ended() follows.
  virtual void lease_lost(const HoldObservation& hold) noexcept;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
