#include "support/loop_thread.hpp"

#include <unistd.h>

#include <utility>

namespace redlock::test {

LoopThread::LoopThread(std::function<void()> turn) : turn_(std::move(turn)), owner_(::getpid()) {}

LoopThread::~LoopThread() {
  if (!thread_.joinable()) return;
  if (::getpid() != owner_) {
    // In a forked copy of the process the thread does not exist and could not be joined.
    thread_.detach();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify();
  thread_.join();
}

void LoopThread::start() {
  thread_ = std::thread([this] { run(); });
}

void LoopThread::call(const std::function<void()>& task) {
  std::unique_lock lock(mutex_);
  tasks_.push_back(&task);
  const std::size_t mine = ++accepted_;
  wake_.notify();
  done_.wait(lock, [&] { return completed_ >= mine; });
}

void LoopThread::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    // Drained before the tasks are run: a task that comes later leaves its own wake-up.
    wake_.drain();
    while (!tasks_.empty()) {
      const auto* task = tasks_.front();
      tasks_.pop_front();
      (*task)();
      ++completed_;
      done_.notify_all();
    }
    lock.unlock();
    turn_();
    lock.lock();
  }
}

}  // namespace redlock::test
