#pragma once

#include <string>

#include "common/session/output.hpp"
#include "redlock/deployment.hpp"

namespace redlock::cli {

/// The output of `members`.
[[nodiscard]] std::string membership_json(const admin::Membership& membership);
[[nodiscard]] std::string membership_text(const Style& style, const Settings& settings,
                                          const admin::Membership& membership);

/// The next step of a change, in one line.
[[nodiscard]] std::string progress_text(const admin::ChangeProgress& progress);

}  // namespace redlock::cli
