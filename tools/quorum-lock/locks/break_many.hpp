#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "common/session/settings.hpp"
#include "common/text/arguments.hpp"
#include "redlock/client.hpp"
#include "redlock/options.hpp"

namespace redlock::cli {

/// How far a `break` of several locks has come. Another thread may read it at any moment.
struct BreakProgress {
  std::atomic<std::size_t> chosen{0};  ///< zero until the first lock is about to be broken
  std::atomic<std::size_t> broken{0};
};

/// The locks that `break` breaks if there can be several.
struct ManyBreaking {
  std::string pattern{};                ///< the pattern of resources; empty: all
  std::optional<std::string> holder{};  ///< a glob of holders; none: all holders
  std::chrono::nanoseconds delay{0};    ///< zero: none
  bool sure = false;                    ///< does not ask
  std::size_t keys_per_node = 0;
};

/// --holder as a glob. Throws UsageError.
[[nodiscard]] std::optional<std::string> holder_glob_of(const Arguments& given);

/// Lists the locks, asks once, and breaks each lock by exactly the tokens that were listed. Returns
/// the exit code.
[[nodiscard]] int break_many(Client& client, const ClientOptions& options, const Settings& settings,
                             const ManyBreaking& many, BreakProgress& progress);

}  // namespace redlock::cli
