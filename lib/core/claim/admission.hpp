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

/// What may be asked for at all. Each answers why not, in one line that names the argument and what
/// is allowed; nothing where all is well. Checked before anything is sent.
[[nodiscard]] std::optional<std::string> refuse_resource(const Settings& settings,
                                                         std::string_view resource);
[[nodiscard]] std::optional<std::string> refuse_ttl(const Settings& settings, Duration ttl);
[[nodiscard]] std::optional<std::string> refuse_break(const Settings& settings,
                                                      const BreakOptions& options);
[[nodiscard]] std::optional<std::string> refuse_acquire(const Settings& settings,
                                                        const Target& target,
                                                        const AcquireOptions& options);
/// Of a call about somebody's token.
[[nodiscard]] std::optional<std::string> refuse_adopt(const Settings& settings,
                                                      const DetachedLease& lease,
                                                      const AcquireOptions& options);
[[nodiscard]] std::optional<std::string> refuse_by_token(const Settings& settings,
                                                         const Target& target, const Token& token);

/// Only a writer's lease becomes a reader's, and a reader's stays one.
[[nodiscard]] std::optional<std::string> refuse_downgrade(const SpecialTerms& terms);
[[nodiscard]] std::optional<std::string> refuse_downgrade(const Settings& settings,
                                                          std::string_view resource,
                                                          const Token& token);

/// "250 ms", "1.5 s": for messages.
[[nodiscard]] std::string format_duration(Duration duration);

/// Why a node is given up that took longer to connect to. Names the option.
[[nodiscard]] std::string no_connection_within(Duration limit);

}  // namespace redlock::core
