#include "redlock/credentials.hpp"

#include <utility>

#include "support/first_line.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

CredentialsProvider password_file(std::string path) {
  return [path = std::move(path)](const std::string&) -> Result<Credentials> {
    support::FirstLine line = support::first_line_of(path);
    if (line.problem.empty()) return Credentials{{}, std::move(line.text)};
    return Error{Errc::unavailable, "the password file '" + path + "' " + line.problem, {}};
  };
}

}  // namespace REDLOCK_ABI
}  // namespace redlock
