#pragma once

#include <uv.h>

#include "uv/callback.hpp"
#include "uv/handle.hpp"

namespace redlock::uv {

/// Lets any thread make the loop's thread call back. Several notify() may be served by one call;
/// everything written before a notify() is visible in the call that follows it.
///
/// Keeps the loop alive while it exists. Created and destroyed on the loop's thread; the owner
/// makes sure that no thread is inside notify() when it is destroyed. It may be destroyed by its
/// callback.
class Wakeup {
 public:
  /// Throws std::system_error when the process has no file descriptor left.
  Wakeup(uv_loop_t* loop, Callback on_wake);
  ~Wakeup() = default;
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  /// Thread-safe; one system call at most, none if a wake-up is already on its way.
  void notify() noexcept;

 private:
  Callback on_wake_;
  Handle<uv_async_t> async_;
};

}  // namespace redlock::uv
