#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "common/servers/http_message.hpp"
#include "common/servers/http_server.hpp"
#include "common/session/settings.hpp"
#include "common/text/arguments.hpp"
#include "redlock/client.hpp"

namespace redlock::cli {

/// Destinations of a client's metrics: --metrics-file and --metrics-listen.
struct MetricsTargets {
  std::optional<std::string> file{};
  std::optional<ListenAddress> listen{};
  bool required = false;  ///< an address that cannot be listened on is an error
};

/// Throws UsageError if a value is wrong or the file cannot be written.
[[nodiscard]] MetricsTargets metrics_targets_of(const Arguments& given);

/// Writes the client's metrics to the file every few seconds and when it is destroyed, each time as
/// a whole, and answers GET /metrics. Does nothing without a target.
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

  /// The text that a scrape gets now. Any thread can call this.
  [[nodiscard]] HttpPage page() const;

 private:
  void listen(const ListenAddress& address, const Settings& settings);
  void write_file();
  void keep_file(const std::stop_token& stop);

  MetricsTargets targets_;
  std::string resource_;
  const Client& client_;
  bool file_failed_ = false;  ///< the file could not be written, and that was reported
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::optional<HttpServer> server_;
  std::jthread file_writer_;  // last: it uses the others
};

}  // namespace redlock::cli
