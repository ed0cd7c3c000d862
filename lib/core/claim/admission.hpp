#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/claim/lock_terms.hpp"
#include "core/engine/settings.hpp"
#include "core/time.hpp"
#include "redlock/detached_lease.hpp"
#include "redlock/options.hpp"
#include "redlock/target.hpp"
#include "redlock/token.hpp"

namespace redlock::core {

/// Checks of arguments, made before anything is sent. Each returns nothing if the arguments are
/// allowed, or else one line that names the argument and says what is allowed.
[[nodiscard]] std::optional<std::string> refuse_resource(const Settings& settings,
                                                         std::string_view resource);
[[nodiscard]] std::optional<std::string> refuse_ttl(const Settings& settings, Duration ttl);
[[nodiscard]] std::optional<std::string> refuse_break(const Settings& settings,
                                                      const BreakOptions& options);
[[nodiscard]] std::optional<std::string> refuse_acquire(const Settings& settings,
                                                        const Target& target,
                                                        const AcquireOptions& options);
/// For calls about a token that somebody else acquired.
[[nodiscard]] std::optional<std::string> refuse_adopt(const Settings& settings,
                                                      const DetachedLease& lease,
                                                      const AcquireOptions& options);
[[nodiscard]] std::optional<std::string> refuse_by_token(const Settings& settings,
                                                         const Target& target, const Token& token);

/// Only a writer's lease can become a reader's; a reader's lease stays one.
[[nodiscard]] std::optional<std::string> refuse_downgrade(const SpecialTerms& terms);
[[nodiscard]] std::optional<std::string> refuse_downgrade(const Settings& settings,
                                                          std::string_view resource,
                                                          const Token& token);

/// "250 ms", "1.5 s": for messages.
[[nodiscard]] std::string format_duration(Duration duration);

/// The message about a node that was not connected within `limit`. Names the option that sets it.
[[nodiscard]] std::string no_connection_within(Duration limit);

}  // namespace redlock::core
