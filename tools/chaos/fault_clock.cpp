#include "chaos/fault_clock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <semaphore.h>
#include <sys/mman.h>

#include <fstream>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace redlock::chaos {
namespace {

std::optional<std::filesystem::path> find_libfaketime() {
  // Debian has one folder per architecture.
  for (const char* root : {"/usr/lib", "/usr/local/lib"}) {
    std::error_code error;
    for (std::filesystem::directory_iterator entries(root, error), end; !error && entries != end;
         entries.increment(error)) {
      auto library = entries->path() / "faketime" / "libfaketime.so.1";
      std::error_code absent;
      if (std::filesystem::exists(library, absent)) return library;
    }
  }
  return std::nullopt;
}

const std::optional<std::filesystem::path>& libfaketime() {
  static const auto library = find_libfaketime();
  return library;
}

}  // namespace

bool FaultClock::available() { return libfaketime().has_value(); }

std::vector<std::string> FaultClock::environment(const std::filesystem::path& file) {
  // The C library behind it: without, it deadlocks with the server's jemalloc.
  return {"LD_PRELOAD=" + libfaketime().value().native() + ":libc.so.6",
          "FAKETIME_TIMESTAMP_FILE=" + file.native(), "FAKETIME_NO_CACHE=1",
          "FAKETIME_DONT_FAKE_MONOTONIC=1"};
}

void FaultClock::move(const std::filesystem::path& file, std::chrono::milliseconds from_machine) {
  auto next = file;
  next += ".next";
  std::ofstream stream(next, std::ios::trunc);
  stream << fmt::format("{:+.3f}s\n", std::chrono::duration<double>(from_machine).count());
  stream.close();
  if (!stream) throw std::runtime_error(fmt::format("'{}' cannot be written", next.native()));
  // The server sees either the old time or the new one.
  std::filesystem::rename(next, file);
}

void FaultClock::remove_traces(pid_t pid) noexcept {
  try {
    const auto number = std::to_string(pid);
    ::shm_unlink(("/faketime_shm_" + number).c_str());
    ::sem_unlink(("/faketime_sem_" + number).c_str());
  } catch (const std::bad_alloc&) {
    // They are a few hundred bytes, and gone at the next boot.
  }
}

}  // namespace redlock::chaos
