#include "redlock/version.hpp"

namespace redlock {

std::string_view library_version() noexcept { return version; }

}  // namespace redlock
