#include "redlock/version.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

std::string_view library_version() noexcept { return version; }

}  // namespace REDLOCK_ABI
}  // namespace redlock
