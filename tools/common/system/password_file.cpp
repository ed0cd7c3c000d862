#include "common/system/password_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {

std::string read_password_file(const std::string& path, const std::string& origin) {
  errno = 0;
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    throw UsageError(fmt::format("{}: '{}' cannot be read: {}", origin, as_printable(path),
                                 errno != 0 ? std::strerror(errno) : "it is empty"));
  }
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty()) {
    throw UsageError(
        fmt::format("{}: the first line of '{}' must be the password", origin, as_printable(path)));
  }
  return line;
}

}  // namespace redlock::cli
