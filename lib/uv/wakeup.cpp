#include "uv/wakeup.hpp"

#include "support/assert.hpp"

namespace redlock::uv {
namespace {

void on_async(uv_async_t* async) noexcept {
  // A copy, because the callback may destroy the Wakeup that holds it.
  const Callback on_wake = *static_cast<const Callback*>(async->data);
  on_wake();
}

}  // namespace

Wakeup::Wakeup(uv_loop_t* loop, Callback on_wake)
    : on_wake_(on_wake),
      async_(make_handle<uv_async_t>(&on_wake_, "creating a wake-up", [loop](uv_async_t* async) {
        return uv_async_init(loop, async, on_async);
      })) {}

void Wakeup::notify() noexcept { REDLOCK_ASSERT(uv_async_send(async_.get()) == 0); }

}  // namespace redlock::uv
