#include "common/session/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "common/session/output.hpp"
#include "common/text/log.hpp"
#include "common/text/usage_error.hpp"
#include "redlock/deployment.hpp"

namespace redlock::cli {
namespace {

constexpr auto opening_limit = std::chrono::seconds{10};

/// Whether the client works with the node as before, and nothing else reports the event.
bool is_said_by_default(NodeEvent::Kind kind) {
  return kind == NodeEvent::Kind::undelivered || kind == NodeEvent::Kind::learned ||
         kind == NodeEvent::Kind::paused || kind == NodeEvent::Kind::warning ||
         kind == NodeEvent::Kind::counters_reset;
}

LogLine::Level line_level(NodeEvent::Level level) {
  switch (level) {
    case NodeEvent::Level::debug:
      return LogLine::Level::debug;
    case NodeEvent::Level::info:
      return LogLine::Level::info;
    case NodeEvent::Level::warning:
      return LogLine::Level::warning;
  }
  return LogLine::Level::warning;
}

}  // namespace

void NodeWatch::on_log(const NodeEvent& event) const {
  if (level_) {
    if (event.level < *level_) return;
    return write_log({line_level(event.level),
                      event.message,
                      event.url,
                      to_string(event.kind),
                      {},
                      event.times});
  }
  if (is_said_by_default(event.kind) && detail_ != Settings::Detail::quiet) {
    write_log({LogLine::Level::warning, event.message, event.url, {}});
  }
}

std::string describe_missing(const Metrics& metrics) {
  std::string text;
  const auto add = [&](bool down, std::string_view one, std::string_view several) {
    std::string urls;
    std::size_t count = 0;
    for (const NodeMetrics& node : metrics.nodes) {
      if (node.up == down || node.problem.empty()) continue;
      urls += fmt::format("{}{} ({})", count++ == 0 ? "" : ", ", node.node, node.problem);
    }
    if (count == 0) return;
    text += fmt::format("{}{} {}: {}", text.empty() ? "" : "; ", count, count == 1 ? one : several,
                        urls);
  };
  add(true, "node is down", "nodes are down");
  add(false, "node has no vote", "nodes have no vote");
  return text;
}

Session::Session(const Settings& settings, const Signals& signals, LocalNodes::Reach reach)
    : settings_(settings) {
  if (settings.local) {
    check_ports(settings.ports, *settings.local);
    local_ = std::make_unique<LocalNodes>(*settings.local, signals, reach,
                                          LoopbackPorts(settings.ports));
    nodes_ = local_->urls();
    open_deployment(nodes_);
  } else if (settings.service) {
    local_ = std::make_unique<LocalNodes>(*settings.service, signals);
    nodes_ = local_->urls();
    open_deployment(nodes_);
    for (const std::string& line : local_->description(settings.client.max_ttl)) {
      print_note(settings, line);
    }
  } else {
    if (settings.ports) throw UsageError("--ports: only with --local, whose servers use them");
    nodes_ = settings.nodes;
  }
}

void Session::open_deployment(const std::vector<std::string>& nodes) const {
  // Started a moment ago, they can have forgotten nothing.
  if (!settings_.client.guards.restart) return;
  const ClientOptions options = client_options(settings_, nodes);
  const auto deadline = std::chrono::steady_clock::now() + opening_limit;
  for (;;) {
    const auto opened = admin::bootstrap(options);
    if (opened) return;
    // On a busy machine, a server that was ready can miss a time limit.
    const bool is_late = std::chrono::steady_clock::now() > deadline;
    if (opened.error().code != Errc::unavailable || is_late) {
      throw std::runtime_error(opened.error().message);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

Result<Client> Session::connect() {
  ClientOptions options = client_options(settings_, nodes_);
  options.on_log = [watch = NodeWatch(settings_)](const NodeEvent& event) { watch.on_log(event); };
  return Client::create(std::move(options));
}

void Session::reopen_local_nodes(const std::vector<std::string>& nodes) const {
  if (!local_) return;
  local_->clear();
  open_deployment(nodes);
}

std::vector<std::string> Session::environment_of_local_nodes() const {
  return local_ ? local_->environment() : std::vector<std::string>{};
}

std::chrono::nanoseconds Session::cpu_time_of_local_nodes() const {
  return local_ ? local_->cpu_time() : std::chrono::nanoseconds{0};
}

void Session::end_local_nodes() noexcept {
  if (local_) local_->end();
}

EndOnSignal::EndOnSignal(const Signals& signals, Session& session,
                         std::function<int(int signal)> code_at)
    : watcher_(signals, [&session, code_at = std::move(code_at)](int signal) {
        session.end_local_nodes();
        ::_exit(code_at(signal));
      }) {}

EndWithReader::EndWithReader(Session& session)
    : reader_([&session] {
        session.end_local_nodes();
        ::_exit(code_of_signal(SIGPIPE));
      }) {}

namespace {

void log_vote(const NodeVote& node) {
  const std::string_view vote = to_string(node.vote);
  if (log_form() == LogForm::json) {
    return write_log({LogLine::Level::info, node.message, node.url, {}, vote});
  }
  print_error(
      fmt::format("  {}  {}{}{}", node.url, vote, node.message.empty() ? "" : "  ", node.message));
}

}  // namespace

int report_failure(const Settings& settings, const Subject& subject, const Error& error,
                   RoundKind kind) {
  const auto outcome = outcome_of(error.code);
  bool printed = true;
  if (outcome && settings.format == Settings::Format::json) {
    printed = print(round_json(*outcome, subject, std::nullopt, error.round, kind));
  }
  print_error(error.message);
  if (!printed) print_error(fmt::format("standard output: {}", std::strerror(errno)));
  if (settings.detail == Settings::Detail::verbose) {
    for (const NodeVote& node : error.round.nodes) log_vote(node);
  }
  return code(exit_code_of(error.code));
}

int print_result(std::string_view text) {
  if (print(text)) return code(ExitCode::done);
  print_error(fmt::format("standard output: {}", std::strerror(errno)));
  return code(ExitCode::failure);
}

}  // namespace redlock::cli
