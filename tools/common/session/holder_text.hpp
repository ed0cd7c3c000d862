#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "redlock/client.hpp"
#include "redlock/inspection.hpp"
#include "redlock/token.hpp"

namespace redlock::cli {

/// For a lock that several hold: the number of holders, on the node that counts most.
[[nodiscard]] std::uint32_t most_holds(const Inspection& inspection);

/// Whether the node stores the holder that the verdict names.
[[nodiscard]] bool is_leading(const Inspection& inspection, const NodeInspection& node);

/// A client's name for people, or the beginning of its token or id.
[[nodiscard]] std::string who_text(std::string_view name, std::string_view id);
[[nodiscard]] std::string who_text(const std::optional<NextClient>& next);

/// "broken by on call" if the holder is the token that keeps everybody out after an operator broke
/// the lock (`break --delay`). Empty: it is another.
[[nodiscard]] std::string delay_text(const std::optional<Token>& holder);

/// The token of the delay that keeps everybody from sharing the lock with its holders; none: there
/// is no such delay.
[[nodiscard]] std::optional<Token> delay_next_to_holds(const NodeInspection& node);
[[nodiscard]] std::optional<Token> delay_next_to_holds(const Inspection& inspection);

/// ", no more: broken by on call" if nobody can join the holders because of such a delay; else
/// empty.
[[nodiscard]] std::string no_more_text(const std::optional<Token>& delay);

/// The longest on any node that stores the verdict's holder; none: without expiry, or unknown.
[[nodiscard]] std::optional<std::chrono::nanoseconds> longest_left(const Inspection& inspection);

/// The obstacle, in words that stay the same while a holder renews its lease. Empty: nothing.
[[nodiscard]] std::string obstacle_text(const Inspection& inspection);

/// Why a resource cannot be had, in one line without a line end, for example "held by
/// nightly@db3:4211 backup (exclusive, 4.9 s left)", "held by 2 readers", "kept by its
/// interval, 4.9 s left", "broken by on call, free in 4.9 s", "reserved for cron@db1:77 nightly,
/// next of 3 waiting". Empty: it is free.
[[nodiscard]] std::string holder_text(const Inspection& inspection);

/// Asks the nodes once about each permit: "3 of 3 permits taken, 2 clients wait".
/// Empty: too few nodes answer.
[[nodiscard]] std::string describe_permits(Client& client, const std::string& resource,
                                           std::size_t permits);

/// How many clients are queued for any permit of a semaphore, and not for each of them.
[[nodiscard]] std::size_t count_waiters_for_any(Client& client, const std::string& resource);

/// For people, a line each with a line end: the holder's name, the queue, what operators broke.
/// Empty: nothing is known of any.
[[nodiscard]] std::string people_text(const Inspection& inspection);

/// "3 clients wait"
[[nodiscard]] std::string waiters_text(std::size_t waiters);

/// An instant in UTC as RFC 3339 has it, in whole seconds.
[[nodiscard]] std::string time_text(std::chrono::system_clock::time_point time);

}  // namespace redlock::cli
