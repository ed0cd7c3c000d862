#pragma once

#include <coroutine>
#include <exception>

namespace redlock::test {

/// A minimal coroutine type: begins at once, and only its promise waits for its end.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

}  // namespace redlock::test
