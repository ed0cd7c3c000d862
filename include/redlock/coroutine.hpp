#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "redlock/callback.hpp"
#include "redlock/result.hpp"

namespace redlock {

/// Names a call in flight, for `AsyncClient::cancel`. Zero names none.
enum class RequestId : std::uint64_t {};

/// What `co_await` takes: a call of AsyncClient that begins when it is awaited, once.
///
///     Result<Lease> lease = co_await client.acquire("invoice/42");
///
///     AcquireOptions options{.ttl = 20s};
///     Result<Lease> lease =
///         co_await client.acquire("invoice/42", std::move(options), stop).via(post);
///
/// Options, and a `post` that owns what it captures, are made in statements of their own: g++ 12
/// destroys twice what `{.ttl = 20s}` or a lambda makes within an expression that awaits.
///
/// The coroutine goes on where the answer comes, on the client's loop thread, and must not block
/// there; or where `post` takes it, which is called there with the coroutine's handle and has it
/// resumed by whatever executor it belongs to. A stop request ends the call with `cancelled`.
///
/// The coroutine must not be destroyed while it awaits: stop the call, and let it come to its end.
template <typename Value>
class [[nodiscard]] Awaitable {
 public:
  using Done = Callback<void(Result<Value>)>;
  using Start = std::function<RequestId(Done)>;
  using Cancel = std::function<void(RequestId)>;
  using Post = std::function<void(std::coroutine_handle<>)>;

  Awaitable(Start start, Cancel cancel, std::stop_token stop)
      : start_(std::move(start)), cancel_(std::move(cancel)), stop_(std::move(stop)) {}

  [[nodiscard]] Awaitable&& via(Post post) && {
    call_->post.swap(post);
    return std::move(*this);
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }

  void await_suspend(std::coroutine_handle<> coroutine) {
    // From the answer on, the coroutine may be gone, and this object with it: what is still to be
    // done here is done with copies.
    const std::shared_ptr<Call> call = call_;
    const std::stop_token stop = std::move(stop_);
    Cancel cancel = std::move(cancel_);
    const Start start = std::move(start_);
    const RequestId request = start([call, coroutine](Result<Value> result) {
      call->result.emplace(std::move(result));
      // Moved out: nothing of the call may be touched once the coroutine goes on.
      if (const Post post = std::move(call->post)) return post(coroutine);
      coroutine.resume();
    });
    if (!stop.stop_possible()) return;
    call->on_stop.emplace(stop, [cancel = std::move(cancel), request] { cancel(request); });
  }

  [[nodiscard]] Result<Value> await_resume() { return *std::move(call_->result); }

 private:
  struct Call {
    std::optional<Result<Value>> result;
    Post post;
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
  };

  Start start_;
  Cancel cancel_;
  std::stop_token stop_;
  std::shared_ptr<Call> call_ = std::make_shared<Call>();
};

}  // namespace redlock
