#include "api/client/client_core.hpp"

#include <semaphore>
#include <system_error>
#include <utility>

#include "runtime/boot_time.hpp"
#include "runtime/configuration.hpp"
#include "runtime/explain.hpp"
#include "support/assert.hpp"
#include "support/fork_guard.hpp"

namespace redlock::api {
namespace {

/// Clients of a forked child: their threads do not exist here, and what they have registered with
/// the kernel is the parent's too. Kept and never touched again.
void abandon(std::shared_ptr<ClientCore> core) {
  static std::vector<std::shared_ptr<ClientCore>>& abandoned =
      *std::make_unique<std::vector<std::shared_ptr<ClientCore>>>().release();
  abandoned.push_back(std::move(core));
}

}  // namespace

ClientCore::ClientCore(Key, runtime::Configuration configuration)
    : fork_generation_(support::fork_generation()), state_(std::move(configuration)) {}

ClientCore::~ClientCore() = default;

Result<std::shared_ptr<ClientCore>> ClientCore::create(ClientOptions options, uv_loop_t* loop,
                                                       uv::LoopThread::Lending lending) {
  auto configuration = runtime::configure(std::move(options));
  if (!configuration) return std::move(configuration).error();
  auto core = std::make_shared<ClientCore>(Key{}, *std::move(configuration));
  try {
    core->open(loop, lending);
  } catch (const std::system_error& problem) {
    core->tear_down();
    core->loop_.stop();
    return Error{
        Errc::limit_reached, std::string("the client cannot be opened: ") + problem.what(), {}};
  }
  return core;
}

void ClientCore::open(uv_loop_t* loop, uv::LoopThread::Lending lending) {
  loop = loop_.open(loop, uv::Callback::to<&ClientCore::tear_down>(*this), lending);
  mailbox_.open(loop, uv::Callback::to<&ClientCore::run_jobs>(*this));
  state_.driver.emplace(loop, state_.configuration, outcomes_);
  state_.driver->start();
  loop_.start();
}

bool ClientCore::forked() const noexcept { return fork_generation_ != support::fork_generation(); }

bool ClientCore::directly() const noexcept {
  return loop_.is_mine() && state_.driver && !state_.driver->stepping();
}

std::optional<Error> ClientCore::refuse_blocking_call() const {
  if (forked()) return runtime::explain(Errc::forked, {}, {});
  // Once closed, nothing is waited for; the system may have given the thread's id to another one.
  if (loop_.is_mine() && state_.driver) return runtime::explain(Errc::would_block, {}, {});
  return std::nullopt;
}

void ClientCore::enqueue(Job job, Lane lane) {
  // The job, or what it answers on another thread, may destroy the client.
  const auto self = shared_from_this();
  if (try_borrow_loop()) {
    job();
    end_turn();
    return give_back_loop();
  }
  if (mailbox_.put(job, lane)) return loop_.want();
  // Closed: there is no loop left that could answer later.
  job();
}

void ClientCore::run_jobs() noexcept {
  const auto self = shared_from_this();
  mailbox_.run();
}

RequestId ClientCore::acquire(Target&& target, AcquireOptions&& options,
                              std::chrono::nanoseconds wait, AcquireDone done) {
  if (is_refused(done)) return RequestId{};
  const RequestId request = next_request();
  on_loop<&Calls::acquire>(Lane::acquire, std::move(done), request, std::move(target),
                           std::move(options), wait);
  return request;
}

RequestId ClientCore::watch(std::string_view resource, WatchOptions options, InspectDone changed) {
  if (is_refused(changed)) return RequestId{};
  const RequestId request = next_request();
  on_loop<&Calls::watch>(Lane::last, std::move(changed), request, resource, options);
  return request;
}

void ClientCore::release(const std::shared_ptr<LeaseCell>& cell, RoundDone done) {
  if (is_refused(done)) return;
  // The clock is compared with the deadline here: a loss that the engine reports later is ignored.
  if (cell) static_cast<void>(cell->end());
  on_loop<&Calls::release>(Lane::release, std::move(done), cell);
}

void ClientCore::detach(const std::shared_ptr<LeaseCell>& cell) {
  if (!forked()) on_loop<&Calls::detach>(Lane::last, cell);
}

void ClientCore::watch_others(const std::shared_ptr<LeaseCell>& cell) {
  if (!forked()) on_loop<&Calls::watch_others>(Lane::last, cell);
}

void ClientCore::cancel(RequestId request) {
  if (!forked()) on_loop<&Calls::cancel>(Lane::last, request);
}

void ClientCore::dispatch(Job job) {
  if (directly()) return job();
  enqueue(std::move(job));
}

void ClientCore::post(Job job) {
  dispatch([this, job = std::move(job)]() mutable {
    if (!state_.driver) return job();
    state_.completions.post(std::move(job));
    state_.driver->request_turn_end();
  });
}

std::optional<LocalWaits::Id> ClientCore::wait_locally(core::Instant until, LocalWaits::Over over) {
  if (!state_.driver || state_.closing) return std::nullopt;
  state_.driver->request_turn_end();
  return local_waits_.add(until, std::move(over));
}

void ClientCore::begin_close(CloseDone done) {
  if (!state_.driver) {
    if (done) done(state_.close_report);
    return;
  }
  if (done) closers_.push_back(std::move(done));
  if (state_.closing) return;
  state_.driver->step(core::TimePassed{});  // reports leases that were lost before
  outcomes_.release_lost();
  state_.closing = true;
  state_.end_all_leases();
  local_waits_.end(core::Instant::max(), LocalWaits::End::closed, state_.completions);
  state_.driver->step(core::Shutdown{state_.configuration.settings.longest_limit});
}

void ClientCore::tear_down() noexcept {
  state_.driver.reset();
  outcomes_.finish_log(runtime::boot_now());
  state_.end_all_leases();
  local_waits_.end(core::Instant::max(), LocalWaits::End::closed, state_.completions);
  std::vector<Job> late = mailbox_.close();
  for (Job& job : late) job();  // the jobs find no driver, and answer that the client is closed
  outcomes_.fail_all();
  answer_the_rest();
}

void ClientCore::on_turn_end() noexcept {
  loop_.note_turn();
  const auto self = shared_from_this();
  if (state_.driver) outcomes_.release_lost();
  if (local_waits_.next()) {
    local_waits_.end(runtime::boot_now(), LocalWaits::End::time, state_.completions);
  }
  if (outcomes_.next_log()) outcomes_.log_due(runtime::boot_now());
  run_completions();
  if (!state_.driver) return answer_the_rest();
  let_callers_ask();
  // Calls made in the callbacks may already be answered. The loop gets its turn first, so that a
  // caller who tries again in every callback cannot starve it.
  if (!state_.completions.empty()) state_.driver->request_turn_end();
  state_.driver->wake_at(core::earlier(local_waits_.next(), outcomes_.next_log()));
  // A borrower leaves tearing down to the loop's thread, as it leaves the user's code.
  if (state_.drained && state_.completions.empty() && !loop_.is_borrowed()) tear_down();
}

void ClientCore::run_completions() {
  // Answered callers are woken before the user's code runs, so they do not wait for it. Every
  // completion of an asynchronous client runs the user's code.
  state_.completions.run(loop_.is_borrowed(), loop_.lends(), [this] { loop_.wake_answered(); });
  loop_.wake_answered();
}

void ClientCore::answer_the_rest() noexcept {
  // A callback has destroyed its client: the turn that called it goes on from there.
  if (state_.completions.running()) return;
  while (!state_.completions.empty()) run_completions();
  loop_.wake_answered();  // includes the callers of the last jobs
  std::vector<CloseDone> closers;
  closers.swap(closers_);
  for (CloseDone& done : closers) {
    done(state_.close_report);
    loop_.wake_answered();
  }
}

void ClientCore::close(CloseDone done) {
  if (forked()) {
    if (done) done({});
    return;
  }
  dispatch([this, done = std::move(done)]() mutable { begin_close(std::move(done)); });
}

void ClientCore::shut_down() noexcept {
  if (forked()) return abandon(shared_from_this());
  if (shut_down_.exchange(true)) return;
  if (!loop_.has_thread()) return tear_down();
  if (loop_.is_mine()) {
    // The client is destroyed by one of its own callbacks: its thread cannot wait for itself.
    shut_down_ = false;
    std::thread([core = shared_from_this()] { core->shut_down(); }).detach();
    return;
  }
  const auto closed = std::make_shared<std::binary_semaphore>(0);
  close([closed](const CloseReport&) { closed->release(); });
  closed->acquire();
  loop_.stop();
}

}  // namespace redlock::api
