#include "quorum-lock/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/contest/contender.hpp"
#include "chaos/contender.hpp"
#include "chaos/load.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/system/signals.hpp"
#include "common/text/log.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/line/command_line.hpp"
#include "quorum-lock/line/completion.hpp"
#include "quorum-lock/line/layers.hpp"
#include "quorum-lock/line/man_page.hpp"
#include "quorum-lock/verbs/plugin_output.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {
namespace {

/// Opens missing standard streams: a descriptor of ours must not become the standard output of a
/// command. What is written to a missing standard output still fails: somebody was to read it.
bool open_standard_streams() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);
    if (fd == STDOUT_FILENO && ::close(fd) == 0) fd = ::open("/dev/null", O_RDONLY);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  return fd >= 0 && ::close(fd) == 0;
}

/// The process list shows argv for as long as the process runs.
void hide_passwords(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    // The arguments after `--` belong to another program's command.
    if (std::strcmp(argv[i], "--") == 0) return;
    std::string hidden;
    const std::string_view argument = argv[i];
    const std::size_t value = argument.starts_with("--nodes=") ? 8 : 0;
    for (std::size_t begin = value; begin <= argument.size();) {
      const std::size_t comma = argument.find(',', begin);
      const std::string_view url = argument.substr(begin, comma - begin);
      if (!hidden.empty()) hidden += ',';
      hidden += without_password(url);
      if (comma == std::string_view::npos) break;
      begin = comma + 1;
    }
    if (value + hidden.size() >= argument.size()) continue;
    const std::size_t size = argument.size();
    std::memcpy(argv[i] + value, hidden.data(), hidden.size());
    std::memset(argv[i] + value + hidden.size(), 0, size - value - hidden.size());
  }
}

using Verb = int (*)(const Arguments&, const Signals&);

Verb verb_function(std::string_view name) {
  struct Entry {
    std::string_view name;
    Verb function;
  };
#define ENTRY(name) {#name, verb_##name},
  static constexpr Entry entries[] = {QUORUM_LOCK_VERBS(ENTRY)};
#undef ENTRY
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry.function;
  }
  throw UsageError(fmt::format("VERB: '{}' is not known", name));
}

/// Whether monitoring waits for the line of `doctor --nagios`: read from the raw words, so that
/// monitoring gets its line even if they are wrong.
bool is_for_monitoring(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto verb = std::find_if(words.begin(), end, [](const std::string& word) {
    const auto all = verbs();
    return std::any_of(all.begin(), all.end(),
                       [&word](const VerbText& one) { return one.name == word; });
  });
  return verb != end && *verb == "doctor" && std::find(words.begin(), end, "--nagios") != end;
}

/// Exits like a monitoring plugin whose check failed: UNKNOWN.
int end_unknown(const std::vector<std::string>& words, std::string_view why, ExitCode otherwise) {
  if (!is_for_monitoring(words)) {
    print_error(why);
    return code(otherwise);
  }
  const PluginOutput output = plugin_unknown(why);
  static_cast<void>(print(output.line));
  return output.exit_code;
}

/// What the settings say of standard error, and the first lines there.
void begin_log(const Arguments& given) {
  const bool logs = given.flag("verbose") || given.find("log-level") != nullptr;
  if (logs && given.flag("json")) set_log_form(LogForm::json);
  if (given.flag("quiet")) return;
  for (const std::string& line : ignored_variables()) print_warning(line);
}

int run_checked(const std::vector<std::string>& words) {
  if (!words.empty() && words.front() == chaos::contender_verb) {
    return chaos::run_contender({words.begin() + 1, words.end()});
  }
  if (words.size() == 1 && words.front() == chaos::load_verb) chaos::run_load();
  if (!words.empty() && words.front() == completion_verb) {
    return print_result(as_lines(complete({words.begin() + 1, words.end()})));
  }
  if (words.size() == 1 && words.front() == man_page_verb) return print_result(man_page());
  if (words.size() == 1 && words.front() == contenders_verb) return run_contenders();
  const auto parsed = parse_command_line(words);
  if (const auto* request = std::get_if<TextRequest>(&parsed)) {
    const int printed = print_result(request->text);
    return printed == code(ExitCode::done) ? code(request->exit_code) : printed;
  }
  CommandLine command_line = std::get<CommandLine>(parsed);
  if (command_line.verb->name == "config") return verb_config(command_line.arguments);
  if (command_line.verb->name == "completion") return verb_completion(command_line.arguments);
  fill_in(command_line.arguments, std::string(command_line.verb->name));
  begin_log(command_line.arguments);
  const Signals signals;
  return verb_function(command_line.verb->name)(command_line.arguments, signals);
}

}  // namespace

int run_program(int argc, char** argv) noexcept {
  std::vector<std::string> words;
  try {
    if (!open_standard_streams()) return code(ExitCode::failure);
    words.assign(argv + (argc > 0 ? 1 : 0), argv + argc);
    hide_passwords(argc, argv);
    return run_checked(words);
  } catch (const EndedBySignal& ended) {
    return code_of_signal(ended.signal);
  } catch (const UsageError& error) {
    // Wrong usage is always one line for people, whatever form the settings want: half of these
    // errors come before any setting is known.
    set_log_form(LogForm::text);
    return end_unknown(words, error.what(), ExitCode::usage);
  } catch (const std::exception& error) {
    return end_unknown(words, error.what(), ExitCode::unavailable);
  } catch (...) {
    std::fputs("quorum-lock: something unknown was thrown\n", stderr);
    return code(ExitCode::failure);
  }
}

}  // namespace redlock::cli
