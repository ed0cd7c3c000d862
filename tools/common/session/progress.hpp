#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace redlock::cli {

/// How far something is that has steps of about the same length.
struct Pace {
  std::size_t steps = 1;
  std::size_t done = 0;
  std::chrono::nanoseconds before_step{0};  ///< time that finished steps took
  std::chrono::nanoseconds in_step{0};      ///< time of the current step until now
  std::chrono::nanoseconds expected{0};     ///< of a step, before one is done; zero: not known
};

/// None: it cannot be known before a step is done.
[[nodiscard]] std::optional<std::chrono::nanoseconds> time_left(const Pace& pace);

/// A bar, what is done now, and the time that is left, cut so that it fits into `width` columns.
[[nodiscard]] std::string progress_line(const Pace& pace, std::string_view what, std::size_t width);

/// A bar on standard error that follows the time, if that is a terminal and has lines for people;
/// otherwise nothing. For one thread.
class Progress {
 public:
  /// `expected`: how long a step takes, if that is known before.
  explicit Progress(std::size_t steps, std::chrono::nanoseconds expected = {});
  /// The bar is gone when it returns.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports the number of finished steps; `what` is the next one.
  void show(std::size_t done, std::string_view what);

 private:
  void follow(const std::stop_token& stop);
  void draw();

  const bool visible_;
  const std::chrono::steady_clock::time_point begun_;
  Pace pace_{};
  std::chrono::steady_clock::time_point step_begun_;
  std::string what_{};
  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::jthread thread_{};  // last: it uses the others
};

}  // namespace redlock::cli
