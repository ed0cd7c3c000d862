#include "common/system/wait_for_end.hpp"

#include <condition_variable>
#include <mutex>

namespace redlock::cli {

void wait_for_end(const std::stop_token& over, std::chrono::nanoseconds limit) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  // A very long limit, added to the clock's time, would overflow.
  if (limit > std::chrono::hours(24 * 365 * 100)) {
    never.wait(lock, over, [] { return false; });
  } else {
    never.wait_for(lock, over, limit, [] { return false; });
  }
}

}  // namespace redlock::cli
