#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/vocabulary/lock_terms.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "redlock/detached_lease.hpp"
#include "redlock/options.hpp"
#include "redlock/target.hpp"
#include "redlock/token.hpp"

namespace redlock::api {

/// Checks of arguments, made before anything is sent. Each returns nothing if the arguments are
/// allowed, or else one line that names the argument and says what is allowed.
[[nodiscard]] std::optional<std::string> refuse_resource(const core::Settings& settings,
                                                         std::string_view resource);
[[nodiscard]] std::optional<std::string> refuse_ttl(const core::Settings& settings,
                                                    core::Duration ttl);
[[nodiscard]] std::optional<std::string> refuse_break(const core::Settings& settings,
                                                      const BreakOptions& options);
[[nodiscard]] std::optional<std::string> refuse_acquire(const core::Settings& settings,
                                                        const Target& target,
                                                        const AcquireOptions& options);
/// For calls about a token that somebody else acquired.
[[nodiscard]] std::optional<std::string> refuse_adopt(const core::Settings& settings,
                                                      const DetachedLease& lease,
                                                      const AcquireOptions& options);
[[nodiscard]] std::optional<std::string> refuse_by_token(const core::Settings& settings,
                                                         const Target& target, const Token& token);

/// Only a writer's lease can become a reader's; a reader's lease stays one.
[[nodiscard]] std::optional<std::string> refuse_downgrade(const core::SpecialTerms& terms);
[[nodiscard]] std::optional<std::string> refuse_downgrade(const core::Settings& settings,
                                                          std::string_view resource,
                                                          const Token& token);

}  // namespace redlock::api
