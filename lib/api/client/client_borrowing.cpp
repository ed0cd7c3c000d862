#include <thread>
#include <utility>

#include "api/client/client_core.hpp"

namespace redlock::api {
namespace {

// After a loan, the loop's thread is left asleep for this long. If a deadline is nearer, it is
// woken.
constexpr auto near = std::chrono::milliseconds(3);

}  // namespace

bool ClientCore::try_borrow_loop() noexcept {
  if (!loop_.try_borrow()) return false;
  // A backlog is written by libuv, and a write to a dead peer would raise SIGPIPE on this thread,
  // which does not block it.
  if (!state_.driver || state_.driver->backlogged()) {
    loop_.give_back(true);
    return false;
  }
  run_jobs();  // runs the earlier calls of this thread first
  return true;
}

void ClientCore::end_turn() noexcept {
  if (state_.driver) state_.driver->end_turn();
}

bool ClientCore::may_keep_loop() const noexcept {
  return state_.driver && !state_.drained && !state_.completions.want_the_thread() &&
         !loop_.is_wanted_back() && !state_.driver->backlogged();
}

void ClientCore::turn() noexcept {
  loop_.turn();
  end_turn();
}

void ClientCore::give_back_loop() noexcept {
  const bool work_left = state_.drained || state_.completions.want_the_thread();
  if (work_left && state_.driver) state_.driver->request_turn_end();
  loop_.give_back(work_left || state_.is_due_within(near));
}

void ClientCore::let_callers_ask() {
  const std::size_t answered = loop_.take_answered();
  if (answered == 0 || loop_.is_borrowed()) return;
  if (answered > 1) yield_to_callers(answered);
  loop_.leave_to_borrowers();
}

void ClientCore::yield_to_callers(std::size_t answered) {
  // Yields only as long as that helps: callers on other processors run by themselves.
  std::size_t before = mailbox_.size();
  for (std::size_t i = 0; i < answered; ++i) {
    std::this_thread::yield();
    const std::size_t now = mailbox_.size();
    if (now == before) break;
    before = now;
  }
  run_jobs();
}

}  // namespace redlock::api
