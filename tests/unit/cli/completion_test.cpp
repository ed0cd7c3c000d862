#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "quorum-lock/verb_table.hpp"
#include "support/process.hpp"
#include "support/programs.hpp"

namespace redlock::cli {
namespace {

const std::string completion_file = test::pages_folder() + "/../completion/quorum-lock.bash";

/// What a shell offers behind these words, the last of which is being written.
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

TEST(CliCompletion, KnowsEveryVerb) {
  if (!can_complete()) GTEST_SKIP() << "no bash";
  std::set<std::string> names;
  for (const VerbText& verb : verbs()) names.emplace(verb.name);
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
  if (!can_complete()) GTEST_SKIP() << "no bash";
  std::ifstream file(completion_file);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string source = text.str();
  const std::size_t begin = source.find("local values=\"") + 14;
  std::istringstream list(source.substr(begin, source.find('"', begin) - begin));
  std::set<std::string> listed;
  for (std::string word; list >> word;) listed.insert(word);
  std::set<std::string> with_value;
  const auto add = [&with_value](std::span<const OptionText> options) {
    for (const OptionText& option : options) {
      if (!option.value.empty()) with_value.insert("--" + std::string(option.name));
    }
  };
  add(global_options());
  for (const VerbText& verb : verbs()) add(verb.options);
  EXPECT_EQ(listed, with_value);
}

TEST(CliCompletion, CompletesTheCommandWithAndWithoutDashes) {
  if (!can_complete()) GTEST_SKIP() << "no bash";
  const std::set<std::string> command = {"mapfile"};
  EXPECT_EQ(completions_of({"run", "r", "mapfil"}), command);
  EXPECT_EQ(completions_of({"run", "--ttl", "1s", "r", "--wait", "=", "0s", "mapfil"}), command);
  EXPECT_EQ(completions_of({"run", "a", "b", "--", "mapfil"}), command);
  EXPECT_EQ(completions_of({"elect", "e", "mapfil"}), command);
  // Behind the command's first word, options are the command's.
  EXPECT_EQ(completions_of({"run", "r", "cmd", "--tt"}), std::set<std::string>{});
  EXPECT_EQ(completions_of({"run", "r", "--tt"}), std::set<std::string>{"--ttl"});
}

}  // namespace
}  // namespace redlock::cli
