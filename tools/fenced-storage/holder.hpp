#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "common/session/exit_code.hpp"
#include "common/system/descriptor.hpp"
#include "fenced-storage/command_line.hpp"
#include "fenced-storage/storage_url.hpp"
#include "redlock/options.hpp"

namespace redlock::fenced {

/// The parameters of both clients of the demonstration.
struct Scene {
  ClientOptions lock{};
  StorageUrl storage{};
  DemoRequest::Fencing fencing = DemoRequest::Fencing::checked;
  std::string name{};  ///< of the resource, and of the key that it protects
  std::chrono::seconds holder_ttl{2};
  /// How long each client waits for the lock; longer than the TTL of the holder before it.
  std::chrono::seconds wait{30};
  std::string stale_value = "stale, from A";
  std::string newer_value = "newer, from B";
};

/// The demonstration could not be shown. One line.
class DemoFailure : public std::runtime_error {
 public:
  DemoFailure(cli::ExitCode exit_code, const std::string& line)
      : std::runtime_error(line), exit_code_(exit_code) {}
  [[nodiscard]] cli::ExitCode exit_code() const noexcept { return exit_code_; }

 private:
  cli::ExitCode exit_code_;
};

/// A process that acquires the lock, checks its lease, is paused, and then writes. It is gone when
/// this object is; the kernel ends it if this process is killed.
class Holder {
 public:
  struct Holding {
    std::uint64_t token = 0;
    std::chrono::nanoseconds remaining{0};
  };

  /// Forks: to be called from the main thread, before there is any other.
  explicit Holder(const Scene& scene);
  ~Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Waits until it has the lock and found its lease valid. Throws DemoFailure, as do the others.
  [[nodiscard]] Holding wait_until_holding();

  /// SIGSTOP; returns when the process has stopped.
  void pause() const;

  /// SIGCONT. The answer is what became of its write: "written", or why it was refused.
  [[nodiscard]] std::string let_it_write();

 private:
  [[nodiscard]] std::string next_report();

  pid_t pid_ = -1;
  cli::Descriptor reports_;
  cli::Descriptor permission_;
};

}  // namespace redlock::fenced
