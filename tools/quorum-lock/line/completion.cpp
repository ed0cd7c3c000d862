#include "quorum-lock/line/completion.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "bench/bench_modes.hpp"
#include "chaos/schedule.hpp"
#include "common/text/text.hpp"
#include "quorum-lock/line/option_kind.hpp"
#include "quorum-lock/line/verb_table.hpp"

namespace redlock::cli {
namespace {

constexpr std::pair<std::string_view, std::string_view> examples[] = {
    {"local", "1 3 5"},
    {"nodes-count", "1 3 5"},
    {"sentinel", "3 5"},
    {"cluster", "3 5"},
    {"unsafe", "set set-wait"},
    {"log-level", "debug info warning"},
    {"restart-guard", "off 30s"},
    {"wait", "0s 1s 10s 30s 2m forever"},
    {"metrics-listen", "127.0.0.1:9464"},
    {"status-listen", "127.0.0.1:9464"},
};
constexpr std::string_view durations = "250ms 1s 10s 30s 2m";

/// The first operand of a verb that takes only these.
constexpr std::pair<std::string_view, std::string_view> first_operands[] = {
    {"members", "show replace add remove"},
    {"config", "check"},
};

/// The first clause.
std::string_view in_short(std::string_view text) {
  std::size_t end = text.size();
  for (const std::string_view stop : {". ", "; ", ": ", ", "}) end = std::min(end, text.find(stop));
  text = text.substr(0, end);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

bool runs_command(std::string_view verb) { return verb == "run" || verb == "elect"; }

/// The option of the verb, or of every verb, whose dashed name the word begins with.
const OptionText* option_in(std::string_view word, const VerbText* verb) {
  if (!word.starts_with("--")) return nullptr;
  const std::string_view name = word.substr(2, word.find('=') - 2);
  const auto find = [name](std::span<const OptionText> options) -> const OptionText* {
    const auto found = std::find_if(options.begin(), options.end(),
                                    [name](const OptionText& one) { return one.name == name; });
    return found == options.end() ? nullptr : &*found;
  };
  if (const OptionText* own = verb == nullptr ? nullptr : find(verb->options)) return own;
  return find(global_options());
}

/// The words before the one that is being written.
struct Before {
  const VerbText* verb = nullptr;
  std::vector<std::string_view> operands{};
  std::optional<std::size_t> command{};  ///< where the command of run or elect begins
  const OptionText* open = nullptr;      ///< the option whose value the word is
};

Before read(const std::vector<std::string>& words) {
  Before before;
  const std::size_t last = words.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    const std::string& word = words[i];
    const bool commands = before.verb != nullptr && runs_command(before.verb->name);
    if (word == "--" && commands) {
      before.command = i + 1;
      return before;
    }
    if (word.starts_with('-') && word.size() > 1) {
      const OptionText* option = option_in(word, before.verb);
      if (option == nullptr || option->value.empty() || word.find('=') != std::string::npos) {
        continue;
      }
      if (++i == last) before.open = option;
    } else if (before.verb == nullptr) {
      before.verb = find_verb_text(word);
      if (before.verb == nullptr) return before;
    } else {
      before.operands.emplace_back(word);
      // The second operand begins the command, unless dashes follow.
      if (commands && before.operands.size() == 2) before.command = i;
    }
  }
  const bool may_begin = before.verb != nullptr && runs_command(before.verb->name) &&
                         before.open == nullptr && before.operands.size() == 1 &&
                         !words.back().starts_with('-');
  if (may_begin) before.command = last;
  return before;
}

class Offers {
 public:
  /// Words that begin with `written`, and stand after `prefix` in their place.
  explicit Offers(std::string_view written, std::string_view prefix = {})
      : written_(written), prefix_(prefix) {}

  void add(std::string_view word, std::string_view description = {}) {
    if (word.starts_with(written_)) words_.push_back({prefix_ + std::string(word), description});
  }
  void add_each(std::string_view words) {
    while (!words.empty()) {
      const std::size_t end = std::min(words.find(' '), words.size());
      add(words.substr(0, end));
      words.remove_prefix(std::min(end + 1, words.size()));
    }
  }
  void add_all(std::span<const OptionText> options) {
    for (const OptionText& option : options) {
      add("--" + std::string(option.name), in_short(option.help));
    }
  }
  [[nodiscard]] Completion take() { return {Completion::Kind::words, std::move(words_), 0}; }

 private:
  std::string_view written_;
  std::string prefix_;
  std::vector<Completion::Word> words_{};
};

Completion values_of(const OptionText& option, std::string_view written, std::string_view prefix) {
  if (option.value == "FILE") return {Completion::Kind::files, {}, 0};
  if (option.value == "FOLDER") return {Completion::Kind::folders, {}, 0};
  if (option.name == "faults") {
    const std::size_t begin = written.find_last_of(',') + 1;
    Offers offers(written.substr(begin), std::string(prefix).append(written.substr(0, begin)));
    for (const chaos::FaultKind kind : chaos::all_fault_kinds) offers.add(to_string(kind));
    return offers.take();
  }
  Offers offers(written, prefix);
  if (option.name == "mode") {
    for (const BenchMode& mode : bench_modes()) offers.add(mode.name);
    return offers.take();
  }
  for (const auto& [name, words] : examples) {
    if (name != option.name) continue;
    offers.add_each(words);
    return offers.take();
  }
  if (kind_of(option) == OptionKind::duration) offers.add_each(durations);
  return offers.take();
}

}  // namespace

Completion complete(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  const std::string_view written = words.back();
  const Before before = read(words);
  if (before.command) return {Completion::Kind::command, {}, *before.command};
  if (before.open != nullptr) return values_of(*before.open, written, {});
  if (const std::size_t equals = written.find('=');
      written.starts_with("--") && equals < SIZE_MAX) {
    const OptionText* option = option_in(written, before.verb);
    if (option == nullptr || option->value.empty()) return {};
    return values_of(*option, written.substr(equals + 1), written.substr(0, equals + 1));
  }
  Offers offers(written);
  if (written.starts_with('-')) {
    offers.add_all(global_options());
    offers.add_all(program_options());
    if (before.verb != nullptr) {
      offers.add_all(before.verb->options);
      if (runs_command(before.verb->name)) offers.add("--", "What follows is the command");
    }
    return offers.take();
  }
  const bool after_help = before.verb != nullptr && before.verb->name == "help";
  if (before.verb == nullptr || (after_help && before.operands.empty())) {
    for (const VerbText& verb : verbs()) offers.add(verb.name, verb.summary);
    if (after_help) offers.add("options", "The options that every verb takes");
  } else if (before.operands.empty()) {
    for (const auto& [verb, operands] : first_operands) {
      if (verb == before.verb->name) offers.add_each(operands);
    }
  }
  return offers.take();
}

std::string as_lines(const Completion& completion) {
  switch (completion.kind) {
    case Completion::Kind::files:
      return "files\n";
    case Completion::Kind::folders:
      return "folders\n";
    case Completion::Kind::command:
      return "command " + std::to_string(completion.command) + '\n';
    case Completion::Kind::words:
      break;
  }
  std::string lines = "words\n";
  for (const auto& [text, description] : completion.words) {
    lines.append(text).append("\t").append(description).append("\n");
  }
  return lines;
}

}  // namespace redlock::cli
