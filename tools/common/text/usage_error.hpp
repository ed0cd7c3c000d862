#pragma once

#include <stdexcept>
#include <string>

namespace redlock::cli {

/// Wrong usage, found before anything was sent: one line that names the argument and what is
/// allowed. Ends the program with ExitCode::usage.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& line) : std::runtime_error(line) {}
};

}  // namespace redlock::cli
