#include "redlock/version.hpp"

namespace redlock::inline REDLOCK_ABI {

std::string_view library_version() noexcept { return version; }

}  // namespace redlock::inline REDLOCK_ABI
