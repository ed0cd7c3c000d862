#pragma once

#include "redlock/language.hpp"

#include <iosfwd>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "redlock/export.hpp"
#include "redlock/report.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// Why an operation failed. The values differ in what the caller can do next. An error code enum:
/// it converts to `std::error_code`, and compares with the `std::errc` named in brackets.
enum class REDLOCK_EXPORT Errc {
  held = 1,     ///< a majority has another holder: wait [device_or_resource_busy]
  split,        ///< contenders divided the nodes and none has a majority: try again soon
                ///< [device_or_resource_busy]
  unavailable,  ///< too few nodes answered: an outage; the votes say which and why
                ///< [host_unreachable]
  expired,      ///< a quorum granted, too late for a valid lease: raise the TTL [timed_out]
  excluded,     ///< guards leave too few voters: the votes say which and why. A call that waits
                ///< ends with it early if no waiting helps: another max TTL than that of the
                ///< deployment, or most nodes have lost their data
  not_holder,   ///< the lock is not, or no longer, this token's
  cancelled,    ///< the caller cancelled [operation_canceled]
  closed,       ///< the client is closed [operation_canceled]
  forked,       ///< the client belongs to the parent process: create one after fork()
                ///< [operation_not_permitted]
  would_block,  ///< a blocking call on the client's own loop thread would wait for itself
                ///< [resource_deadlock_would_occur]
  invalid_argument,  ///< nothing was sent; the message names the argument and what is allowed
                     ///< [invalid_argument]
  limit_reached,     ///< one of `redlock::limits`; the message names it
                     ///< [resource_unavailable_try_again]
};

/// The enumerator's name: "held".
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Errc code) noexcept;
/// Writes the enumerator's name.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream& out, Errc code);

/// The category of `Errc`; its name is "redlock".
[[nodiscard]] REDLOCK_EXPORT const std::error_category& error_category() noexcept;

/// For `std::error_code`, which finds it by its name.
[[nodiscard]] inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

/// An error of the library, with its reason. The message is one line with the numbers in it, for
/// people. Code and round are for programs. It converts to the `std::error_code` of its code.
/// Thread safety: a value.
struct REDLOCK_EXPORT Error {
  Errc code = Errc::invalid_argument;
  std::string message;
  Round round{};  ///< the last round, with every node's vote; empty if none was sent
  /// held, split, not_holder: the name for people of the client that has the resource, as
  /// `Inspection::holder_name`. Calls that do not wait learn it only with
  /// `ClientOptions::name_holders`; empty: not known.
  std::string holder_name{};

  /// The code, in `error_category`.
  operator std::error_code() const noexcept { return make_error_code(code); }
};

/// Writes the message.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream& out, const Error& error);

}  // namespace REDLOCK_ABI
}  // namespace redlock

template <>
struct std::is_error_code_enum<redlock::Errc> : std::true_type {};
