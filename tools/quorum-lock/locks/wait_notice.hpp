#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "redlock/client.hpp"
#include "redlock/inspection.hpp"
#include "redlock/metrics.hpp"
#include "redlock/target.hpp"

namespace redlock::cli {

/// The reason why a caller does not get a resource.
struct Obstacle {
  std::string what;                              ///< constant while nothing changes
  std::optional<std::chrono::nanoseconds> left;  ///< until it can be over
};

/// The obstacle that too few nodes answer or have a vote; none: enough do.
[[nodiscard]] std::optional<Obstacle> find_missing_votes(const Metrics& metrics);

/// The reason why the resource is not free; none: it is.
[[nodiscard]] std::optional<Obstacle> find_obstacle(const Inspection& inspection);

/// The notice in one line, without a line end. `limit`: how long the verb waits in all, or
/// redlock::forever.
[[nodiscard]] std::string wait_text(const std::vector<std::string>& resources,
                                    const Obstacle& obstacle, std::chrono::nanoseconds limit,
                                    std::chrono::nanoseconds waited);

/// Says on standard error what a verb waits for, and until when, once it has waited for a second.
/// On a terminal this is one line that follows the time; elsewhere it is a line at each change.
/// Says nothing with --quiet.
class WaitNotice {
 public:
  /// All arguments outlive this object. `limit`: how long the verb waits.
  WaitNotice(Client& client, const Settings& settings, const Target& target,
             std::chrono::nanoseconds limit);
  /// Waits for the inspection under way.
  ~WaitNotice() = default;
  WaitNotice(const WaitNotice&) = delete;
  WaitNotice& operator=(const WaitNotice&) = delete;

  /// Ends the notices, because the wait is over. Does not block.
  void end();

 private:
  void follow(const std::stop_token& stop);
  /// For several resources: the first one that is not free.
  [[nodiscard]] Obstacle find(const std::stop_token& stop) const;
  void say(const Obstacle& obstacle);

  Client& client_;
  const std::vector<std::string> resources_;
  const std::size_t permits_;
  const std::chrono::nanoseconds limit_;
  const std::chrono::steady_clock::time_point begun_;
  const bool on_terminal_;
  std::string said_;
  bool ended_ = false;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace redlock::cli
