#include <string>

#include "common/system/platform.hpp"

namespace redlock::cli::platform {

std::string own_program() { return "/proc/self/exe"; }

}  // namespace redlock::cli::platform
