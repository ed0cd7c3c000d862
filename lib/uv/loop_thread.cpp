#include "uv/loop_thread.hpp"

#include <poll.h>

#include <chrono>
#include <utility>

#include "support/assert.hpp"
#include "support/platform.hpp"
#include "uv/signals_blocked.hpp"

namespace redlock::uv {
namespace {

/// How long the thread leaves the loop to borrowers.
constexpr auto lending_pause = std::chrono::milliseconds(1);

}  // namespace

LoopThread::LoopThread(Callback on_stop, Lending lending) : on_stop_(on_stop), lending_(lending) {
  wakeup_.emplace(loop_.get(), Callback::to<&LoopThread::on_woken>(*this));
}

LoopThread::~LoopThread() { stop(); }

void LoopThread::start() {
  const SignalsBlocked blocked;
  thread_ = std::thread([this]() noexcept {
    support::name_this_thread("redlock");
    if (lends()) {
      run_and_lend();
    } else {
      run();
    }
  });
}

void LoopThread::run() noexcept {
  turned_by_.store(std::this_thread::get_id(), std::memory_order_release);
  loop_.run();
}

void LoopThread::run_and_lend() noexcept {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    // A caller that borrowed a moment ago is likely to borrow again.
    while (turning_ || (!wanted_ && waiting_ == 0 && loans_ != seen)) {
      sleeping_ = turning_ && loans_ == seen;
      seen = loans_;
      if (sleeping_) {
        // Sleeps without a limit: a loan can last for minutes, and the machine may have a thousand
        // such clients.
        changed_.wait(lock, [this] { return !turning_; });
        sleeping_ = false;
      } else {
        changed_.wait_for(lock, lending_pause);
      }
    }
    const bool wanted = std::exchange(wanted_, false);
    const int timeout = uv_backend_timeout(loop_.get());
    if (!wanted && waiting_ == 0 && timeout != 0) {
      // Waiting outside the loop leaves it free for borrowers. An event during a loan wakes this
      // thread at most once; then it leaves the loop to the borrower.
      watching_ = true;
      lock.unlock();
      pollfd watched{uv_backend_fd(loop_.get()), POLLIN, 0};
      static_cast<void>(::poll(&watched, 1, timeout));
      lock.lock();
      watching_ = false;
      if (turning_ || loans_ != seen) continue;
    }
    const uv_run_mode mode = waiting_ == 0 ? UV_RUN_NOWAIT : UV_RUN_ONCE;
    turning_ = true;
    turned_by_.store(std::this_thread::get_id(), std::memory_order_release);
    lock.unlock();
    on_woken();  // a borrower may have been woken in our place
    const bool alive = uv_run(loop_.get(), mode) != 0;
    lock.lock();
    turning_ = false;
    turned_by_.store({}, std::memory_order_release);
    if (!alive) return;
  }
}

bool LoopThread::try_borrow() noexcept {
  if (!lends()) return false;
  // The loop is mostly in use, which needs no mutex_ to see: the loop's thread needs the mutex
  // itself.
  if (waiting_ != 0 || turned_by_.load(std::memory_order_relaxed) != std::thread::id()) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  if (turning_ || waiting_ != 0 || stopping_) return false;
  turning_ = true;
  ++loans_;
  borrowed_ = true;
  turned_by_.store(std::this_thread::get_id(), std::memory_order_release);
  return true;
}

void LoopThread::give_back(bool at_once) noexcept {
  // Anything that the last turn began (a handle to watch, a timer, a handle to close) needs another
  // turn.
  const bool due = uv_backend_timeout(loop_.get()) >= 0;
  std::unique_lock lock(mutex_);
  borrowed_ = false;
  turning_ = false;
  turned_by_.store({}, std::memory_order_release);
  if (at_once || due || stopping_ || waiting_ != 0) wanted_ = true;
  if (wanted_ || sleeping_) wake(std::move(lock));
}

void LoopThread::want() noexcept {
  if (waiting_ != 0) return;  // the thread has the loop, or is about to take it
  std::unique_lock lock(mutex_);
  wanted_ = true;
  if (!turning_) wake(std::move(lock));
}

void LoopThread::begin_waiting() noexcept {
  if (waiting_++ != 0) return;
  std::unique_lock lock(mutex_);
  wanted_ = true;
  if (!turning_) wake(std::move(lock));
}

void LoopThread::leave_to_borrowers() noexcept {
  if (waiting_ != 0) return;
  const std::lock_guard lock(mutex_);
  // The thread may sleep inside the loop by now, and nobody could borrow the loop until it wakes.
  if (waiting_ == 0 && turning_ && !borrowed_ && wakeup_) wakeup_->notify();
}

void LoopThread::wake(std::unique_lock<std::mutex> lock) noexcept {
  const bool watching = watching_;
  if (watching && wakeup_) wakeup_->notify();
  lock.unlock();
  if (!watching) changed_.notify_one();
}

void LoopThread::stop() noexcept {
  stopping_ = true;
  if (thread_.joinable()) {
    REDLOCK_ASSERT(!is_loop_thread());
    {
      const std::lock_guard lock(mutex_);
      wanted_ = true;
      if (wakeup_) wakeup_->notify();
    }
    changed_.notify_one();
    thread_.join();
  } else if (wakeup_) {
    on_woken();
    loop_.run();
  }
}

void LoopThread::on_woken() noexcept {
  // A borrower gives the loop back first: everything that ends with the loop ends on the loop's own
  // thread.
  if (!stopping_ || borrowed_ || !wakeup_) return;
  on_stop_();
  const std::lock_guard lock(mutex_);
  wakeup_.reset();
}

}  // namespace redlock::uv
