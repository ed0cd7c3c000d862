#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/bench_modes.hpp"
#include "quorum-lock/line/verb_table.hpp"
#include "support/process.hpp"
#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock::cli {
namespace {

const std::string completion_file = test::pages_folder() + "/../completion/quorum-lock.bash";

/// The words that a shell offers to complete the last of these words.
std::set<std::string> completions_of(const std::vector<std::string>& words) {
  std::vector<std::string> call = {
      "bash",
      "--norc",
      "-c",
      "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _quorum_lock; "
      "printf '%s\\n' \"${COMPREPLY[@]}\"",
      "bash",
      completion_file,
      "quorum-lock"};
  call.insert(call.end(), words.begin(), words.end());
  const test::ProcessResult result = test::run_process(call);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  std::istringstream lines(result.output);
  std::set<std::string> offered;
  for (std::string line; std::getline(lines, line);) offered.insert(line);
  offered.erase("");
  return offered;
}

std::set<std::string> dashed_names(std::span<const OptionText> options) {
  std::set<std::string> names;
  for (const OptionText& option : options) names.insert("--" + std::string(option.name));
  return names;
}

bool can_complete() { return test::run_process({"bash", "--version"}).exit_code == 0; }

std::set<std::string> names_of_verbs() {
  std::set<std::string> names;
  for (const VerbText& verb : verbs()) names.emplace(verb.name);
  return names;
}

std::set<std::string> names_with_value() {
  std::set<std::string> names;
  const auto add = [&names](std::span<const OptionText> options) {
    for (const OptionText& option : options) {
      if (!option.value.empty()) names.insert("--" + std::string(option.name));
    }
  };
  add(global_options());
  for (const VerbText& verb : verbs()) add(verb.options);
  return names;
}

std::string completion_source(const std::string& file) {
  return test::read_file(test::pages_folder() + "/../completion/" + file);
}

/// The first text between the two; empty: there is none.
std::string text_between(const std::string& text, const std::string& before,
                         const std::string& after) {
  const std::size_t found = text.find(before);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + before.size();
  return text.substr(begin, text.find(after, begin) - begin);
}

std::set<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> words;
  for (std::string word; stream >> word;) {
    if (word != "\\") words.insert(word);
  }
  return words;
}

/// The first group of every match.
std::set<std::string> found_in(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
       ++match) {
    found.insert((*match)[1].str());
  }
  return found;
}

/// The names of options with a value and of those without, with their dashes.
struct OptionNames {
  std::set<std::string> with_value;
  std::set<std::string> flags;
};

OptionNames names_in_table(std::span<const OptionText> options) {
  OptionNames names;
  for (const OptionText& option : options) {
    (option.value.empty() ? names.flags : names.with_value).insert("--" + std::string(option.name));
  }
  return names;
}

/// '--ttl=[text]:…' has a value, '--json[text]' has none.
OptionNames names_for_zsh(const std::string& text) {
  return {found_in(text, "'[^'\\[]*(--[a-z-]+)=\\["), found_in(text, "'[^'\\[]*(--[a-z-]+)\\[")};
}

/// The options in the lines with this condition: -r and -x say that there is a value.
OptionNames names_for_fish(const std::string& text, const std::string& condition) {
  const std::string line = "complete -c quorum-lock -n '" + condition + "' -l ([a-z-]+) ";
  OptionNames names;
  for (const std::string& name : found_in(text, line + "-[rx] ")) {
    names.with_value.insert("--" + name);
  }
  for (const std::string& name : found_in(text, line + "-d ")) names.flags.insert("--" + name);
  return names;
}

void expect_same_names(const OptionNames& written, const OptionNames& known,
                       std::string_view where) {
  EXPECT_EQ(written.with_value, known.with_value) << where;
  EXPECT_EQ(written.flags, known.flags) << where;
}

TEST(CliCompletion, KnowsEveryVerb) {
  if (!can_complete()) GTEST_SKIP() << "no bash";
  std::set<std::string> names = names_of_verbs();
  EXPECT_EQ(completions_of({""}), names);
  EXPECT_EQ(completions_of({"--nodes", "a", ":", "1,b", ":", "2", ""}), names);
  EXPECT_EQ(completions_of({"config", ""}), std::set<std::string>{"check"});
  names.insert("options");
  EXPECT_EQ(completions_of({"help", ""}), names);
}

TEST(CliCompletion, KnowsEveryOptionOfEveryVerb) {
  if (!can_complete()) GTEST_SKIP() << "no bash";
  for (const VerbText& verb : verbs()) {
    std::set<std::string> names = dashed_names(verb.options);
    names.merge(dashed_names(global_options()));
    names.insert({"--help", "--version"});
    const std::set<std::string> offered = completions_of({std::string(verb.name), "-"});
    if (verb.name == "run" || verb.name == "elect") names.insert("--");
    EXPECT_EQ(offered, names) << verb.name;
  }
}

