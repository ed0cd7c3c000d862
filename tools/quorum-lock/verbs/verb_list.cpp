#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/screen.hpp"
#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "common/session/table.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/locks/lock_table.hpp"
#include "quorum-lock/verbs/listing.hpp"
#include "quorum-lock/verbs/top_view.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {

admin::ListOptions list_options(const Arguments& given) {
  admin::ListOptions options;
  if (given.words.size() > 1) {
    throw UsageError(fmt::format("PATTERN: '{}' is one too many: at most one is allowed",
                                 as_printable(given.words[1])));
  }
  if (!given.words.empty()) {
    options.pattern = given.words.front();
    if (options.pattern.empty() || options.pattern.size() > limits::pattern_bytes) {
      throw UsageError(fmt::format("PATTERN: has {} bytes: 1 to {} are allowed",
                                   options.pattern.size(), limits::pattern_bytes));
    }
  }
  options.keys_per_node = given.number("limit").value_or(limits::keys_listed);
  return options;
}

namespace {

/// Prints one list after the other.
class Lister {
 public:
  Lister(const Settings& settings, ClientOptions client, admin::ListOptions options)
      : settings_(settings), client_(std::move(client)), options_(std::move(options)) {}

  [[nodiscard]] int list_once() {
    const Result<admin::LockList> list = list_locks(client_, options_);
    if (!list) return refuse(list.error());
    const int printed = print_result(json() ? list_json(*list) : table(*list));
    if (const std::string few = too_few(*list); !few.empty()) {
      print_error(few);
      return code(ExitCode::unavailable);
    }
    for (const std::string& line : list_warnings(*list, options_.keys_per_node)) {
      print_warning(line);
    }
    return printed;
  }

  /// Prints lists until a signal comes or output fails.
  [[nodiscard]] int watch() {
    const bool redraws = !json() && ::isatty(STDOUT_FILENO) == 1;
    for (bool first = true;; first = false) {
      const Result<admin::LockList> list = list_locks(client_, options_);
      if (!list) return refuse(list.error());
      if (!redraws) warn_of_changes(*list);
      const std::string text = json() ? list_json(*list) : table(*list);
      const std::string before = json() || first || text.empty() ? "" : "\n";
      const int printed = print_result(redraws ? frame(*list) : before + text);
      if (printed != code(ExitCode::done)) return printed;
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  }

 private:
  [[nodiscard]] bool json() const { return settings_.format == Settings::Format::json; }

  static int refuse(const Error& error) {
    print_error(error.message);
    return code(exit_code_of(error.code));
  }

  static std::string too_few(const admin::LockList& list) {
    return list.answered < list.quorum ? too_few_answered(list) : std::string();
  }

  [[nodiscard]] std::string table(const admin::LockList& list) const {
    std::vector<std::string> lines = lock_lines(Style::of_standard_output(), list);
    if (settings_.detail == Settings::Detail::quiet) {
      lines.erase(lines.begin());
    } else if (list.locks.empty()) {
      // With too few answers there may be locks that nobody showed.
      lines = list.answered < list.quorum ? std::vector<std::string>()
                                          : std::vector<std::string>{"no locks"};
    }
    return joined_lines(lines);
  }

  [[nodiscard]] std::vector<std::string> complaints(const admin::LockList& list) const {
    std::string few = too_few(list);
    if (!few.empty()) return {std::move(few)};
    return list_warnings(list, options_.keys_per_node);
  }

  /// The list for a terminal, which replaces the list before.
  [[nodiscard]] std::string frame(const admin::LockList& list) const {
    const Style style = Style::of_standard_output();
    const WindowSize window = window_size();
    std::vector<std::string> lines{shortened(lock_summary(list), window.width)};
    for (const std::string& complaint : complaints(list)) {
      lines.push_back(
          style.paint(Style::Colour::bad, shortened(as_printable(complaint), window.width)));
    }
    for (std::string& line : lock_lines(style, list, window.width))
      lines.push_back(std::move(line));
    // The line below is for the cursor, and later for the shell's prompt.
    lines = fitting_lines(std::move(lines), window.width, window.height - 1);
    lines.emplace_back();
    return frame_text(lines);
  }

  /// Prints each warning once, as long as it does not change.
  void warn_of_changes(const admin::LockList& list) {
    std::vector<std::string> lines = complaints(list);
    for (const std::string& line : lines) {
      if (std::find(warned_.begin(), warned_.end(), line) == warned_.end()) print_warning(line);
    }
    warned_ = std::move(lines);
  }

  const Settings& settings_;
  const ClientOptions client_;
  const admin::ListOptions options_;
  std::vector<std::string> warned_;
};

}  // namespace

int verb_list(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  const admin::ListOptions options = list_options(given);
  Session session(settings, signals);
  const EndOnSignal end_on_signal(signals, session);
  Lister lister(settings, client_options(settings, session.nodes()), options);
  if (!given.flag("watch")) return lister.list_once();
  const EndWithReader end_with_reader(session);
  return lister.watch();
}

}  // namespace redlock::cli
