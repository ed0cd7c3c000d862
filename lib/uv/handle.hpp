#pragma once

#include <uv.h>

#include <memory>
#include <system_error>

namespace redlock::uv {

/// Throws std::system_error for calls that can fail for outside reasons (no descriptor left). Calls
/// that fail only after a broken invariant are asserted instead.
inline void check(int status, const char* doing) {
  if (status < 0) throw std::system_error(-status, std::generic_category(), doing);
}

/// libuv refers to a handle's memory until the close callback has run, so the callback frees the
/// memory, and not the destructor of the handle's owner.
template <class H>
struct CloseHandle {
  void operator()(H* handle) const noexcept {
    uv_close(reinterpret_cast<uv_handle_t*>(handle), [](uv_handle_t* closed) noexcept {
      const std::unique_ptr<H> reclaimed(reinterpret_cast<H*>(closed));
    });
  }
};

/// Owns an *initialised* handle. After reset() or destruction none of its callbacks runs again; the
/// loop has to run once more before it can be closed.
template <class H>
using Handle = std::unique_ptr<H, CloseHandle<H>>;

/// `init` is given the raw memory and returns libuv's status; memory whose initialisation failed
/// must not be passed to uv_close, so ownership changes hands only afterwards.
template <class H, class Init>
[[nodiscard]] Handle<H> make_handle(void* owner, const char* doing, Init init) {
  auto memory = std::make_unique<H>();
  check(init(memory.get()), doing);
  memory->data = owner;
  return Handle<H>(memory.release());
}

}  // namespace redlock::uv
