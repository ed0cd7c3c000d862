#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/servers/local_nodes.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/json.hpp"
#include "common/session/settings.hpp"
#include "common/session/subject.hpp"
#include "common/system/output_reader.hpp"
#include "common/system/signals.hpp"
#include "redlock/client.hpp"
#include "redlock/metrics.hpp"

namespace redlock::cli {

/// Prints node events on standard error as --verbose and --log-level request. Called on the
/// client's loop thread.
class NodeWatch {
 public:
  explicit NodeWatch(const Settings& settings) noexcept
      : detail_(settings.detail), level_(settings.log_level) {}

  void on_log(const NodeEvent& event) const;

 private:
  const Settings::Detail detail_;
  const std::optional<NodeEvent::Level> level_;
};

/// "2 nodes are down: URL (why), …; 1 node has no vote: URL (why)"; empty: all nodes are well.
[[nodiscard]] std::string describe_missing(const Metrics& metrics);

/// The nodes of one command (started by it for --local) and a client to them.
class Session {
 public:
  /// Throws std::runtime_error when private nodes cannot be started.
  Session(const Settings& settings, const Signals& signals,
          LocalNodes::Reach reach = LocalNodes::Reach::unix_sockets);

  /// Makes the client. An error here is wrong usage; nothing has been sent.
  [[nodiscard]] Result<Client> connect();

  [[nodiscard]] const std::vector<std::string>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] bool is_local() const noexcept { return local_ != nullptr; }

  /// Makes private nodes forget everything. If a guard needs a deployment, the given ones become
  /// one. Throws std::runtime_error; given nodes are left alone.
  void reopen_local_nodes(const std::vector<std::string>& nodes) const;
  /// What redis-cli needs to reach private nodes.
  [[nodiscard]] std::vector<std::string> environment_of_local_nodes() const;
  /// Zero: the nodes are not private ones.
  [[nodiscard]] std::chrono::nanoseconds cpu_time_of_local_nodes() const;

  /// Removes what the session started; for the moment before the process ends abruptly.
  void end_local_nodes() noexcept;

 private:
  void open_deployment(const std::vector<std::string>& nodes) const;

  const Settings& settings_;
  std::unique_ptr<LocalNodes> local_;
  std::vector<std::string> nodes_;
};

/// For verbs whose calls are short and cannot be cancelled: a signal ends the process at once, with
/// the exit code that `code_at` gives for it.
class EndOnSignal {
 public:
  EndOnSignal(const Signals& signals, Session& session,
              std::function<int(int signal)> code_at = code_of_signal);

 private:
  SignalWatcher watcher_;
};

/// For verbs that print again and again: when nobody reads any more, the process ends at once.
class EndWithReader {
 public:
  explicit EndWithReader(Session& session);

 private:
  OutputReader reader_;
};

/// Reports a failed call: one line on standard error, and JSON if the error is about the lock.
/// Gives the exit code.
[[nodiscard]] int report_failure(const Settings& settings, const Subject& subject,
                                 const Error& error, RoundKind kind = RoundKind::lease);

/// Prints a result; when it cannot be written, says so and gives the exit code of a failure.
[[nodiscard]] int print_result(std::string_view text);

}  // namespace redlock::cli
