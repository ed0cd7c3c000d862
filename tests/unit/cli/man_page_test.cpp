#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <span>
#include <string>

#include "quorum-lock/line/verb_table.hpp"
#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock::cli {
namespace {

/// Escapes each dash for roff, which can print a plain dash as a hyphen.
std::string in_roff(std::string_view text) {
  std::string out;
  for (const char letter : text) out += letter == '-' ? std::string("\\-") : std::string(1, letter);
  return out;
}

TEST(CliManPage, HasEveryVerbAndEveryOption) {
  const std::string page = test::read_file(test::pages_folder() + "/../man/quorum-lock.1");
  const auto expect_options = [&page](std::span<const OptionText> options) {
    for (const OptionText& option : options) {
      EXPECT_NE(page.find("\\-\\-" + in_roff(option.name)), std::string::npos) << option.name;
    }
  };
  expect_options(global_options());
  for (const VerbText& verb : verbs()) {
    EXPECT_NE(page.find("\n.B quorum-lock " + std::string(verb.name)), std::string::npos)
        << verb.name;
    expect_options(verb.options);
  }
}

std::set<std::string> known_options() {
  std::set<std::string> names = {"help", "version"};
  for (const OptionText& option : global_options()) names.emplace(option.name);
  for (const VerbText& verb : verbs()) {
    for (const OptionText& option : verb.options) names.emplace(option.name);
  }
  return names;
}

/// The first group of every match that is not one of our options.
std::set<std::string> unknown_options(const std::string& text, const std::string& pattern) {
  const std::set<std::string> known = known_options();
  const std::regex expression(pattern);
  std::set<std::string> unknown;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
       ++match) {
    if (!known.contains((*match)[1].str())) unknown.insert((*match)[1].str());
  }
  return unknown;
}

TEST(CliManPage, NamesOnlyOptionsThatExist) {
  std::string page = test::read_file(test::pages_folder() + "/../man/quorum-lock.1");
  page.erase(std::remove(page.begin(), page.end(), '\\'), page.end());
  EXPECT_EQ(unknown_options(page, "\n\\.[BR]+ --([a-z][a-z-]+)"), std::set<std::string>{});
}

TEST(CliPages, NameOnlyOptionsThatExist) {
  for (const char* page : {"CLI.md", "OPERATING.md", "METRICS.md", "../../README.md"}) {
    const std::string text = test::read_file(test::pages_folder() + "/" + page);
    EXPECT_EQ(unknown_options(text, "`--([a-z][a-z-]+)"), std::set<std::string>{}) << page;
  }
}

}  // namespace
}  // namespace redlock::cli
