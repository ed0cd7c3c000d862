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
    : configuration_(std::move(configuration)),
      keyspace_(configuration_.prefix),
      urls_{std::make_shared<const std::vector<std::string>>(configuration_.settings.nodes)},
      fork_generation_(support::fork_generation()) {}

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
    core->thread_.reset();
    return Error{
        Errc::limit_reached, std::string("the client cannot be opened: ") + problem.what(), {}};
  }
  return core;
}

void ClientCore::open(uv_loop_t* loop, uv::LoopThread::Lending lending) {
  if (loop == nullptr) {
    thread_.emplace(uv::Callback::to<&ClientCore::tear_down>(*this), lending);
    loop = thread_->loop();
  } else {
    caller_thread_ = std::this_thread::get_id();
  }
  mailbox_.open(loop, uv::Callback::to<&ClientCore::run_jobs>(*this));
  runtime::DriverListener& listener = *this;
  driver_.emplace(loop, configuration_, listener);
  driver_->start();
  if (thread_) thread_->start();
}

bool ClientCore::forked() const noexcept { return fork_generation_ != support::fork_generation(); }

bool ClientCore::on_loop_thread() const noexcept {
  return thread_ ? thread_->is_loop_thread()
                 : caller_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

bool ClientCore::directly() const noexcept {
  return on_loop_thread() && driver_ && !driver_->stepping();
}

std::optional<Error> ClientCore::refuse_blocking_call() const {
  if (forked()) return runtime::explain(Errc::forked, {}, {});
  // Once closed, nothing is waited for; the system may have given the thread's id to another one.
  if (on_loop_thread() && driver_) return runtime::explain(Errc::would_block, {}, {});
  return std::nullopt;
}

void ClientCore::enqueue(Job job, Lane lane) {
  if (try_borrow_loop()) {
    job();
    end_turn();
    return give_back_loop();
  }
  if (mailbox_.put(job, lane)) {
    if (thread_) thread_->want();
    return;
  }
  // Closed: there is no loop left that could answer later.
  job();
}

void ClientCore::run_jobs() noexcept {
  const auto self = shared_from_this();
  mailbox_.run();
}

void ClientCore::dispatch(Job job) {
  if (directly()) return job();
  enqueue(std::move(job));
}

void ClientCore::post(Job job) {
  dispatch([this, job = std::move(job)]() mutable {
    if (!driver_) return job();
    completions_.post(std::move(job));
    driver_->request_turn_end();
  });
}

std::optional<LocalWaits::Id> ClientCore::wait_locally(core::Instant until, LocalWaits::Over over) {
  if (!driver_ || closing_) return std::nullopt;
  driver_->request_turn_end();
  return local_waits_.add(until, std::move(over));
}

void ClientCore::end_local_waits(core::Instant by, LocalWaits::End end) {
  while (auto over = local_waits_.take(by)) {
    completions_.post([over = *std::move(over), end]() mutable { over(end); });
  }
}

void ClientCore::begin_close(CloseDone done) {
  if (!driver_) {
    if (done) done(close_report_);
    return;
  }
  if (done) closers_.push_back(std::move(done));
  if (closing_) return;
  driver_->step(core::TimePassed{});  // reports leases that were lost before
  release_lost();
  closing_ = true;
  end_all_leases();
  end_local_waits(core::Instant::max(), LocalWaits::End::closed);
  driver_->step(core::Shutdown{configuration_.settings.longest_limit});
}

void ClientCore::end_all_leases() noexcept {
  held_.end_all([this](core::ClaimId claim) {
    if (driver_) driver_->step(core::Detach{claim});
  });
}

void ClientCore::tear_down() noexcept {
  driver_.reset();
  for (NodeEvent& event : event_log_.finish(runtime::boot_now())) log(std::move(event));
  end_all_leases();
  end_local_waits(core::Instant::max(), LocalWaits::End::closed);
  std::vector<Job> late = mailbox_.close();
  for (Job& job : late) job();  // the jobs find no driver, and answer that the client is closed
  pending_.each([this](const PendingCalls::Call& call) {
    on_outcome({}, core::Failed{call.id(), Errc::closed});
  });
  answer_the_rest();
}

void ClientCore::answer_the_rest() noexcept {
  // A callback has destroyed its client: the turn that called it goes on from there.
  if (completions_.running()) return;
  while (!completions_.empty()) run_completions();
  wake_answered_callers();  // includes the callers of the last jobs
  std::vector<CloseDone> closers;
  closers.swap(closers_);
  for (CloseDone& done : closers) {
    done(close_report_);
    wake_answered_callers();
  }
}

void ClientCore::close(CloseDone done) {
  if (forked()) {
    if (done) done({});
    return;
  }
  on_loop<&ClientCore::begin_close>(Lane::last, std::move(done));
}

void ClientCore::shut_down() noexcept {
  if (forked()) return abandon(shared_from_this());
  if (shut_down_.exchange(true)) return;
  if (!thread_) return tear_down();
  if (thread_->is_loop_thread()) {
    // The client is destroyed by one of its own callbacks: its thread cannot wait for itself.
    shut_down_ = false;
    std::thread([core = shared_from_this()] { core->shut_down(); }).detach();
    return;
  }
  const auto closed = std::make_shared<std::binary_semaphore>(0);
  close([closed](const CloseReport&) { closed->release(); });
  closed->acquire();
  thread_->stop();
}

}  // namespace redlock::api
