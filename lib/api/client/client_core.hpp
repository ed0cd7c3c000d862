#pragma once

#include <uv.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/client/answer.hpp"
#include "api/client/calls.hpp"
#include "api/client/client_loop.hpp"
#include "api/client/client_state.hpp"
#include "api/client/local_waits.hpp"
#include "api/client/mailbox.hpp"
#include "api/client/outcomes.hpp"
#include "redlock/async_client.hpp"
#include "runtime/explain.hpp"
#include "uv/loop_thread.hpp"

namespace redlock::api {

/// An argument of a call, as it is kept until the call begins.
template <typename Argument>
using Kept = std::conditional_t<std::is_same_v<std::remove_cvref_t<Argument>, std::string_view>,
                                std::string, std::remove_cvref_t<Argument>>;

class ClientCore;
using Core = std::shared_ptr<ClientCore>;

/// The part that both public clients share: it has the loop, and ends the client. Calls from other
/// threads become jobs for the loop's thread. There, `Calls` turns calls into events for the
/// driver, and `Outcomes` turns the driver's reports into completions. Completions run at the end
/// of the turn: never inside a call, never inside a step, and with no lock held.
///
/// Threads: everything but `mailbox_` and the atomics belongs to the loop's thread.
class ClientCore final : public std::enable_shared_from_this<ClientCore> {
  struct Key {};

 public:
  /// `loop` null: a loop and a thread of its own. With `lending`, blocked callers turn that loop
  /// themselves if nobody else does.
  [[nodiscard]] static Result<std::shared_ptr<ClientCore>> create(
      ClientOptions options, uv_loop_t* loop,
      uv::LoopThread::Lending lending = uv::LoopThread::Lending::never);
  ClientCore(Key, runtime::Configuration configuration);
  ClientCore(const ClientCore&) = delete;
  ClientCore& operator=(const ClientCore&) = delete;
  ~ClientCore();

  // --- any thread ---
  /// Makes a call: `Begin`, a function of `Calls`, runs on the loop's thread. If this is that
  /// thread, it runs here; otherwise a job runs it, with copies of the arguments. In a forked child
  /// the call is refused.
  template <auto Begin, typename Done, typename... Arguments>
  void call(Done done, Arguments&&... arguments) {
    if (is_refused(done)) return;
    on_loop<Begin>(Lane::last, std::move(done), std::forward<Arguments>(arguments)...);
  }
  /// The calls that need more than `call`. Without `done`, the outcome of a release is dropped.
  /// `wait`: `forever` until granted, zero or less asks once.
  RequestId acquire(Target&& target, AcquireOptions&& options, std::chrono::nanoseconds wait,
                    AcquireDone done);
  RequestId watch(std::string_view resource, WatchOptions options, InspectDone changed);
  void release(const std::shared_ptr<LeaseCell>& cell, RoundDone done);
  void close(CloseDone done);
  void detach(const std::shared_ptr<LeaseCell>& cell);
  /// Reports to the cell (`LeaseCell::set_others`), for the rest of the lease, whether other
  /// clients wait for its resource. Call it at most once for a lease.
  void watch_others(const std::shared_ptr<LeaseCell>& cell);
  void cancel(RequestId request);

  // --- for the other asynchronous classes: any thread, not in a forked child ---
  /// A fresh id, which no call has had.
  [[nodiscard]] RequestId next_request() noexcept {
    return RequestId{next_request_.fetch_add(1, std::memory_order_relaxed)};
  }
  /// Runs the job on the loop's thread: at once if this is that thread; on this thread if the
  /// client is closed.
  void dispatch(Job job);
  /// Runs the job where calls are answered: on the loop's thread, at the end of a turn, never
  /// inside this call. If the client is closed, the job runs here and at once.
  void post(Job job);
  /// For dispatched jobs: at `until`, calls `over` as a posted job, unless `end_local_wait` comes
  /// first. None if the client closes.
  [[nodiscard]] std::optional<LocalWaits::Id> wait_locally(core::Instant until,
                                                           LocalWaits::Over over);
  void end_local_wait(const LocalWaits::Id& wait) noexcept { local_waits_.remove(wait); }

  /// For `Outcomes`: the driver ends a turn.
  void on_turn_end() noexcept;
  /// Ends a public client object: closes and waits if the client has a thread to wait for,
  /// otherwise drops everything. In a forked child it touches nothing.
  void shut_down() noexcept;

  // --- blocked callers (api/client/waiter.hpp) ---
  /// Whether this thread now turns the loop. No code of the user's runs on it.
  [[nodiscard]] bool try_borrow_loop() noexcept;
  /// For the borrower: sends the requests, and calls the completions, that the calls until now have
  /// produced.
  void end_turn() noexcept;
  /// For the borrower: whether it may wait for more events itself.
  [[nodiscard]] bool may_keep_loop() const noexcept;
  /// For the borrower: waits for the next event, and handles it.
  void turn() noexcept;
  void give_back_loop() noexcept;
  /// Where callers wait without turning the loop.
  [[nodiscard]] ClientLoop& loop() noexcept { return loop_; }

  /// Why this thread cannot make a blocking call at all; none: it can.
  [[nodiscard]] std::optional<Error> refuse_blocking_call() const;
  [[nodiscard]] bool forked() const noexcept;
  /// The URLs of all nodes that are known now. On the loop's thread only; the list does not change,
  /// and lives as long as this object.
  [[nodiscard]] const runtime::Urls& urls() const noexcept { return state_.urls(); }
  /// Any thread may call its const methods.
  [[nodiscard]] const Keyspace& keyspace() const noexcept { return state_.keyspace; }

 private:
  void open(uv_loop_t* loop, uv::LoopThread::Lending lending);
  [[nodiscard]] bool directly() const noexcept;
  using Lane = Mailbox::Lane;
  void enqueue(Job job, Lane lane = Lane::last);
  void run_jobs() noexcept;
  void tear_down() noexcept;
  void answer_the_rest() noexcept;
  void begin_close(CloseDone done);

  /// Refuses a call in a forked child.
  template <typename Done>
  [[nodiscard]] bool is_refused(Done& done) const {
    if (!forked()) return false;
    if (done) done(runtime::explain(Errc::forked, {}, {}));
    return true;
  }
  template <auto Begin, typename... Arguments>
  void on_loop(Lane lane, Arguments&&... arguments) {
    if (directly()) return (calls_.*Begin)(std::forward<Arguments>(arguments)...);
    enqueue(
        [this, ... kept = Kept<Arguments>(std::forward<Arguments>(arguments))]() mutable {
          (calls_.*Begin)(std::move(kept)...);
        },
        lane);
  }

  void run_completions();
  /// Callers that were answered in one turn mostly make their next calls at once, and the requests
  /// of one turn leave in one write to each node. So this lets the callers that are about to run
  /// make their calls before the turn ends.
  void let_callers_ask();
  void yield_to_callers(std::size_t answered);

  const std::uint64_t fork_generation_;
  std::atomic<std::uint64_t> next_request_{1};
  std::atomic<bool> shut_down_{false};
  ClientLoop loop_;

  Mailbox mailbox_;  // any thread
  ClientState state_;
  Calls calls_{state_};
  Outcomes outcomes_{state_, calls_, *this};
  LocalWaits local_waits_;
  std::vector<CloseDone> closers_;
};

}  // namespace redlock::api
