#include "support/first_line.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

namespace redlock::support {

FirstLine first_line_of(const std::string& path) {
  const auto unreadable = [] {
    return FirstLine{{}, "cannot be read: " + std::generic_category().message(errno)};
  };
  errno = 0;
  std::ifstream file(path);
  if (!file) return unreadable();
  FirstLine line;
  if (!std::getline(file, line.text)) return errno == 0 ? FirstLine{{}, "is empty"} : unreadable();
  if (line.text.ends_with('\r')) line.text.pop_back();
  if (line.text.empty()) line.problem = "has an empty first line";
  return line;
}

}  // namespace redlock::support
