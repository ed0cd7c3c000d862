#pragma once

#include <uv.h>

namespace redlock::uv {

/// Owns a libuv loop. All users of the loop must be destroyed before it; the destructor runs the
/// loop until the last close callback has run.
class Loop {
 public:
  /// Throws std::system_error when the process has no file descriptor left.
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] uv_loop_t* get() noexcept { return &loop_; }

  /// Returns when nothing keeps the loop alive.
  void run() noexcept;

 private:
  uv_loop_t loop_{};
};

}  // namespace redlock::uv
