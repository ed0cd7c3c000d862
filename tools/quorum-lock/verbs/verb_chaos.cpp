#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "chaos/checker/checker.hpp"
#include "chaos/checker/checker_history.hpp"
#include "chaos/report/report.hpp"
#include "chaos/run.hpp"
#include "chaos/schedule.hpp"
#include "chaos/service.hpp"
#include "chaos/unsafe_contender.hpp"
#include "common/servers/loopback_server.hpp"
#include "common/session/exit_code.hpp"
#include "common/session/output.hpp"
#include "common/session/progress.hpp"
#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "common/system/child_process.hpp"
#include "common/system/written_file.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {
namespace {

using chaos::Ending;
using chaos::FaultKind;

constexpr std::chrono::seconds shortest_run{2};
constexpr std::chrono::hours longest_run{1};

struct ChaosRequest {
  Settings settings{};
  chaos::RunRequest run{};
  std::optional<std::string> html{};
  std::optional<std::filesystem::path> keep{};
  std::optional<std::filesystem::path> check{};
};

/// Other clients have no guard against nodes that forget.
constexpr FaultKind forgetting_kinds[] = {FaultKind::clock, FaultKind::role, FaultKind::evict,
                                          FaultKind::name};

/// Removes these kinds from the default, for a run with a foreign contender. Throws UsageError if
/// --faults names one of them.
std::set<FaultKind> without_forgetting(std::set<FaultKind> kinds, const Arguments& given) {
  for (const FaultKind kind : forgetting_kinds) {
    if (given.find("faults") == nullptr) {
      kinds.erase(kind);
    } else if (kinds.contains(kind)) {
      throw UsageError(fmt::format(
          "--faults: {} is not allowed with --contender-command: other clients have no guard "
          "against nodes that forget",
          chaos::to_string(kind)));
    }
  }
  return kinds;
}

/// Removes from the default the kinds that a replicated service cannot have. Throws UsageError if
/// --faults names one of them.
std::set<FaultKind> of_a_service(std::set<FaultKind> kinds, std::string_view service,
                                 const Arguments& given) {
  const std::set<FaultKind> possible = chaos::kinds_of_service();
  std::erase_if(kinds, [&](FaultKind kind) {
    if (possible.contains(kind)) return false;
    if (!given.asked_for("faults")) return true;
    throw UsageError(fmt::format("--faults: {} is not allowed with --{}: allowed are {}",
                                 chaos::to_string(kind), service, chaos::list_of(possible)));
  });
  return kinds;
}

/// The option that names a kind of service makes it the one node.
void choose_service(const Arguments& given, chaos::RunRequest& run) {
  for (const chaos::ServiceKind& kind : chaos::service_kinds()) {
    const auto* const servers = given.find(std::string(kind.name));
    if (servers == nullptr) continue;
    if (run.service != nullptr) {
      throw UsageError(fmt::format("--{}: not together with --{}", kind.name, run.service->name));
    }
    for (const char* const other : {"local", "contender-command", "check"}) {
      if (!given.asked_for(other)) continue;
      throw UsageError(fmt::format("--{}: not together with --{}", kind.name, other));
    }
    run.service = &kind;
    run.nodes = servers->text.empty() ? kind.servers : *given.number(std::string(kind.name));
  }
  if (run.service == nullptr && given.asked_for("unsafe")) {
    throw UsageError("--unsafe: only with --sentinel or --cluster");
  }
  if (run.service == nullptr) return;
  run.unsafe = given.text("unsafe").value_or(std::string());
  if (!run.unsafe.empty() && chaos::find_unsafe_lock(run.unsafe) == nullptr) {
    throw UsageError(fmt::format("--unsafe: '{}' is not known: allowed are {}",
                                 as_printable(run.unsafe), chaos::unsafe_lock_names()));
  }
}

/// Words between blanks; the first one is found along PATH.
std::vector<std::string> foreign_command(const Arguments& given) {
  const auto command = given.text("contender-command");
  if (!command) return {};
  std::vector<std::string> words;
  std::istringstream stream(*command);
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.empty()) throw UsageError("--contender-command: the command is empty");
  const FoundProgram found = find_program(words.front());
  if (found.problem != 0) {
    throw UsageError(fmt::format("--contender-command: '{}' {}", as_printable(words.front()),
                                 found.problem == EACCES ? "cannot be executed" : "is not found"));
  }
  return words;
}

