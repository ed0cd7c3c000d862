#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "api/client/answer.hpp"
#include "uv/callback.hpp"
#include "uv/wakeup.hpp"

namespace redlock::api {

/// Jobs that other threads leave for the loop's thread.
class Mailbox {
 public:
  /// A job's place among the others. Releases go before acquires: successive releases are one
  /// request (see redis::SharedCall), and no release should wait for an acquire.
  enum class Lane : std::uint8_t { last, acquire, release };

  /// On the loop's thread: from now on, `on_job` is called there after `put`. Throws
  /// std::system_error when the process has no file descriptor left.
  void open(uv_loop_t* loop, uv::Callback on_job);

  /// Any thread. Returns false, and leaves the job to the caller, if the mailbox is closed: there
  /// is no loop left that could run the job later.
  [[nodiscard]] bool put(Job& job, Lane lane);
  /// Any thread: the number of jobs that nobody has taken.
  [[nodiscard]] std::size_t size() const;

  /// On the loop's thread: runs the jobs that are there now.
  void run() noexcept;
  /// On the loop's thread: closes the mailbox, and returns the jobs that are left.
  [[nodiscard]] std::vector<Job> close();

 private:
  void append_acquires();

  mutable std::mutex mutex_;  // guards what follows
  std::vector<Job> jobs_;
  std::vector<Job> acquires_;         // they run after jobs_
  std::optional<uv::Wakeup> wakeup_;  // none: closed

  std::vector<Job> running_;  // belongs to the loop's thread
};

}  // namespace redlock::api
