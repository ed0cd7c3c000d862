#pragma once

#include <uv.h>

#include "uv/callback.hpp"
#include "uv/handle.hpp"

namespace redlock::uv {

/// Calls back once before the loop polls again, if that was requested. Everything that one turn of
/// the loop produced is sent here, in one write per connection.
///
/// A request keeps the loop alive until it is served; an idle hook does not. Loop thread only.
/// May be destroyed by its callback.
class TurnHook {
 public:
  TurnHook(uv_loop_t* loop, Callback on_turn_end);
  ~TurnHook() = default;
  TurnHook(const TurnHook&) = delete;
  TurnHook& operator=(const TurnHook&) = delete;

  /// Makes no system call. The callback itself can call it, too: the next turn then follows without
  /// waiting for I/O.
  void request() noexcept;

  /// Calls back now if that was requested, outside every callback of the loop: for a caller that
  /// turns the loop step by step.
  void serve() noexcept;

 private:
  static void on_prepare(uv_prepare_t* prepare) noexcept;

  Callback on_turn_end_;
  bool requested_ = false;
  Handle<uv_prepare_t> prepare_;
  Handle<uv_idle_t> idle_;
};

}  // namespace redlock::uv
