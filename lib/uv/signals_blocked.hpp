#pragma once

#include <csignal>

#include "support/assert.hpp"
#include "uv/handle.hpp"

namespace redlock::uv {

/// Around the creation of a thread. Signals are the application's; a new thread inherits the mask
/// of its creator, so that there is no moment in which it could be chosen to receive one.
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
