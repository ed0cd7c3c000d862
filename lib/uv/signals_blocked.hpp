#pragma once

#include <csignal>

#include "support/assert.hpp"
#include "uv/handle.hpp"

namespace redlock::uv {

/// Blocks all signals while a thread is created. Signals are the application's; a new thread
/// inherits its creator's mask, so there is no moment in which it could receive one.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    check(-pthread_sigmask(SIG_SETMASK, &all, &before_), "blocking signals");
  }
  ~SignalsBlocked() { REDLOCK_ASSERT(pthread_sigmask(SIG_SETMASK, &before_, nullptr) == 0); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace redlock::uv
