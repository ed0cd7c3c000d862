#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "redlock/callback.hpp"
#include "redlock/coroutine.hpp"
#include "redlock/result.hpp"

namespace redlock {

template <typename Value>
struct Awaitable<Value>::Call {
  using Done = Callback<void(Result<Value>)>;

  std::function<RequestId(Done)> start;
  std::function<void(RequestId)> cancel;
  std::stop_token stop;
  Post post;
  std::optional<Result<Value>> result;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;

  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  /// A call that changes a lock is made even if nobody awaits it: `client.extend(lease, 10s);`.
  ~Call() {
    if constexpr (std::is_same_v<Value, Round>) {
      if (start) begin_unawaited();
    }
  }

 private:
  void begin_unawaited() noexcept {
    try {
      start([](const Result<Value>&) {});
    } catch (const std::bad_alloc&) {
      return;  // as if the nodes had not answered
    }
  }
};

template <typename Value>
Awaitable<Value>::Awaitable(std::shared_ptr<Call> call) noexcept : call_(std::move(call)) {}

template <typename Value>
Awaitable<Value>&& Awaitable<Value>::via(Post post) && {
  call_->post.swap(post);
  return std::move(*this);
}

template <typename Value>
void Awaitable<Value>::await_suspend(std::coroutine_handle<> coroutine) {
  // After the answer, the coroutine may be gone, and this object with it: the rest works on copies.
  const std::shared_ptr<Call> call = call_;
  const std::stop_token stop = std::move(call->stop);
  auto cancel = std::move(call->cancel);
  const auto start = std::exchange(call->start, nullptr);
  const RequestId request = start([call, coroutine](Result<Value> result) {
    call->result.emplace(std::move(result));
    // Moved out, because the call must not be touched once the coroutine goes on.
    if (const Post post = std::move(call->post)) return post(coroutine);
    coroutine.resume();
  });
  if (!stop.stop_possible()) return;
  call->on_stop.emplace(stop, [cancel = std::move(cancel), request] { cancel(request); });
}

template <typename Value>
Result<Value> Awaitable<Value>::await_resume() {
  return *std::move(call_->result);
}

}  // namespace redlock
