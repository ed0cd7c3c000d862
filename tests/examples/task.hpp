#pragma once

#include <coroutine>
#include <exception>

namespace example {

/// A coroutine that runs by itself. Any coroutine type will do; this is the least of them.
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

}  // namespace example
