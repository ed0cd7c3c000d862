#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "quorum-lock/arguments.hpp"
#include "quorum-lock/descriptor.hpp"
#include "quorum-lock/metrics_http.hpp"
#include "quorum-lock/platform.hpp"
#include "quorum-lock/settings.hpp"
#include "redlock/client.hpp"
#include "redlock/clock.hpp"

namespace redlock::cli {

/// Where the metrics of a client go: --metrics-file and --metrics-listen.
struct MetricsTargets {
  std::optional<std::string> file{};
  std::optional<ListenAddress> listen{};
  bool required = false;  ///< what cannot be listened on is an error
};

/// Throws UsageError where a value is wrong, or the file cannot be written.
[[nodiscard]] MetricsTargets metrics_targets_of(const Arguments& given);

/// Writes the client's metrics to the file every few seconds and when it is destroyed, each time as
/// a whole, and answers GET /metrics, on a thread of its own. Does nothing without a target.
class MetricsExport {
 public:
  /// `resource` becomes a label. The client must outlive it. An address that cannot be listened on
  /// is a warning, because a job is worth more than its metrics; throws UsageError if it is
  /// required.
  MetricsExport(MetricsTargets targets, std::string_view resource, const Client& client,
                const Settings& settings);
  ~MetricsExport();
  MetricsExport(const MetricsExport&) = delete;
  MetricsExport& operator=(const MetricsExport&) = delete;

 private:
  void run() noexcept;
  void serve_one();
  void write_file();
  [[nodiscard]] std::string page() const;

  MetricsTargets targets_;
  std::string resource_;
  const Client& client_;
  const Settings& settings_;
  Descriptor listener_;
  BootClock::time_point listen_at_{};  ///< not before
  platform::Wakeup finish_;
  bool file_failed_ = false;  ///< and was reported
  std::thread thread_;
};

}  // namespace redlock::cli