std::set<FaultKind> kinds_of(const Arguments& given) {
  std::set<FaultKind> kinds;
  const auto list = given.text("faults");
  if (!list) {
    kinds.insert(std::begin(chaos::all_fault_kinds), std::end(chaos::all_fault_kinds));
    return kinds;
  }
  for (const std::string& name : split_list(*list)) {
    const auto kind = chaos::fault_kind(name);
    if (!kind) {
      throw UsageError(fmt::format(
          "--faults: '{}' is not known: allowed are {}", as_printable(name),
          chaos::list_of({std::begin(chaos::all_fault_kinds), std::end(chaos::all_fault_kinds)})));
    }
    kinds.insert(*kind);
  }
  return kinds;
}

std::filesystem::path empty_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path, error)) {
    throw UsageError(fmt::format("--keep: '{}' cannot be created as a folder", as_printable(path)));
  }
  if (!std::filesystem::is_empty(path, error) || error) {
    throw UsageError(fmt::format("--keep: '{}' is not an empty folder", as_printable(path)));
  }
  return path;
}

ChaosRequest read_request(const Arguments& given) {
  ChaosRequest request;
  if (!given.words.empty()) {
    throw UsageError(fmt::format("'{}': chaos takes no resource", as_printable(given.words[0])));
  }
  if (given.asked_for("nodes")) {
    throw UsageError("--nodes: not with chaos, which breaks nodes of its own: --local N of them");
  }
  if (given.asked_for("local-sentinel")) {
    throw UsageError("--local-sentinel: not with chaos, which breaks nodes of its own: --sentinel");
  }
  request.settings = resolve_settings(given, NodesNeeded::optional);
  chaos::RunRequest& run = request.run;
  run.nodes = request.settings.local.value_or(5);
  choose_service(given, run);
  run.contenders = given.number("clients").value_or(4);
  const auto duration = given.positive_duration("duration").value_or(std::chrono::seconds{15});
  if (duration < shortest_run || duration > longest_run) {
    throw UsageError(
        fmt::format("--duration: {} is not allowed: 2s to 1h", format_duration(duration)));
  }
  run.duration = std::chrono::duration_cast<std::chrono::milliseconds>(duration);
  run.seed = given.number("seed").value_or(std::random_device{}());
  run.kinds = kinds_of(given);
  if (run.service != nullptr) {
    run.kinds = of_a_service(std::move(run.kinds), run.service->name, given);
  } else {
    run.foreign = foreign_command(given);
  }
  if (!run.foreign.empty()) {
    run.kinds = without_forgetting(std::move(run.kinds), given);
    ++run.contenders;
  }
  run.ports = request.settings.ports;
  // Each contender reaches each server over a link of its own; a name may lead to one more server.
  const std::size_t strangers = run.kinds.contains(FaultKind::name) ? 1 : 0;
  const std::size_t servers = run.service == nullptr ? run.nodes : run.service->in_all(run.nodes);
  // A service has as many sentinels, and a link between its own servers to each of them; a server
  // of a cluster has a second port. Contenders have links of their own to those that they ask.
  const std::size_t managers = run.service == nullptr ? 0 : servers * (2 + run.contenders);
  check_ports(run.ports, strangers + managers + servers * (1 + run.contenders));
  request.html = given.text("html");
  if (const auto folder = given.text("check")) request.check = *folder;
  if (request.check && !run.foreign.empty()) {
    throw UsageError("--contender-command: not together with --check, which runs nothing");
  }
  // Before anything is started: a run whose report cannot be written is a waste.
  if (request.html) require_writable("html", *request.html);
  if (const auto folder = given.text("keep")) {
    if (request.check) throw UsageError("--keep: not together with --check, which runs nothing");
    request.keep = empty_folder(*folder);
    // Absolute, because it is passed to processes with another current directory.
    request.keep = std::filesystem::absolute(*request.keep);
  }
  return request;
}

