// The library that moves the wall clock of programs, loaded into this one. The tests call its
// functions by address, so this program's own clock stays unchanged.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/time.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clock/clock_file.hpp"
#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using wall_clock::ClockFile;

nanoseconds duration_of(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

/// The library in this process; it follows a file, or none.
class Preload {
 public:
  explicit Preload(const std::filesystem::path& file) {
    EXPECT_EQ(::setenv(wall_clock::file_variable, file.c_str(), 1), 0);
    library_.reset(::dlopen(clock_preload().c_str(), RTLD_NOW | RTLD_LOCAL));
    EXPECT_EQ(::unsetenv(wall_clock::file_variable), 0);
    if (!library_) throw std::runtime_error(::dlerror());
  }

  [[nodiscard]] nanoseconds read(clockid_t id) const {
    timespec now{};
    EXPECT_EQ(function<int(clockid_t, timespec*)>("clock_gettime")(id, &now), 0);
    return duration_of(now);
  }
  template <typename Signature>
  [[nodiscard]] Signature* function(const char* name) const {
    return reinterpret_cast<Signature*>(::dlsym(library_.get(), name));
  }

 private:
  struct Close {
    void operator()(void* library) const { ::dlclose(library); }
  };
  std::unique_ptr<void, Close> library_;
};

nanoseconds machine(clockid_t id) {
  timespec now{};
  EXPECT_EQ(::clock_gettime(id, &now), 0);
  return duration_of(now);
}

/// Expects that `read()`, called between two readings of the machine's clock, differs from them by
/// `away`. The coarse clock is late by a tick of the kernel, at most ten milliseconds.
template <typename Read>
void expect_away(nanoseconds away, clockid_t id, nanoseconds resolution, Read read) {
  const auto before = machine(id);
  const nanoseconds moved = read();
  const auto after = machine(id);
  EXPECT_GE(moved, before + away - resolution);
  EXPECT_LE(moved, after + away + resolution);
}

void expect_all_away(const Preload& preload, nanoseconds away) {
  for (const clockid_t id : {CLOCK_REALTIME, CLOCK_REALTIME_COARSE}) {
    expect_away(away, id, 0ns, [&] { return preload.read(id); });
  }
  expect_away(away, CLOCK_REALTIME, 1us, [&] {
    timeval now{};
    EXPECT_EQ((preload.function<int(timeval*, void*)>("gettimeofday")(&now, nullptr)), 0);
    return std::chrono::seconds(now.tv_sec) + std::chrono::microseconds(now.tv_usec);
  });
  expect_away(away, CLOCK_REALTIME, 1s, [&] {
    time_t stored = 0;
    const time_t now = preload.function<time_t(time_t*)>("time")(&stored);
    EXPECT_EQ(now, stored);
    return std::chrono::seconds(now);
  });
  expect_away(away, CLOCK_REALTIME, 0ns, [&] {
    timespec now{};
    EXPECT_EQ((preload.function<int(timespec*, int)>("timespec_get")(&now, TIME_UTC)), TIME_UTC);
    return duration_of(now);
  });
  for (const clockid_t id : {CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_MONOTONIC_RAW}) {
    expect_away(0ns, id, 0ns, [&] { return preload.read(id); });
  }
}

TEST(WallClockTest, LeapsForwardAndBackAndOnlyTheWallClock) {
  const TempDir directory;
  const ClockFile file(directory.path() / "clock");
  const Preload preload(directory.path() / "clock");
  expect_all_away(preload, 0ns);
  for (const nanoseconds away : {nanoseconds(1h), nanoseconds(-1h), nanoseconds(1500us),
                                 nanoseconds(-7ns), nanoseconds(100 * 24h), 0ns}) {
    file.move(away);
    expect_all_away(preload, away);
  }
}

TEST(WallClockTest, DriftsFromTheMomentItWasMade) {
  const TempDir directory;
  const auto begin = machine(CLOCK_MONOTONIC);
  // Runs half as fast again.
  const ClockFile file(directory.path() / "clock", 500'000us);
  const auto made = machine(CLOCK_MONOTONIC);
  const Preload preload(directory.path() / "clock");
  const auto check = [&](nanoseconds moved) {
    const auto shortest = machine(CLOCK_MONOTONIC) - made;
    const auto before = machine(CLOCK_REALTIME);
    const auto read = preload.read(CLOCK_REALTIME);
    const auto after = machine(CLOCK_REALTIME);
    const auto longest = machine(CLOCK_MONOTONIC) - begin;
    EXPECT_GE(read, before + moved + shortest / 2 - 2us);
    EXPECT_LE(read, after + moved + longest / 2 + 2us);
  };
  check(0ns);
  ASSERT_TRUE(eventually([&] { return machine(CLOCK_MONOTONIC) - made > 30ms; }));
  check(0ns);
  file.move(-1h);
  check(-1h);
}

TEST(WallClockTest, MayDriftBackwards) {
  const TempDir directory;
  const ClockFile file(directory.path() / "clock", -100'000us);
  const Preload preload(directory.path() / "clock");
  ASSERT_TRUE(
      eventually([&] { return preload.read(CLOCK_REALTIME) < machine(CLOCK_REALTIME) - 1ms; }));
}

TEST(WallClockTest, IsTheMachinesWithoutTheFileAndSaysSo) {
  const TempDir directory;
  const std::string variable = std::string(wall_clock::file_variable) + "=";
  // The sanitizers' libraries, if there are any, are not those of `date`.
  const auto preload = "LD_PRELOAD=" + clock_preload();
  const auto before = ::time(nullptr);
  const auto absent = run_process(
      {"date", "+%s"}, {.environment = {preload, variable + directory.path().string() + "/no"}});
  EXPECT_GE(std::stoll(absent.output), before);
  EXPECT_LE(std::stoll(absent.output), ::time(nullptr));
  EXPECT_NE(absent.errors.find("clock file cannot be mapped"), std::string::npos) << absent.errors;
  const auto unnamed = run_process({"date", "+%s"}, {.environment = {preload}});
  EXPECT_GE(std::stoll(unnamed.output), before);
  EXPECT_EQ(unnamed.errors, "");
}

TEST(WallClockTest, FollowsTheFileInAnotherProgram) {
  const TempDir directory;
  const ClockFile file(directory.path() / "clock");
  file.move(24h);
  const auto before = ::time(nullptr) + 24 * 3600;
  const auto result =
      run_process({"date", "+%s"}, {.environment = file.environment(clock_preload())});
  EXPECT_EQ(result.errors, "");
  EXPECT_GE(std::stoll(result.output), before);
  EXPECT_LE(std::stoll(result.output), ::time(nullptr) + 24 * 3600);
}

}  // namespace
}  // namespace redlock::test
