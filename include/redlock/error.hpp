#pragma once

#include <string>
#include <string_view>

#include "redlock/export.hpp"
#include "redlock/report.hpp"

namespace redlock {

/// Why an operation did not give what was asked, told apart by what to do next.
enum class Errc {
  held,              ///< a majority belongs to somebody else: wait
  split,             ///< contenders divided the nodes, nobody has a majority: try again soon
  unavailable,       ///< too few nodes answered: an outage; the votes say which and why
  expired,           ///< a quorum granted, too late to be worth anything: raise the TTL
  excluded,          ///< guards leave too few voters: the votes say which and why
  not_holder,        ///< the lock is not (or no longer) this token's
  cancelled,         ///< the caller cancelled
  closed,            ///< the client is closed
  forked,            ///< the client belongs to the parent process: create one after fork()
  would_block,       ///< a blocking call on the client's own loop thread would wait for itself
  invalid_argument,  ///< nothing was sent; the message names the argument and what is allowed
  limit_reached,     ///< one of `redlock::limits`; the message names it
};

[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Errc code) noexcept;

/// Carries why. The message is one line with the numbers in it, for people; code and round are for
/// programs. Thread safety: a value.
struct Error {
  Errc code = Errc::invalid_argument;
  std::string message;
  RoundReport round{};  ///< the last round, with every node's vote; empty where none was sent
};

}  // namespace redlock
