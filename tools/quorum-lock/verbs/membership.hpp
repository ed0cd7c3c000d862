#pragma once

#include <chrono>
#include <string>

#include "common/session/output.hpp"
#include "redlock/deployment.hpp"

namespace redlock::cli {

/// The output of `members`.
[[nodiscard]] std::string membership_json(const admin::Membership& membership);
[[nodiscard]] std::string membership_text(const Style& style, const Settings& settings,
                                          const admin::Membership& membership);

/// The change that `bootstrap` would make, as a clause that begins with "these nodes are a
/// deployment". Empty: it would change no deployment. `before`: the members that the nodes have.
[[nodiscard]] std::string deployment_to_change(const admin::Membership& before,
                                               std::chrono::nanoseconds max_ttl);

/// The next step of a change, in one line.
[[nodiscard]] std::string progress_text(const admin::ChangeProgress& progress);

}  // namespace redlock::cli