/// The folder of a run, which is removed with everything in it unless the user wants it.
class Workshop {
 public:
  Workshop() : folder_(make_temporary_directory()) {}
  ~Workshop() {
    std::error_code ignored;
    std::filesystem::remove_all(keeps_histories_ ? folder_ / "servers" : folder_, ignored);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  [[nodiscard]] std::filesystem::path make(const char* name) const {
    auto path = folder_ / name;
    std::filesystem::create_directories(path);
    return path;
  }
  void keep_histories() noexcept { keeps_histories_ = true; }

 private:
  std::filesystem::path folder_;
  bool keeps_histories_ = false;
};

int report(const ChaosRequest& request, const chaos::History& history,
           const chaos::Judgement& judgement, Ending ending) {
  if (request.html) {
    write_page("html", *request.html, chaos::html_report(history, judgement, ending));
  }
  int printed = 0;
  if (request.settings.format == Settings::Format::json) {
    printed = print_result(chaos::json_report(history, judgement, ending));
  } else {
    const auto text = chaos::text_report(history, judgement, ending);
    const Style style = Style::of_standard_output();
    const auto colour = judgement.good(history) ? Style::Colour::good : Style::Colour::bad;
    const bool quiet = request.settings.detail == Settings::Detail::quiet;
    printed = print_result((quiet ? "" : text.facts) +
                           style.paint(colour, "verdict: " + text.verdict) + '\n');
  }
  if (printed != 0) return printed;
  return code(judgement.good(history) ? ExitCode::done : ExitCode::failure);
}

int check_only(const ChaosRequest& request) {
  chaos::History history;
  try {
    history = chaos::read_history(*request.check);
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("--check: {}", as_printable(error.what())));
  }
  return report(request, history, chaos::judge(history), Ending::complete);
}

int run_and_judge(ChaosRequest& request, const Signals& signals) {
  Workshop workshop;
  request.run.servers = workshop.make("servers");
  request.run.histories = request.keep ? *request.keep : workshop.make("histories");
  if (request.settings.detail == Settings::Detail::verbose) {
    request.run.tell = [&settings = request.settings](std::string_view line) {
      print_note(settings, line);
    };
  }
  const auto whole = static_cast<std::size_t>(request.run.duration.count());
  std::optional<Progress> progress;
  if (request.settings.detail == Settings::Detail::normal)
    progress.emplace(whole, request.run.duration / whole);
  request.run.show = [&](std::chrono::milliseconds done, std::string_view broken) {
    if (progress) progress->show(static_cast<std::size_t>(done.count()), broken);
  };
  const int signal = chaos::run(request.run, signals);
  // The progress bar must be gone before anything else is printed.
  progress.reset();

  const auto history = chaos::read_history(request.run.histories);
  const auto judgement = chaos::judge(history);
  const int result =
      report(request, history, judgement, signal != 0 ? Ending::interrupted : Ending::complete);
  if (!judgement.violations.empty()) {
    workshop.keep_histories();
    print_error(fmt::format("the histories are in {}; quorum-lock chaos --check judges them again",
                            request.run.histories.string()));
  }
  return signal != 0 ? code_of_signal(signal) : result;
}

}  // namespace

int verb_chaos(const Arguments& given, const Signals& signals) {
  ChaosRequest request = read_request(given);
  if (request.check) return check_only(request);
  if (find_program("redis-server").problem != 0) {
    throw std::runtime_error(
        "chaos: redis-server is not installed (not found in PATH): install Redis");
  }
  return run_and_judge(request, signals);
}

}  // namespace redlock::cli
