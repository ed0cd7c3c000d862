#pragma once

#include <chrono>
#include <thread>
#include <utility>

namespace redlock::test {

/// How long a test waits for a server, a reply or the end of a program. Only a hang takes that
/// long: on a busy machine, seconds become a minute.
inline constexpr std::chrono::milliseconds longest_wait = std::chrono::minutes(3);

/// Polls until `predicate` holds; false only when the generous limit has passed. A test that waits
/// this way is quick when all is well and does not fail on a slow machine. The limit is shorter
/// than a lease: a change that needs a key to expire comes too late.
template <typename Predicate>
[[nodiscard]] bool eventually(Predicate&& predicate,
                              std::chrono::milliseconds limit = std::chrono::seconds(10)) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  auto pause = std::chrono::microseconds(200);
  constexpr auto longest_pause = std::chrono::microseconds(5000);
  while (!predicate()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      // The machine may have stalled this thread during the last pause: one more check decides.
      return predicate();
    }
    std::this_thread::sleep_for(pause);
    pause = pause * 2 < longest_pause ? pause * 2 : longest_pause;
  }
  return true;
}

}  // namespace redlock::test
