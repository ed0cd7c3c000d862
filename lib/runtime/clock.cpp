#include "redlock/clock.hpp"

#include "support/platform.hpp"

namespace redlock {

BootClock::time_point BootClock::now() noexcept { return time_point(support::boot_time()); }

}  // namespace redlock
