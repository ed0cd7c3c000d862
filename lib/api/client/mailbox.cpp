#include "api/client/mailbox.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace redlock::api {

void Mailbox::open(uv_loop_t* loop, uv::Callback on_job) { wakeup_.emplace(loop, on_job); }

bool Mailbox::put(Job& job, Lane lane) {
  const std::lock_guard lock(mutex_);
  if (!wakeup_) return false;
  if (lane == Lane::last) append_acquires();
  (lane == Lane::acquire ? acquires_ : jobs_).push_back(std::move(job));
  wakeup_->notify();
  return true;
}

std::size_t Mailbox::size() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size() + acquires_.size();
}

void Mailbox::run() noexcept {
  {
    const std::lock_guard lock(mutex_);
    append_acquires();
    running_.swap(jobs_);
  }
  for (Job& job : running_) job();
  running_.clear();
}

std::vector<Job> Mailbox::close() {
  const std::lock_guard lock(mutex_);
  wakeup_.reset();
  append_acquires();
  return std::exchange(jobs_, {});
}

void Mailbox::append_acquires() {
  std::move(acquires_.begin(), acquires_.end(), std::back_inserter(jobs_));
  acquires_.clear();
}

}  // namespace redlock::api
