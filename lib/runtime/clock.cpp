#include "redlock/clock.hpp"

#include <ctime>

#include "support/assert.hpp"

namespace redlock {

BootClock::time_point BootClock::now() noexcept {
  timespec now{};
  REDLOCK_ASSERT(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
  return time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace redlock
