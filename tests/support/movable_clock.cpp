#include "support/movable_clock.hpp"

#include <fcntl.h>
#include <semaphore.h>
#include <sys/mman.h>

#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace redlock::test {
namespace {

std::optional<std::filesystem::path> find_libfaketime() {
  // Debian has one folder per architecture.
  std::error_code error;
  for (std::filesystem::directory_iterator entries("/usr/lib", error), end;
       !error && entries != end; entries.increment(error)) {
    auto library = entries->path() / "faketime" / "libfaketime.so.1";
    std::error_code absent;
    if (std::filesystem::exists(library, absent)) return library;
  }
  return std::nullopt;
}

const std::optional<std::filesystem::path>& libfaketime() {
  static const auto library = find_libfaketime();
  return library;
}

}  // namespace

bool MovableClock::available() { return libfaketime().has_value(); }

MovableClock::MovableClock(std::filesystem::path file) : file_(std::move(file)) {
  if (!available()) throw std::runtime_error("libfaketime is not installed");
  move(std::chrono::seconds(0));
}

std::vector<std::string> MovableClock::environment() const {
  // The C library behind it: without, it deadlocks with the server's jemalloc.
  return {"LD_PRELOAD=" + libfaketime()->native() + ":libc.so.6",
          "FAKETIME_TIMESTAMP_FILE=" + file_.native(), "FAKETIME_NO_CACHE=1",
          "FAKETIME_DONT_FAKE_MONOTONIC=1"};
}

void MovableClock::move(std::chrono::seconds from_machine) const {
  auto next = file_;
  next += ".next";
  std::ofstream stream(next, std::ios::trunc);
  stream << (from_machine.count() < 0 ? "" : "+") << from_machine.count() << "s\n";
  stream.close();
  if (!stream) throw std::runtime_error("cannot write " + next.native());
  std::filesystem::rename(next, file_);
}

void MovableClock::remove_traces(pid_t pid) noexcept {
  try {
    const auto number = std::to_string(pid);
    ::shm_unlink(("/faketime_shm_" + number).c_str());
    ::sem_unlink(("/faketime_sem_" + number).c_str());
  } catch (const std::bad_alloc&) {
    // They are a few hundred bytes, and gone at the next boot.
  }
}

}  // namespace redlock::test
