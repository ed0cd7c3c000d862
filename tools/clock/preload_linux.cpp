// A library for LD_PRELOAD: the wall clock of the program that it is loaded into is the machine's
// plus what the file named by REDLOCK_CLOCK_FILE says, from one call to the next. Without that file
// it is the machine's. All other clocks are the machine's always.
//
// The functions below may be called by an allocator that holds its locks, in a signal handler,
// between fork() and exec(), and before the constructors have run. So they allocate nothing, lock
// nothing and look no symbol up: they ask the kernel, which leaves out the C library's faster way
// by the vDSO.
//
// What the kernel or the C library compares with the wall clock by itself is not moved: timers, and
// waits with a time limit, on CLOCK_REALTIME.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "clock/setting.hpp"

namespace {

using redlock::wall_clock::Setting;

constexpr std::int64_t second = 1'000'000'000;

constinit const Setting of_the_machine{};
constinit const Setting* setting = &of_the_machine;

void complain(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody is left to be told
}

__attribute__((constructor)) void map_the_file() {
  const char* name = std::getenv(redlock::wall_clock::file_variable);
  if (name == nullptr) return;
  void* mapped = MAP_FAILED;
  const int file = ::open(name, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    mapped = ::mmap(nullptr, sizeof(Setting), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
  }
  if (mapped == MAP_FAILED) {
    complain("redlock: the clock file cannot be mapped: the wall clock is the machine's\n");
    return;
  }
  setting = static_cast<const Setting*>(mapped);
}

bool machine_clock(clockid_t id, std::int64_t& nanoseconds) {
  timespec now{};
  if (::syscall(SYS_clock_gettime, id, &now) != 0) return false;
  nanoseconds = now.tv_sec * second + now.tv_nsec;
  return true;
}

/// Reads CLOCK_REALTIME or its coarse sister, and moves what it says. False: see errno.
bool moved_clock(clockid_t id, timespec& now) {
  std::int64_t nanoseconds = 0;
  if (!machine_clock(id, nanoseconds)) return false;
  nanoseconds += setting->offset_ns.load(std::memory_order_relaxed);
  if (setting->drift_ppm != 0) {
    std::int64_t monotonic = 0;
    if (!machine_clock(CLOCK_MONOTONIC, monotonic)) return false;
    // By way of microseconds: the product of both in nanoseconds overflows within days.
    nanoseconds += (monotonic - setting->origin_ns) / 1000 * setting->drift_ppm / 1000;
  }
  now = {.tv_sec = nanoseconds / second, .tv_nsec = nanoseconds % second};
  return true;
}

}  // namespace

#define REDLOCK_PRELOADED extern "C" __attribute__((visibility("default")))
// As the C library declares them.
#ifdef __GLIBC__
#define REDLOCK_THROWS_NOTHING noexcept
#else
#define REDLOCK_THROWS_NOTHING
#endif

// The C library calls their parameters __now and the like.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
REDLOCK_PRELOADED int clock_gettime(clockid_t id, timespec* now) REDLOCK_THROWS_NOTHING {
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) return moved_clock(id, *now) ? 0 : -1;
  return static_cast<int>(::syscall(SYS_clock_gettime, id, now));
}

REDLOCK_PRELOADED int gettimeofday(timeval* now, void* /*time zone*/) REDLOCK_THROWS_NOTHING {
  timespec precise{};
  if (!moved_clock(CLOCK_REALTIME, precise)) return -1;
  *now = {.tv_sec = precise.tv_sec, .tv_usec = precise.tv_nsec / 1000};
  return 0;
}

REDLOCK_PRELOADED time_t time(time_t* result) REDLOCK_THROWS_NOTHING {
  timespec precise{};
  if (!moved_clock(CLOCK_REALTIME, precise)) return -1;
  if (result != nullptr) *result = precise.tv_sec;
  return precise.tv_sec;
}

REDLOCK_PRELOADED int timespec_get(timespec* now, int base) REDLOCK_THROWS_NOTHING {
  return base == TIME_UTC && moved_clock(CLOCK_REALTIME, *now) ? base : 0;
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
