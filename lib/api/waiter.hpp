#pragma once

#include <memory>
#include <optional>
#include <semaphore>
#include <utility>

#include "redlock/callback.hpp"
#include "redlock/result.hpp"

namespace redlock::api {

/// Where a blocked thread and the loop's thread meet. Shared, because the loop's thread may still
/// be inside `release()` when the other one has already gone on.
template <typename Value>
struct Waiter {
  std::optional<Result<Value>> result;
  std::binary_semaphore answered{0};
};

/// Starts an asynchronous call and blocks until it has answered. `begun` runs in between.
template <typename Value, typename Begin, typename Begun>
[[nodiscard]] Result<Value> wait_for(Begin&& begin, Begun&& begun) {
  auto waiter = std::make_shared<Waiter<Value>>();
  const auto handle = begin(Callback<void(Result<Value>)>([waiter](Result<Value> result) {
    waiter->result.emplace(std::move(result));
    waiter->answered.release();
  }));
  [[maybe_unused]] const auto while_waiting = begun(handle);
  waiter->answered.acquire();
  return *std::move(waiter->result);
}

template <typename Value, typename Begin>
[[nodiscard]] Result<Value> wait_for(Begin&& begin) {
  return wait_for<Value>(
      [&](Callback<void(Result<Value>)> done) {
        begin(std::move(done));
        return 0;
      },
      [](int) { return 0; });
}

}  // namespace redlock::api
