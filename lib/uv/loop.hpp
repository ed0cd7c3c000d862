#pragma once

#include <uv.h>

namespace redlock::uv {

/// Owns a libuv loop. Whatever uses the loop is destroyed before it; the destructor runs the loop
/// until the last close callback came back.
class Loop {
 public:
  /// Throws std::system_error when the process has no file descriptor left.
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] uv_loop_t* get() noexcept { return &loop_; }

  /// Returns when nothing keeps the loop alive any more.
  void run() noexcept;

 private:
  uv_loop_t loop_{};
};

}  // namespace redlock::uv
