#include "uv/turn_hook.hpp"

#include "support/assert.hpp"

namespace redlock::uv {
namespace {

void on_idle(uv_idle_t*) noexcept {}

}  // namespace

TurnHook::TurnHook(uv_loop_t* loop, Callback on_turn_end)
    : on_turn_end_(on_turn_end),
      prepare_(make_handle<uv_prepare_t>(
          this, "creating a turn hook",
          [loop](uv_prepare_t* handle) { return uv_prepare_init(loop, handle); })),
      idle_(make_handle<uv_idle_t>(this, "creating a turn hook", [loop](uv_idle_t* handle) {
        return uv_idle_init(loop, handle);
      })) {
  REDLOCK_ASSERT(uv_prepare_start(prepare_.get(), on_prepare) == 0);
  uv_unref(reinterpret_cast<uv_handle_t*>(prepare_.get()));
}

void TurnHook::request() noexcept {
  if (requested_) return;
  requested_ = true;
  // libuv runs prepare handles once a turn. A request that comes after ours ran (from the callback
  // or from somebody else's prepare handle) would wait for I/O; an active idle handle forbids the
  // poll to block.
  REDLOCK_ASSERT(uv_idle_start(idle_.get(), on_idle) == 0);
}

void TurnHook::serve() noexcept {
  if (!requested_) return;
  requested_ = false;
  REDLOCK_ASSERT(uv_idle_stop(idle_.get()) == 0);
  const Callback on_turn_end = on_turn_end_;
  on_turn_end();
}

void TurnHook::on_prepare(uv_prepare_t* prepare) noexcept {
  static_cast<TurnHook*>(prepare->data)->serve();
}

}  // namespace redlock::uv
