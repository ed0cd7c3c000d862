#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/fork_guard.hpp"

namespace redlock::support {

/// Owns jobs that any thread hands over, and that one thread runs in their order. Handing over
/// never waits for a job.
///
/// A child of fork() has no thread that runs the jobs, and its copy may be locked for ever: there
/// the queue runs each job at once, and is not destroyed.
class JobQueue {
 public:
  [[nodiscard]] static std::shared_ptr<JobQueue> make();

  JobQueue() noexcept : process_(fork_generation()) {}
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  /// If memory is short, the job runs now, on the calling thread.
  template <typename Call>
  void add(Call call) noexcept {
    static_assert(std::is_nothrow_invocable_v<Call&>);
    if (is_childs_copy()) return call();
    std::unique_ptr<Job> job;
    try {
      job = std::make_unique<JobOf<Call>>(call);
      push(job);
    } catch (...) {
      if (job == nullptr) return call();
      job->run();
    }
  }

  /// Runs the jobs that wait and those that come, until `stop`, on one thread at a time.
  void run() noexcept;
  /// Ends `run` after the jobs that wait already, now and later.
  void stop() noexcept;
  /// Drops the jobs that wait, and those that come. A job may own what keeps the queue alive.
  void close() noexcept;

 private:
  class Job {
   public:
    Job() = default;
    virtual ~Job() = default;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    virtual void run() noexcept = 0;
  };
  template <typename Call>
  class JobOf final : public Job {
   public:
    /// Taken by reference, so that the call survives a failed allocation.
    explicit JobOf(Call& call) noexcept : call_(std::move(call)) {}
    void run() noexcept override { call_(); }

   private:
    Call call_;
  };

  /// Takes the job, or throws and leaves it.
  void push(std::unique_ptr<Job>& job);
  [[nodiscard]] bool is_childs_copy() const noexcept { return fork_generation() != process_; }

  const std::uint64_t process_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::vector<std::unique_ptr<Job>> jobs_{};
  bool stopped_ = false;
  bool closed_ = false;
};

}  // namespace redlock::support
