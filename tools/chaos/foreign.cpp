#include "chaos/foreign.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <system_error>
#include <vector>

#include "chaos/checker/checker_history.hpp"
#include "chaos/recorder.hpp"
#include "chaos/terms.hpp"

namespace redlock::chaos {
namespace {

std::int64_t monotonic_now() noexcept {
  timespec now{};
  static_cast<void>(::clock_gettime(CLOCK_MONOTONIC, &now));
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// The difference between CLOCK_MONOTONIC, the only fine clock of some languages, and the clock of
/// the histories. The two differ by the time for which the machine was suspended, so a later
/// suspension changes the difference.
std::int64_t boot_offset() noexcept {
  // An interruption between the two readings would make the difference too large.
  std::int64_t least = INT64_MAX;
  for (int reading = 0; reading < 10; ++reading) {
    const std::int64_t before = monotonic_now();
    const std::int64_t offset = boot_now() - before;
    if (offset < least) least = offset;
  }
  return least;
}

void set_variable(const char* name, const std::string& value) {
  if (::setenv(name, value.c_str(), 1) != 0) {
    throw std::system_error(errno, std::generic_category(), name);
  }
}

}  // namespace

int become_foreign(const ContenderRequest& request) {
  set_variable("QUORUM_LOCK_NODES", fmt::format("{}", fmt::join(request.nodes, ",")));
  set_variable("QUORUM_LOCK_CHAOS_RESOURCES", fmt::format("{}", fmt::join(request.resources, ",")));
  set_variable("QUORUM_LOCK_CHAOS_FOLDER", request.folder.string());
  set_variable("QUORUM_LOCK_CHAOS_HISTORY",
               (request.folder / history_file_name(request.slot, request.generation)).string());
  set_variable("QUORUM_LOCK_CHAOS_HEALED", (request.folder / healed_file).string());
  set_variable("QUORUM_LOCK_CHAOS_SEED", std::to_string(request.seed));
  set_variable("QUORUM_LOCK_CHAOS_MAX_TTL_MS", std::to_string(max_ttl.count()));
  set_variable("QUORUM_LOCK_CHAOS_CLOCK_OFFSET_NS", std::to_string(boot_offset()));
  std::vector<std::string> words = request.foreign;
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(pointers.front(), pointers.data());
  fmt::print(stderr, "{}: {}\n", words.front(), std::strerror(errno));
  return 127;
}

}  // namespace redlock::chaos
