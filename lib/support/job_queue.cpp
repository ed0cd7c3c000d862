#include "support/job_queue.hpp"

namespace redlock::support {

std::shared_ptr<JobQueue> JobQueue::make() {
  auto queue = std::make_unique<JobQueue>();
  return {queue.release(), [](JobQueue* left) noexcept {
            if (!left->is_childs_copy()) const std::unique_ptr<JobQueue> owned(left);
          }};
}

void JobQueue::push(std::unique_ptr<Job>& job) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  jobs_.push_back(std::move(job));
  changed_.notify_one();
}

void JobQueue::run() noexcept {
  if (is_childs_copy()) return;
  std::vector<std::unique_ptr<Job>> taken;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    taken.swap(jobs_);
    lock.unlock();
    for (std::unique_ptr<Job>& job : taken) {
      job->run();
      job.reset();
    }
    taken.clear();
    lock.lock();
  }
}

void JobQueue::stop() noexcept {
  if (is_childs_copy()) return;
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void JobQueue::close() noexcept {
  if (is_childs_copy()) return;
  // Destroyed outside the lock, with everything that the jobs own.
  std::vector<std::unique_ptr<Job>> dropped;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(jobs_);
}

}  // namespace redlock::support
