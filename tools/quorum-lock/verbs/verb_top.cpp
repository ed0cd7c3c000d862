#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/screen.hpp"
#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "common/system/platform.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/locks/lock_table.hpp"
#include "quorum-lock/verbs/listing.hpp"
#include "quorum-lock/verbs/top_view.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {
namespace {

/// Asks the nodes every second, on a thread of its own: a node that hangs must not hold up the
/// keys.
class Gatherer {
 public:
  Gatherer(ClientOptions client, admin::ListOptions options)
      : client_(std::move(client)), options_(std::move(options)) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  using Facts = std::shared_ptr<const Result<TopFacts>>;

  /// Readable when there is something new.
  [[nodiscard]] int fd() const noexcept { return news_.fd(); }
  /// Null before the first answer.
  [[nodiscard]] Facts take() {
    news_.clear();
    const std::lock_guard lock(mutex_);
    return facts_;
  }
  /// Asks the thread to stop. Returns whether it only waits for the next second; otherwise its end
  /// takes as long as the answers of the nodes.
  [[nodiscard]] bool stop() {
    thread_.request_stop();
    const std::lock_guard lock(mutex_);
    return !asking_;
  }

 private:
  [[nodiscard]] Result<TopFacts> gather() const {
    Result<admin::DeploymentCheck> check = admin::check(client_);
    if (!check) return check.error();
    Result<admin::LockList> list = admin::list_locks(client_, options_);
    if (!list) return list.error();
    TopFacts facts{*std::move(check), *std::move(list), {}};
    facts.warnings = list_warnings(facts.list, options_.keys_per_node);
    return facts;
  }

  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      asking_ = true;
      lock.unlock();
      auto facts = std::make_shared<const Result<TopFacts>>(gather());
      lock.lock();
      asking_ = false;
      facts_ = std::move(facts);
      news_.notify();
      next_second_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
    }
  }

  const ClientOptions client_;
  const admin::ListOptions options_;
  platform::Wakeup news_;
  std::mutex mutex_;
  std::condition_variable_any next_second_;
  bool asking_ = false;
  Facts facts_;
  std::jthread thread_;
};

/// Draws the screen and handles keys, from the first line to the last key.
class Top {
 public:
  Top(const Signals& signals, Gatherer& gatherer) : signals_(signals), gatherer_(gatherer) {}

  /// The exit code.
  [[nodiscard]] int run() {
    draw();
    while (!result_) wait();
    screen_.leave();
    if (!error_.empty()) print_error(error_);
    return *result_;
  }

 private:
  void wait() {
    std::array<pollfd, 3> watched = {pollfd{signals_.fd(), POLLIN, 0},
                                     pollfd{gatherer_.fd(), POLLIN, 0},
                                     pollfd{screen_.keyboard(), POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      if (errno != EINTR) result_ = code(ExitCode::failure);
      return;
    }
    if (watched[0].revents != 0) take_signal();
    if (watched[1].revents != 0) take_facts();
    if (watched[2].revents != 0) take_key();
    if (!result_) draw();
  }

  void take_signal() {
    const auto signal = signals_.take();
    if (!signal) return;
    if (*signal == SIGTSTP) {
      screen_.leave();
      static_cast<void>(::kill(::getpid(), SIGSTOP));
      screen_.enter();
    }
    if (ends_process(*signal)) result_ = code_of_signal(*signal);
  }

  void take_facts() {
    facts_ = gatherer_.take();
    if (!facts_ || *facts_) return;
    error_ = facts_->error().message;
    result_ = code(exit_code_of(facts_->error().code));
  }

  void take_key() {
    const char key = screen_.take_key().value_or('\0');
    if (key == 'q' || key == 'Q') result_ = code(ExitCode::done);
  }

  void draw() {
    const WindowSize window = window_size();
    const auto lines = facts_ ? top_lines(style_, **facts_, window.width, window.height)
                              : std::vector<std::string>{"quorum-lock top  asking the nodes …"};
    if (!screen_.draw(lines)) result_ = code(ExitCode::failure);
  }

  const Signals& signals_;
  Gatherer& gatherer_;
  const Style style_ = Style::of_standard_output();
  Screen screen_;
  Gatherer::Facts facts_;
  std::string error_;
  std::optional<int> result_;
};

}  // namespace

int verb_top(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  const admin::ListOptions options = list_options(given);
  if (settings.format == Settings::Format::json) {
    throw UsageError("--json: not with top: 'list --watch --json' prints an object per second");
  }
  if (::isatty(STDOUT_FILENO) != 1) {
    throw UsageError(
        "top: standard output is not a terminal: 'list --watch' prints a table per second");
  }
  Session session(settings, signals);
  Gatherer gatherer(client_options(settings, session.nodes()), options);
  const int result = Top(signals, gatherer).run();
  if (!gatherer.stop()) {
    // The answers that the thread waits for are no longer of interest.
    session.end_local_nodes();
    ::_exit(result);
  }
  return result;
}

}  // namespace redlock::cli
