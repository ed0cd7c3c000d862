#include "quorum-lock/line/foreign_options.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace redlock::cli {
namespace {

struct ForeignOption {
  std::array<std::string_view, 3> names{};
  std::string_view instead{};
};

constexpr ForeignOption foreign_options[] = {
    {{"--exec", "-F", "--no-fork"},
     "if the process that renews the lock is killed, COMMAND has to be ended, which only a process "
     "above COMMAND can do for certain; write: exec quorum-lock run RESOURCE -- COMMAND"},
    {{"-n", "--nb", "--nonblock"}, "write --wait 0s; for -n of consul lock, --permits N"},
    {{"-w"}, "write --wait DURATION, with a unit: --wait 5s"},
    {{"-s"}, "write --shared"},
    {{"-x", "-e", "--exclusive"}, "leave it out: a lock is exclusive without --shared"},
    {{"-E"}, "write --conflict-exit-code N"},
    {{"-c", "--command", "-shell"}, "write: -- sh -c 'COMMAND'"},
    {{"-o", "--close"}, "leave it out: COMMAND never inherits a descriptor of quorum-lock"},
    {{"-u", "--unlock"}, "leave it out: the lock is released when COMMAND ends; see release"},
    {{"-V"}, "write --version"},
    {{"-try"}, "write --wait DURATION; 0s is one attempt"},
    {{"-timeout"}, "write --wait DURATION"},
    {{"-name"}, "write --name TEXT"},
    {{"-verbose"}, "write --verbose"},
    {{"-monitor-retry"},
     "write --ttl DURATION: the lock survives nodes that do not answer for about as long"},
    {{"-child-exit-code"}, "leave it out: the exit code is always COMMAND's"},
    {{"-pass-stdin"}, "leave it out: COMMAND always has the standard input"},
};

/// The name in a word such as "-w5" or "-E75", which are a name and a value.
std::string_view name_in(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  const bool has_number = name.size() > 2 && (name.starts_with("-w") || name.starts_with("-E")) &&
                          name.find_first_not_of("0123456789.", 2) == std::string_view::npos;
  return has_number ? name.substr(0, 2) : name;
}

constexpr std::pair<std::string_view, std::string_view> our_words[] = {
    {"check", "doctor"},          {"exec", "run"},       {"force", "break"},
    {"get", "inspect"},           {"hold", "run"},       {"info", "inspect"},
    {"init", "bootstrap"},        {"kill", "break"},     {"leader", "elect"},
    {"lock", "acquire"},          {"locks", "list"},     {"ls", "list"},
    {"monitor", "watch"},         {"nodes", "members"},  {"open", "bootstrap"},
    {"ping", "doctor"},           {"ps", "list"},        {"refresh", "extend"},
    {"renew", "extend"},          {"show", "inspect"},   {"status", "inspect"},
    {"steal", "break"},           {"unlock", "release"}, {"with", "run"},
    {"--at-least", "--interval"},
};

}  // namespace

std::optional<std::string_view> our_word_for(std::string_view word) noexcept {
  for (const auto& [foreign, ours] : our_words) {
    if (foreign == word) return ours;
  }
  return std::nullopt;
}

std::optional<std::string_view> instead_of(std::string_view word) noexcept {
  const std::string_view name = name_in(word);
  for (const ForeignOption& option : foreign_options) {
    const bool found = !name.empty() && std::find(option.names.begin(), option.names.end(), name) !=
                                            option.names.end();
    if (found) return option.instead;
  }
  return std::nullopt;
}

}  // namespace redlock::cli
