#include "uv/loop_thread.hpp"

#include <pthread.h>

#include <csignal>

#include "support/assert.hpp"
#include "uv/handle.hpp"

namespace redlock::uv {
namespace {

/// A new thread inherits the mask of its creator: blocking around the creation leaves no moment in
/// which the new thread could be chosen to receive a signal.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    check(-pthread_sigmask(SIG_SETMASK, &all, &before_), "blocking signals");
  }
  ~AllSignalsBlocked() { REDLOCK_ASSERT(pthread_sigmask(SIG_SETMASK, &before_, nullptr) == 0); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

LoopThread::LoopThread(Callback on_stop) : on_stop_(on_stop) {
  stop_.emplace(loop_.get(), Callback::to<&LoopThread::on_stop_requested>(*this));
}

LoopThread::~LoopThread() { stop(); }

void LoopThread::start() {
  const AllSignalsBlocked blocked;
  thread_ = std::thread([this]() noexcept {
    running_on_.store(std::this_thread::get_id());
    // Only a help for whoever looks at the threads of the process: a failure does no harm.
    static_cast<void>(pthread_setname_np(pthread_self(), "redlock"));
    loop_.run();
  });
}

void LoopThread::stop() noexcept {
  if (thread_.joinable()) {
    REDLOCK_ASSERT(!is_loop_thread());
    stop_->notify();
    thread_.join();
  } else if (stop_) {
    on_stop_requested();
    loop_.run();
  }
}

void LoopThread::on_stop_requested() noexcept {
  on_stop_();
  stop_.reset();
}

}  // namespace redlock::uv
