#include "api/client/client_loop.hpp"

#include <utility>

namespace redlock::api {

uv_loop_t* ClientLoop::open(uv_loop_t* loop, uv::Callback on_stop,
                            uv::LoopThread::Lending lending) {
  if (loop == nullptr) return thread_.emplace(on_stop, lending).loop();
  note_turn();
  return loop;
}

void ClientLoop::start() {
  if (thread_) thread_->start();
}

void ClientLoop::stop() noexcept {
  if (thread_) thread_->stop();
}

bool ClientLoop::is_mine() const noexcept {
  return thread_ ? thread_->is_loop_thread()
                 : caller_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void ClientLoop::note_turn() noexcept {
  if (!thread_) caller_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

void ClientLoop::end_waiting(uv::BlockedThreads::Wait& wait) noexcept {
  if (thread_) thread_->end_waiting();
  callers_.end(wait);
}

std::size_t ClientLoop::take_answered() noexcept { return std::exchange(answered_, 0); }

}  // namespace redlock::api
