#include "common/session/confirm.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "common/text/usage_error.hpp"

namespace redlock::cli {

bool confirm(const std::string& question) {
  std::fputs((question + " [y/N] ").c_str(), stderr);
  std::string line;
  if (!std::getline(std::cin, line)) return false;
  return line == "y" || line == "Y" || line == "yes";
}

void require_somebody_to_ask(const std::string& why) {
  if (::isatty(STDIN_FILENO) == 1) return;
  throw UsageError("--yes: needed, because " + why + "standard input is not a terminal");
}

}  // namespace redlock::cli
