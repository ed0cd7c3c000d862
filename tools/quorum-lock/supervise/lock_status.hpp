#pragma once

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "common/servers/http_message.hpp"
#include "common/servers/http_server.hpp"
#include "common/session/settings.hpp"
#include "common/session/subject.hpp"
#include "common/text/arguments.hpp"
#include "quorum-lock/supervise/metrics_export.hpp"
#include "redlock/client.hpp"
#include "redlock/inspection.hpp"
#include "redlock/lease.hpp"
#include "redlock/target.hpp"
#include "redlock/token.hpp"

namespace redlock::cli {

/// The address on which --status-listen answers, and its words for this process.
struct StatusTarget {
  std::optional<ListenAddress> listen{};
  std::string_view holding = "holder";  ///< the role while the lock is held
  std::string_view waiting = "waiter";  ///< the role before
  std::string name{};                   ///< the name of this process; empty: the nodes know it
};

/// Throws UsageError.
[[nodiscard]] StatusTarget status_target_of(const Arguments& given);

/// Answers over HTTP whether this process holds a lock: 200 if it does, 503 if not, and the metrics
/// at /metrics. Does nothing without an address. All members may be called from any thread.
class LockStatus {
 public:
  /// Listens. `client` and `metrics` must outlive it. Throws UsageError if it cannot listen.
  LockStatus(StatusTarget target, Subject subject, const Target& lock, Client& client,
             const MetricsExport& metrics, const Settings& settings);
  LockStatus(const LockStatus&) = delete;
  LockStatus& operator=(const LockStatus&) = delete;

  /// While this object lives, the answer is 200 as long as the lease is valid. The lease must not
  /// move.
  class Hold {
   public:
    Hold(LockStatus& status, const Lease& lease) : status_(status) { status_.hold(lease); }
    ~Hold() { status_.end(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    LockStatus& status_;
  };
  /// From now on the answer is 503: the lease is being lost, or is about to be released.
  void end() noexcept;

  [[nodiscard]] HttpPage page() const;

 private:
  enum class Phase { waiting, holding, ended };

  void hold(const Lease& lease);
  void note(const Inspection& seen);
  [[nodiscard]] std::string own_name() const;

  const StatusTarget target_;
  const Subject subject_;
  mutable std::mutex mutex_;
  Phase phase_ = Phase::waiting;
  const Lease* lease_ = nullptr;      ///< the lease while the lock is held
  std::optional<Token> seen_token_;   ///< the holder's token, as last seen
  std::string seen_name_;             ///< the name of that holder
  std::optional<HttpServer> server_;  // this member and the next use those before
  std::jthread watcher_;
};

}  // namespace redlock::cli
