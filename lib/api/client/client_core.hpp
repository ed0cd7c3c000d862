#pragma once

#include <uv.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/client/answer.hpp"
#include "api/client/completions.hpp"
#include "api/client/held_leases.hpp"
#include "api/client/local_waits.hpp"
#include "api/client/mailbox.hpp"
#include "api/client/observing.hpp"
#include "api/client/pending_calls.hpp"
#include "api/leases/lease_cell.hpp"
#include "api/options/keyspace.hpp"
#include "redlock/async_client.hpp"
#include "redlock/metrics.hpp"
#include "redlock/observer.hpp"
#include "runtime/driver.hpp"
#include "runtime/event_log.hpp"
#include "runtime/explain.hpp"
#include "uv/blocked_threads.hpp"
#include "uv/loop_thread.hpp"

namespace redlock::api {

/// An argument of a call, as it is kept until the call begins.
template <typename Argument>
using Kept = std::conditional_t<std::is_same_v<std::remove_cvref_t<Argument>, std::string_view>,
                                std::string, std::remove_cvref_t<Argument>>;

class ClientCore;
using Core = std::shared_ptr<ClientCore>;

/// The part that both public clients share. Calls from other threads become jobs for the loop's
/// thread. There, the jobs become events for the driver, and the driver's outcomes become
/// completions. Completions run at the end of the turn: never inside a call, never inside a step,
/// and with no lock held.
///
/// Threads: everything but `mailbox_` and the atomics belongs to the loop's thread.
class ClientCore final : public std::enable_shared_from_this<ClientCore>,
                         private runtime::DriverListener {
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
  /// Makes a call: `Begin`, one of the calls below, runs on the loop's thread. If this is that
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

  // --- calls, on the loop's thread: for `call` only (client_calls.cpp) ---
  void begin_adopt(AcquireDone done, const DetachedLease& detached, AcquireOptions&& options);
  void begin_extend(RoundDone done, const std::shared_ptr<LeaseCell>& cell,
                    std::chrono::nanoseconds ttl);
  void begin_downgrade(RoundDone done, const std::shared_ptr<LeaseCell>& cell);
  void begin_extend_by_token(RoundDone done, const Target& target, const Token& token,
                             std::chrono::nanoseconds ttl);
  void begin_downgrade_by_token(RoundDone done, std::string_view resource, const Token& token);
  /// With `by_operator`, an operator breaks the lock on these terms, and the nodes remember it.
  void begin_release_by_token(RoundDone done, const Target& target, const Token& token,
                              std::optional<BreakOptions> by_operator);
  void begin_inspect(InspectDone done, std::string_view resource);
  void begin_ownership(OwnershipDone done, std::string_view resource, const Token& token);
  void begin_metrics(MetricsDone done);

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
  /// A caller begins to wait for an answer without the loop; a callback on the loop ends the wait.
  void begin_waiting() noexcept;
  /// Wakes the caller together with all callers that are answered in this turn.
  void end_waiting(uv::BlockedThreads::Wait& wait) noexcept;
  void wait(const uv::BlockedThreads::Wait& wait) noexcept { blocked_callers_.block(wait); }

  /// Why this thread cannot make a blocking call at all; none: it can.
  [[nodiscard]] std::optional<Error> refuse_blocking_call() const;
  [[nodiscard]] bool forked() const noexcept;
  /// The URLs of all nodes that are known now. On the loop's thread only; the list does not change,
  /// and lives as long as this object.
  [[nodiscard]] const runtime::Urls& urls() const noexcept { return urls_.front(); }
  /// Any thread may call its const methods.
  [[nodiscard]] const Keyspace& keyspace() const noexcept { return keyspace_; }

 private:
  // client_core.cpp: threads, jobs, the end
  void open(uv_loop_t* loop, uv::LoopThread::Lending lending);
  [[nodiscard]] bool on_loop_thread() const noexcept;
  [[nodiscard]] bool directly() const noexcept;
  [[nodiscard]] bool loop_is_borrowed() const noexcept { return thread_ && thread_->is_borrowed(); }
  [[nodiscard]] bool lends_loop() const noexcept { return thread_ && thread_->lends(); }
  using Lane = Mailbox::Lane;
  void enqueue(Job job, Lane lane = Lane::last);
  void run_jobs() noexcept;
  void tear_down() noexcept;
  void answer_the_rest() noexcept;
  void end_all_leases() noexcept;
  void begin_close(CloseDone done);
  void end_local_waits(core::Instant by, LocalWaits::End end);

  /// Refuses a call in a forked child.
  template <typename Done>
  [[nodiscard]] bool is_refused(Done& done) const {
    if (!forked()) return false;
    if (done) done(runtime::explain(Errc::forked, {}, {}));
    return true;
  }
  template <auto Begin, typename... Arguments>
  void on_loop(Lane lane, Arguments&&... arguments) {
    if (directly()) return (this->*Begin)(std::forward<Arguments>(arguments)...);
    enqueue(
        [this, ... kept = Kept<Arguments>(std::forward<Arguments>(arguments))]() mutable {
          (this->*Begin)(std::move(kept)...);
        },
        lane);
  }

  // client_calls.cpp: calls on the loop's thread
  void begin_acquire(AcquireDone done, RequestId request, const Target& target,
                     AcquireOptions&& options, std::chrono::nanoseconds wait);
  void begin_watch(InspectDone changed, RequestId request, std::string_view resource,
                   WatchOptions options);
  void begin_release(RoundDone done, const std::shared_ptr<LeaseCell>& cell);
  void forget(const LeaseCell& cell, HoldObservation::End why) noexcept;
  template <typename Value>
  void ask(Answer<Value> done, std::string_view resource, const Token& token,
           std::optional<std::string> why);
  /// Whether the call is answered here: with `why`, or because the client is closed.
  template <typename Value>
  [[nodiscard]] bool refused(const std::optional<std::string>& why, Answer<Value>& done);
  template <typename Value>
  void complete(Answer<Value> done, Result<Value> value);

  // client_outcomes.cpp: what the driver reports, and answering the callers
  void on_outcome(core::Instant now, const core::Acquired& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::Extended& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::Released& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::Inspected& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::Failed& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::AtRisk& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::QueueWatched& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::Lost& outcome) noexcept override;
  void on_node_event(NodeEvent event) noexcept override;
  void on_log(NodeEvent event) noexcept override;
  void on_undelivered(const core::Undelivered& report) noexcept override;
  void on_drained() noexcept override;
  void on_turn_end() noexcept override;
  /// Has the keys of lost leases removed.
  void release_lost();
  [[nodiscard]] Error explain_loss(const LeaseCell& cell, const core::Round& round) const;
  void fail(AnyDone& done, Error error);
  void log(NodeEvent event);
  void run_completions();
  void wake_answered_callers() noexcept;
  /// Callers that were answered in one turn mostly make their next calls at once, and the requests
  /// of one turn leave in one write to each node. So this lets the callers that are about to run
  /// make their calls before the turn ends.
  void let_callers_ask();
  void yield_to_callers(std::size_t answered);
  [[nodiscard]] bool is_to_name_holder(const AnyDone& done, const core::Failed& outcome) const;
  /// Answers the call with the error, once a further round has named the holder.
  void name_holder(AnyDone done, std::string resource, Error error);
  [[nodiscard]] bool deadline_near() const noexcept;

  runtime::Configuration configuration_;
  Keyspace keyspace_;
  std::forward_list<runtime::Urls> urls_;  // the newest first; one for each node that was learned
  const std::uint64_t fork_generation_;
  std::atomic<std::uint64_t> next_request_{1};
  std::optional<uv::LoopThread> thread_;  // none: the caller's loop
  std::atomic<std::thread::id> caller_thread_{};
  std::atomic<bool> shut_down_{false};

  Mailbox mailbox_;                        // any thread
  std::optional<runtime::Driver> driver_;  // none once closed
  PendingCalls pending_;
  Completions completions_;
  Observing observing_{configuration_.observer.get(), completions_};
  HeldLeases held_{completions_, observing_};
  std::vector<core::ClaimId> lost_;  // lost leases whose keys are still to be removed
  std::uint64_t found_lost_ = 0;     // leases whose holders noticed the loss
  LocalWaits local_waits_;
  runtime::EventLog event_log_;
  std::size_t answered_callers_ = 0;  // blocked callers answered since the end of the last turn
  uv::BlockedThreads blocked_callers_;
  bool closing_ = false;
  bool drained_ = false;
  std::vector<CloseDone> closers_;
  CloseReport close_report_;
};

/// What a call answers with.
template <typename Value, typename... Arguments>
std::type_identity<Value> answer_of(void (ClientCore::*)(Answer<Value>, Arguments...));
template <auto Begin>
using ValueOf = typename decltype(answer_of(Begin))::type;

}  // namespace redlock::api
