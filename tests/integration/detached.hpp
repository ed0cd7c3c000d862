#pragma once

#include <coroutine>
#include <exception>

namespace redlock::test {

/// The least a coroutine needs: begins at once, and nobody waits for its end but its promise.
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