TEST(CliCompletion, KnowsWhichOptionsHaveAValue) {
  const std::string list = text_between(completion_source("quorum-lock.bash"), "values=\"", "\"");
  EXPECT_EQ(words_of(list), names_with_value());
}

TEST(CliCompletion, CompletesTheCommandWithAndWithoutDashes) {
  if (!can_complete()) GTEST_SKIP() << "no bash";
  const std::set<std::string> command = {"mapfile"};
  EXPECT_EQ(completions_of({"run", "r", "mapfil"}), command);
  EXPECT_EQ(completions_of({"run", "--ttl", "1s", "r", "--wait", "=", "0s", "mapfil"}), command);
  EXPECT_EQ(completions_of({"run", "a", "b", "--", "mapfil"}), command);
  EXPECT_EQ(completions_of({"elect", "e", "mapfil"}), command);
  // After the command's first word, options belong to the command.
  EXPECT_EQ(completions_of({"run", "r", "cmd", "--tt"}), std::set<std::string>{});
  EXPECT_EQ(completions_of({"run", "r", "--tt"}), std::set<std::string>{"--ttl"});
}

TEST(CliCompletion, OfZshKnowsEveryVerbAndEveryOption) {
  const std::string source = completion_source("_quorum-lock");
  EXPECT_EQ(found_in(text_between(source, "local -a verbs=(\n", "\n  )"), "'([a-z]+):"),
            names_of_verbs());
  EXPECT_EQ(words_of(text_between(source, "local -a with_value=(\n", "\n  )")), names_with_value());
  OptionNames global = names_in_table(global_options());
  global.flags.insert({"--help", "--version"});
  expect_same_names(names_for_zsh(text_between(source, "local -a options=(\n", "\n  )")), global,
                    "every verb");
  for (const VerbText& verb : verbs()) {
    const std::string part =
        text_between(source, "\n    " + std::string(verb.name) + ")\n      options+=(\n", ";;");
    expect_same_names(names_for_zsh(part), names_in_table(verb.options), verb.name);
  }
}

TEST(CliCompletion, OfFishKnowsEveryVerbAndEveryOption) {
  const std::string source = completion_source("quorum-lock.fish");
  EXPECT_EQ(found_in(source, "-n \"__quorum_lock_verb ''\" -a ([a-z]+) -d "), names_of_verbs());
  EXPECT_EQ(words_of(text_between(source, "set -l with_value \\\n", "set -l words")),
            names_with_value());
  std::set<std::string> helped = names_of_verbs();
  helped.insert("options");
  EXPECT_EQ(words_of(text_between(source, "'__quorum_lock_first help' \\\n    -a '", "'")), helped);
  OptionNames global = names_in_table(global_options());
  global.flags.insert({"--help", "--version"});
  expect_same_names(names_for_fish(source, "not __quorum_lock_in_command"), global, "every verb");
  for (const VerbText& verb : verbs()) {
    expect_same_names(names_for_fish(source, "__quorum_lock_verb " + std::string(verb.name)),
                      names_in_table(verb.options), verb.name);
  }
}

TEST(CliCompletion, KnowsEveryModeOfBench) {
  std::set<std::string> modes;
  for (const BenchMode& mode : bench_modes()) modes.insert(std::string(mode.name));
  EXPECT_EQ(words_of(text_between(completion_source("_quorum-lock"), ":mode:(", ")")), modes);
  const std::string fish = "__quorum_lock_verb bench' -l mode -x -a '";
  EXPECT_EQ(words_of(text_between(completion_source("quorum-lock.fish"), fish, "'")), modes);
  if (!can_complete()) GTEST_SKIP() << "no bash";
  EXPECT_EQ(completions_of({"bench", "--mode", ""}), modes);
}

// The tests do not require these shells.
TEST(CliCompletion, OtherShellsCanReadIt) {
  bool tried = false;
  for (const auto& [shell, file] :
       {std::pair<std::string, std::string>{"zsh", "_quorum-lock"}, {"fish", "quorum-lock.fish"}}) {
    if (test::run_process({"sh", "-c", "command -v " + shell}).exit_code != 0) continue;
    tried = true;
    const test::ProcessResult result =
        test::run_process({shell, "-n", test::pages_folder() + "/../completion/" + file});
    EXPECT_EQ(result.exit_code, 0) << shell << ": " << result.errors;
  }
  if (!tried) GTEST_SKIP() << "neither zsh nor fish";
}

}  // namespace
}  // namespace redlock::cli
