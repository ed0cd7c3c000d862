#include "uv/loop.hpp"

#include "support/assert.hpp"
#include "uv/handle.hpp"

namespace redlock::uv {

Loop::Loop() { check(uv_loop_init(&loop_), "creating an event loop"); }

Loop::~Loop() {
  run();
  // EBUSY here means that an owner outlives the loop its handles live on.
  REDLOCK_ASSERT(uv_loop_close(&loop_) == 0);
}

void Loop::run() noexcept {
  // uv_run() also returns early after somebody's uv_stop().
  while (uv_run(&loop_, UV_RUN_DEFAULT) != 0) {
  }
}

}  // namespace redlock::uv
