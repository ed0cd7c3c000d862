#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "api/client/client_core.hpp"
#include "redlock/callback.hpp"
#include "redlock/result.hpp"
#include "uv/blocked_threads.hpp"

namespace redlock::api {

/// The result of a blocking call, passed from the loop's thread to the blocked one. Shared, because
/// the loop's thread may still be inside `release()` when the other thread has already returned.
template <typename Value>
struct Waiter {
  std::optional<Result<Value>> result;  // belongs to the loop's thread until `answered`
  bool waiting = false;  // belongs to the loop's thread: the caller waits without turning the loop
  uv::BlockedThreads::Wait answered;
};

/// Starts an asynchronous call and blocks until it has answered. `begun` runs in between. The
/// caller borrows the loop if it is idle, and turns it: its answer then costs no change of threads.
template <typename Value, typename Begin, typename Begun>
[[nodiscard]] Result<Value> wait_for(ClientCore& core, Begin&& begin, Begun&& begun) {
  auto waiter = std::make_shared<Waiter<Value>>();
  const bool borrowing = core.try_borrow_loop();
  if (!borrowing) {
    waiter->waiting = true;
    core.loop().begin_waiting();
  }
  const auto handle = begin(Callback<void(Result<Value>)>([waiter, &core](Result<Value> result) {
    waiter->result.emplace(std::move(result));
    if (waiter->waiting) core.loop().end_waiting(waiter->answered);
  }));
  [[maybe_unused]] const auto while_waiting = begun(handle);
  if (borrowing) {
    core.end_turn();
    while (!waiter->result && core.may_keep_loop()) core.turn();
    if (!waiter->result) {
      waiter->waiting = true;
      core.loop().begin_waiting();
    }
    core.give_back_loop();
  }
  if (waiter->waiting) core.loop().wait(waiter->answered);
  return *std::move(waiter->result);
}

template <typename Value, typename Begin>
[[nodiscard]] Result<Value> wait_for(ClientCore& core, Begin&& begin) {
  return wait_for<Value>(
      core,
      [&](Callback<void(Result<Value>)> done) {
        begin(std::move(done));
        return 0;
      },
      [](int) { return 0; });
}

}  // namespace redlock::api
