#pragma once

#include <uv.h>

#include "support/assert.hpp"

namespace redlock::uv {

/// One thread waits for another, in the kernel at once. std::binary_semaphore yields the processor
/// several times before it sleeps: of many threads that wait for the network, each would wake the
/// others for nothing.
class Semaphore {
 public:
  Semaphore() noexcept { REDLOCK_ASSERT(uv_sem_init(&semaphore_, 0) == 0); }
  ~Semaphore() { uv_sem_destroy(&semaphore_); }
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  void release() noexcept { uv_sem_post(&semaphore_); }
  void acquire() noexcept { uv_sem_wait(&semaphore_); }

 private:
  uv_sem_t semaphore_;
};

}  // namespace redlock::uv
