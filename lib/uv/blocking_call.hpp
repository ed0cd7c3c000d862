#pragma once

#include <uv.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "uv/callback.hpp"
#include "uv/signals_blocked.hpp"
#include "uv/wakeup.hpp"

namespace redlock::uv {

/// How many blocking calls of one kind may run at once in this process. A call that hangs outlives
/// its owner, so without a bound every client of a process could leave threads behind.
///
/// A forked child has none of its parent's threads, and begins at zero: the count is kept together
/// with the generation that it belongs to.
class CallLimit {
 public:
  explicit constexpr CallLimit(std::size_t most) noexcept : most_(most) {}

  [[nodiscard]] bool take() noexcept;
  void give_back() noexcept { count_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::uint64_t most_;
  std::atomic<std::uint64_t> count_{0};
};

/// Calls a function that may block without blocking the loop: one call at a time, on a thread of
/// its own. All listeners that ask meanwhile get the call's answer. If all have given up, the next
/// listener that asks gets it.
///
/// If no call can begin, the `Answer` is constructed from a constant text, its `problem`.
///
/// Does not use uv_queue_work. Its thread pool is joined when the process exits, also in a forked
/// child, which has no such threads and crashes (seen with libuv 1.44). The pool is shared with
/// everything else in the process, and a call that hangs would hold up the end of the loop.
///
/// Belongs to the loop's thread.
template <class Answer>
class BlockingCall {
 public:
  using Function = std::function<Answer()>;

  class Listener {
   public:
    virtual void on_answer(const Answer& answer) noexcept = 0;

   protected:
    ~Listener() = default;
  };

  BlockingCall(uv_loop_t* loop, CallLimit& limit) noexcept : loop_(loop), limit_(&limit) {}
  /// Abandons a call that is running: its thread ends when the call does.
  ~BlockingCall() {
    if (!call_) return;
    const std::lock_guard lock(call_->mutex);
    call_->wakeup.reset();
  }
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

  /// `listener` is called once, perhaps inside this call. `function` runs on another thread, unless
  /// a call is running or has left an answer. It must not throw.
  void ask(Function function, Listener& listener) {
    if (unclaimed_) {
      const Answer answer = *std::exchange(unclaimed_, std::nullopt);
      return listener.on_answer(answer);
    }
    if (!call_) {
      if (const char* problem = start(std::move(function))) {
        return listener.on_answer(Answer{problem, {}});
      }
    }
    listeners_.push_back(&listener);
  }

  /// `listener` is no longer called.
  void forget(const Listener& listener) noexcept { std::erase(listeners_, &listener); }

  /// Whether a call is running.
  [[nodiscard]] bool running() const noexcept { return call_ != nullptr; }

 private:
  /// Shared by the two threads, for as long as either needs it.
  struct Call {
    Function function;
    CallLimit* limit = nullptr;
    std::mutex mutex;              // guards what follows
    std::optional<Wakeup> wakeup;  // none after everybody has given up the answer
    Answer answer{};

    void run() noexcept {
      Answer found = function();
      // Given back before anybody can know that the call is over.
      limit->give_back();
      const std::lock_guard lock(mutex);
      answer = std::move(found);
      if (wakeup) wakeup->notify();
    }
  };

  [[nodiscard]] const char* start(Function function) {
    auto call = std::make_shared<Call>();
    call->function = std::move(function);
    call->limit = limit_;
    call->wakeup.emplace(loop_, Callback::to<&BlockingCall::on_done>(*this));
    if (!limit_->take()) return "too many other calls hang";
    const SignalsBlocked blocked;
    try {
      std::thread([call]() noexcept { call->run(); }).detach();
    } catch (const std::system_error&) {
      limit_->give_back();
      return "no thread for it";
    }
    call_ = std::move(call);
    return nullptr;
  }

  void on_done() noexcept {
    const auto call = std::exchange(call_, nullptr);
    {
      const std::lock_guard lock(call->mutex);
      call->wakeup.reset();
    }
    if (listeners_.empty() && !call->answer.failed()) unclaimed_ = call->answer;
    while (!listeners_.empty()) {
      Listener* const listener = listeners_.front();
      listeners_.erase(listeners_.begin());
      listener->on_answer(call->answer);
    }
  }

  uv_loop_t* loop_;
  CallLimit* limit_;
  std::shared_ptr<Call> call_;        // the running call
  std::vector<Listener*> listeners_;  // listeners that wait for call_
  std::optional<Answer> unclaimed_;   // an answer that arrived when nobody waited
};

}  // namespace redlock::uv
