#pragma once

#include <string>

namespace redlock::cli {

/// Asks on standard error whether to do it; false unless the answer is y or yes.
[[nodiscard]] bool confirm(const std::string& question);

/// Throws UsageError if nobody can be asked: standard input is no terminal. `why`: what is asked.
void require_somebody_to_ask(const std::string& why = {});

}  // namespace redlock::cli
