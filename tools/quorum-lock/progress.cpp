#include "quorum-lock/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace redlock::cli {
namespace {

constexpr std::size_t bar_width = 30;
constexpr std::string_view erase_line = "\r\x1b[K";

void write_error(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

}  // namespace

Progress::Progress(std::size_t steps)
    : steps_(std::max<std::size_t>(steps, 1)), visible_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (visible_) write_error(erase_line);
}

void Progress::show(std::size_t done, std::string_view what) const {
  if (!visible_) return;
  const std::size_t filled = std::min(done, steps_) * bar_width / steps_;
  write_error(fmt::format("{}[{}{}] {}", erase_line, std::string(filled, '#'),
                          std::string(bar_width - filled, '.'), what));
}

}  // namespace redlock::cli
