#include "common/session/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "common/text/log.hpp"

namespace redlock::cli {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t bar_width = 20;
constexpr std::chrono::milliseconds redrawn_every{500};
constexpr std::string_view erase_line = "\r\x1b[K";

void write_error(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

std::size_t width_of_standard_error() noexcept {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// To the second: more would only flicker.
std::string left_text(nanoseconds left) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left).count();
  if (seconds < 60) return fmt::format("{} s left", seconds);
  if (seconds < 3600) return fmt::format("{}:{:02} min left", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02} h left", seconds / 3600, seconds / 60 % 60);
}

}  // namespace

std::optional<nanoseconds> time_left(const Pace& pace) {
  const std::size_t done = std::min(pace.done, pace.steps);
  if (done == 0 && pace.expected <= nanoseconds{0}) return std::nullopt;
  const std::chrono::duration<double, std::nano> step =
      done == 0 ? pace.expected : pace.before_step / static_cast<double>(done);
  const auto after_this = step * static_cast<double>(pace.steps - done);
  return std::max(nanoseconds{0},
                  std::chrono::duration_cast<nanoseconds>(after_this) - pace.in_step);
}

std::string progress_line(const Pace& pace, std::string_view what, std::size_t width) {
  const auto left = time_left(pace);
  const std::chrono::duration<double> gone = pace.before_step + pace.in_step;
  const std::chrono::duration<double> rest = left.value_or(nanoseconds{0});
  double part = static_cast<double>(std::min(pace.done, pace.steps)) /
                static_cast<double>(std::max<std::size_t>(pace.steps, 1));
  if (left && gone + rest > rest) part = gone / (gone + rest);
  const auto filled = static_cast<std::size_t>(part * static_cast<double>(bar_width));
  std::string line =
      fmt::format("[{}{}]", std::string(filled, '#'), std::string(bar_width - filled, '.'));
  if (left) line += ' ' + left_text(*left);
  line += "  ";
  line += what;
  return line.substr(0, width);
}

Progress::Progress(std::size_t steps, nanoseconds expected)
    : visible_(::isatty(STDERR_FILENO) == 1 && log_form() == LogForm::text),
      begun_(std::chrono::steady_clock::now()),
      step_begun_(begun_) {
  pace_.steps = std::max<std::size_t>(steps, 1);
  pace_.expected = expected;
  if (visible_) thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

Progress::~Progress() {
  if (!visible_) return;
  thread_.request_stop();
  thread_.join();
  write_error(erase_line);
}

void Progress::show(std::size_t done, std::string_view what) {
  if (!visible_) return;
  const std::lock_guard lock(mutex_);
  if (done != pace_.done) {
    step_begun_ = std::chrono::steady_clock::now();
    pace_.before_step = step_begun_ - begun_;
    pace_.done = done;
  }
  what_ = what;
  draw();
}

void Progress::follow(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    static_cast<void>(changed_.wait_for(lock, stop, redrawn_every, [] { return false; }));
    if (!stop.stop_requested() && !what_.empty()) draw();
  }
}

void Progress::draw() {
  pace_.in_step = std::chrono::steady_clock::now() - step_begun_;
  // The last column stays empty: some terminals begin a new line after it.
  write_error(std::string(erase_line) + progress_line(pace_, what_, width_of_standard_error() - 1));
}

}  // namespace redlock::cli
