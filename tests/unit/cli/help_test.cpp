#include "quorum-lock/line/help.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "common/text/arguments.hpp"
#include "quorum-lock/line/option_kind.hpp"

namespace redlock::cli {
namespace {

bool shows(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_narrow(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

/// No line of prose ends before a word that had room on it.
void expect_filled(const std::string& text) {
  std::istringstream lines(text);
  std::string before;
  for (std::string line; std::getline(lines, line); before = line) {
    const bool prose = !before.empty() && before.front() != ' ' && before.back() != ':' &&
                       !line.empty() && line.front() != ' ';
    if (!prose || before.starts_with("Usage:")) continue;
    EXPECT_GT(before.size() + 1 + line.find(' '), 80U) << before << '\n' << line;
  }
}

TEST(CliHelpText, OfAVerbHasItsPartsAndNoGlobalOptions) {
  for (const VerbText& verb : verbs()) {
    const std::string text = verb_help(verb);
    const std::string name(verb.name);
    EXPECT_TRUE(text.starts_with("Usage: quorum-lock " + name + " ")) << name;
    EXPECT_TRUE(shows(text, "\nExamples:\n")) << name;
    EXPECT_TRUE(shows(text, "\nExit codes:\n  0 ")) << name;
    EXPECT_TRUE(shows(text, "\n  64        ")) << name;
    EXPECT_TRUE(text.ends_with("quorum-lock help options\n")) << name;
    EXPECT_FALSE(shows(text, "  --restart-guard ")) << name;
    EXPECT_FALSE(shows(text, "  --help")) << name;
    for (const OptionText& option : verb.options) {
      EXPECT_TRUE(shows(text, "\n  --" + std::string(option.name))) << option.name;
    }
    expect_narrow(text);
    expect_filled(text);
    EXPECT_EQ(help_about({name}), text);
  }
}

TEST(CliHelpText, OfRunHasALineForEachForm) {
  const std::string text = help_about({"run"});
  EXPECT_TRUE(shows(text,
                    "Usage: quorum-lock run RESOURCE [OPTIONS] COMMAND [ARGUMENT...]\n"
                    "       quorum-lock run RESOURCE... [OPTIONS] -- COMMAND [ARGUMENT...]\n"));
  EXPECT_TRUE(shows(text, "Several resources need --"));
}

TEST(CliHelpText, OfConfigNamesTheOptionsThatAFileCannotHave) {
  std::string listed = help_about({"config"});
  std::replace(listed.begin(), listed.end(), '\n', ' ');
  listed.erase(0, listed.find(" These cannot be in a file: "));
  listed.erase(listed.find('.'));
  const auto expect_listed = [&listed](std::span<const OptionText> options) {
    for (const OptionText& option : options) {
      const std::string name = " " + std::string(option.name);
      EXPECT_EQ(shows(listed + ",", name + ","), !may_have_default(option)) << option.name;
    }
  };
  expect_listed(global_options());
  for (const VerbText& verb : verbs()) expect_listed(verb.options);
}

TEST(CliHelpText, OfTheOptionsHasAllThatEveryVerbTakes) {
  const std::string text = help_about({"options"});
  for (const OptionText& option : global_options()) {
    EXPECT_TRUE(shows(text, "\n  --" + std::string(option.name))) << option.name;
  }
  EXPECT_TRUE(shows(text, "\n  --help"));
  expect_narrow(text);
  expect_filled(text);
}

TEST(CliHelpText, OfTheProgramListsTheVerbs) {
  const std::string text = help_about({});
  EXPECT_EQ(text, program_help());
  std::vector<std::string> shown;
  for (const VerbGroup& group : verb_groups()) {
    for (const VerbLine& line : group.lines) {
      for (const std::string& verb : split_list(line.verbs)) {
        shown.push_back(verb.substr(verb.find_first_not_of(' ')));
      }
    }
  }
  std::sort(shown.begin(), shown.end());
  std::vector<std::string> known = verb_names();
  std::sort(known.begin(), known.end());
  EXPECT_EQ(shown, known);
  EXPECT_TRUE(shows(text, "quorum-lock help options"));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 30);
  expect_narrow(text);
  expect_filled(text);
}

}  // namespace
}  // namespace redlock::cli
