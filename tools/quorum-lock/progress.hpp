#pragma once

#include <cstddef>
#include <string_view>

namespace redlock::cli {

/// A bar on standard error, where that is a terminal; nothing elsewhere.
class Progress {
 public:
  explicit Progress(std::size_t steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::size_t done, std::string_view what) const;

 private:
  std::size_t steps_;
  bool visible_;
};

}  // namespace redlock::cli
