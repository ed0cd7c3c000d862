#include "common/session/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "common/session/output.hpp"
#include "common/text/log.hpp"
#include "common/text/usage_error.hpp"
#include "redlock/deployment.hpp"

namespace redlock::cli {
namespace {

std::string_view name_of(NodeEvent::Kind kind) {
  switch (kind) {
    case NodeEvent::Kind::up:
      return "up";
    case NodeEvent::Kind::down:
      return "down";
    case NodeEvent::Kind::protocol:
      return "protocol";
    case NodeEvent::Kind::excluded:
      return "excluded";
    case NodeEvent::Kind::undelivered:
      return "undelivered";
    case NodeEvent::Kind::learned:
      return "learned";
    case NodeEvent::Kind::paused:
      return "paused";
    case NodeEvent::Kind::warning:
      return "warning";
    case NodeEvent::Kind::counters_reset:
      return "counters-reset";
  }
  return "";
}

/// Whether the client works with the node as before; `up` is not meant.
bool leaves_the_node_up(NodeEvent::Kind kind) {
  return kind == NodeEvent::Kind::learned || kind == NodeEvent::Kind::paused ||
         kind == NodeEvent::Kind::warning || kind == NodeEvent::Kind::counters_reset;
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

void NodeWatch::on_event(const NodeEvent& event) {
  const std::lock_guard lock(mutex_);
  if (event.kind == NodeEvent::Kind::up) {
    down_.erase(event.url);
  } else if (!leaves_the_node_up(event.kind)) {
    down_[event.url] = event.message;
  }
}

void NodeWatch::on_log(const NodeEvent& event) const {
  if (level_) {
    if (event.level < *level_) return;
    return write_log(
        {line_level(event.level), event.message, event.url, name_of(event.kind), {}, event.times});
  }
  const bool nothing_else_tells =
      event.kind == NodeEvent::Kind::undelivered || leaves_the_node_up(event.kind);
  if (nothing_else_tells && detail_ != Settings::Detail::quiet) {
    write_log({LogLine::Level::warning, event.message, event.url, {}});
  }
}

std::string NodeWatch::describe_down() const {
  const std::lock_guard lock(mutex_);
  if (down_.empty()) return {};
  std::string text = fmt::format(
      "{} down: ", down_.size() == 1 ? "1 node is" : fmt::format("{} nodes are", down_.size()));
  for (auto node = down_.begin(); node != down_.end(); ++node) {
    fmt::format_to(std::back_inserter(text), "{}{} ({})", node == down_.begin() ? "" : ", ",
                   node->first, node->second);
  }
  return text;
}

Session::Session(const Settings& settings, const Signals& signals, LocalNodes::Reach reach)
    : settings_(settings), watch_(std::make_shared<NodeWatch>(settings)) {
  if (settings.local) {
    check_ports(settings.ports, *settings.local);
    local_ = std::make_unique<LocalNodes>(*settings.local, signals, reach,
                                          LoopbackPorts(settings.ports));
    nodes_ = local_->urls();
    open_deployment(nodes_);
  } else {
    if (settings.ports) throw UsageError("--ports: only with --local, whose servers use them");
    nodes_ = settings.nodes;
  }
}

void Session::open_deployment(const std::vector<std::string>& nodes) const {
  // Started a moment ago, they can have forgotten nothing.
  if (!settings_.guards.restart) return;
  const auto opened = admin::bootstrap(client_options(settings_, nodes));
  if (!opened) throw std::runtime_error(opened.error().message);
}

Result<Client> Session::connect() {
  ClientOptions options = client_options(settings_, nodes_);
  options.on_node_event = [watch = watch_](const NodeEvent& event) { watch->on_event(event); };
  options.on_log = [watch = watch_](const NodeEvent& event) { watch->on_log(event); };
  return Client::create(std::move(options));
}

void Session::clear_local_nodes() const {
  if (local_) local_->clear();
}

void Session::reopen_local_nodes(const std::vector<std::string>& nodes) const {
  if (!local_) return;
  local_->clear();
  open_deployment(nodes);
}

void Session::renew_local_nodes() {
  local_->restore();
  local_->clear();
  nodes_ = local_->urls();
  open_deployment(nodes_);
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

namespace {

void log_vote(const NodeReport& node) {
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
    for (const NodeReport& node : error.round.nodes) log_vote(node);
  }
  return code(exit_code_of(error.code));
}

int print_result(std::string_view text) {
  if (print(text)) return code(ExitCode::done);
  print_error(fmt::format("standard output: {}", std::strerror(errno)));
  return code(ExitCode::failure);
}

}  // namespace redlock::cli
