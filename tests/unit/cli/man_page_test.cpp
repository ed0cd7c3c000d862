#include "quorum-lock/line/man_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>

#include "quorum-lock/line/help.hpp"
#include "quorum-lock/line/verb_table.hpp"
#include "redlock/version.hpp"
#include "support/process.hpp"
#include "support/programs.hpp"
#include "support/temp_dir.hpp"

namespace redlock::cli {
namespace {

/// From the heading to the next one of its level, or of a higher level.
std::string section(const std::string& page, const std::string& heading) {
  const std::size_t begin = page.find("\n" + heading + "\n");
  EXPECT_NE(begin, std::string::npos) << heading;
  if (begin == std::string::npos) return {};
  std::size_t end = page.find("\n.SH ", begin + 1);
  if (heading.starts_with(".SS")) end = std::min(end, page.find("\n.SS ", begin + 1));
  return page.substr(begin, end - begin);
}

std::string tag(const OptionText& option) {
  return "\n.TP\n\\fB\\-\\-" + in_roff(option.name) + "\\fR";
}

TEST(CliManPage, EscapesWhatRoffWouldRead) {
  EXPECT_EQ(in_roff("run -- --ttl"), "run \\-\\- \\-\\-ttl");
  EXPECT_EQ(in_roff(".so file\n.jobs[] a.b"), "\\&.so file\n\\&.jobs[] a.b");
  EXPECT_EQ(in_roff("'r' is held\n'r'"), "\\(aqr\\(aq is held\n\\(aqr\\(aq");
  EXPECT_EQ(in_roff("break 'a\\*'"), "break \\(aqa\\e*\\(aq");
  EXPECT_EQ(in_roff("a^b ~c `d` \"$e\""), "a\\(hab \\(tic \\(gad\\(ga \\(dq$e\\(dq");
  EXPECT_EQ(in_roff(""), "");
}

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

TEST(CliManPage, HasEveryVerbAndEveryOption) {
  const std::string page = man_page();
  const std::string synopsis = section(page, ".SH SYNOPSIS");
  const std::string exit_status = section(page, ".SH EXIT STATUS");
  for (const VerbText& verb : verbs()) {
    const std::string name(verb.name);
    EXPECT_NE(synopsis.find("\n.SY \"quorum\\-lock " + name + "\"\n"), std::string::npos) << name;
    const std::string own = section(page, ".SS " + name);
    const std::size_t examples = own.find("\nExamples:\n.EX\n");
    EXPECT_NE(examples, std::string::npos) << name;
    EXPECT_NE(own.find("quorum\\-lock " + name, examples), std::string::npos) << name;
    const std::size_t codes = own.find("\nExit codes: 0,");
    EXPECT_NE(codes, std::string::npos) << name;
    const std::string line = own.substr(codes + 1, own.find('\n', codes + 1) - codes - 1) + ',';
    for (const ExitText& each : with_common_exits(verb.exits)) {
      const std::string code(each.code);
      const std::string meaning = in_roff(each.meaning);
      EXPECT_NE(line.find(' ' + code + ','), std::string::npos) << name << ' ' << code;
      EXPECT_NE(on_one_line(own + exit_status).find(meaning), std::string::npos) << name << meaning;
    }
    for (const OptionText& option : verb.options) {
      EXPECT_NE(own.find(tag(option)), std::string::npos) << name << ' ' << option.name;
    }
  }
  const std::string globals = section(page, ".SH GLOBAL OPTIONS");
  for (const OptionText& option : global_options()) {
    EXPECT_NE(globals.find(tag(option)), std::string::npos) << option.name;
  }
  for (const VariableText& each : variables()) {
    EXPECT_NE(section(page, ".SH ENVIRONMENT").find(each.names), std::string::npos) << each.names;
  }
  for (const ExitText& each : program_exits()) {
    EXPECT_NE(exit_status.find("\\fB" + std::string(each.code) + "\\fR"), std::string::npos)
        << each.code;
  }
}

TEST(CliManPage, ExplainsAnExitCodeOfSeveralVerbsOnce) {
  EXPECT_EQ(section(man_page(), ".SS extend").find("\\fB69\\fR"), std::string::npos);
  EXPECT_NE(section(man_page(), ".SS list").find("\\fB69\\fR"), std::string::npos);
}

TEST(CliManPage, HasTheVersionOfTheLibrary) {
  EXPECT_NE(man_page().find("\"redlock " + std::string(library_version()) + "\""),
            std::string::npos);
}

TEST(CliManPage, ExamplesEndBeforeTheNextParagraph) {
  std::istringstream lines(man_page());
  bool example = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == ".EX" || line == ".EE") {
      EXPECT_EQ(example, line == ".EE");
      example = line == ".EX";
    } else {
      EXPECT_EQ(example, line.starts_with(' ')) << line;
    }
    EXPECT_FALSE(line.empty());
  }
  EXPECT_FALSE(example);
}

TEST(CliManPage, IsWhatTheProgramPrints) {
  const std::string program = test::quorum_lock_program();
  if (program.empty()) GTEST_SKIP() << "quorum-lock is not built here";
  const test::ProcessResult result = test::run_process({program, std::string(man_page_verb)});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, man_page());
}

TEST(CliManPage, ReadersOfRoffFindNoMistake) {
  const test::TempDir folder;
  const std::string path = folder.write("quorum-lock.1", man_page());
  // 77: neither is installed.
  const test::ProcessResult result = test::run_process(
      {"sh", "-c",
       "if command -v groff >/dev/null; then groff -k -man -Tutf8 -ww -z \"$0\" 2>&1\n"
       "elif command -v mandoc >/dev/null; then mandoc -Tlint -Werror \"$0\"\n"
       "else exit 77; fi",
       path});
  if (result.exit_code == 77) GTEST_SKIP() << "groff and mandoc are not installed";
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "");
}

using Names = std::set<std::string>;

Names known_options() {
  Names names = {"help", "version"};
  for (const OptionText& option : global_options()) names.emplace(option.name);
  for (const VerbText& verb : verbs()) {
    for (const OptionText& option : verb.options) names.emplace(option.name);
  }
  return names;
}

/// The first group of every match that is not one of our options.
Names unknown_options(const std::string& text, const std::string& pattern) {
  static const Names known = known_options();
  const std::regex expression(pattern);
  Names unknown;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
       ++match) {
    std::string name = (*match)[1].str();
    name.erase(std::remove(name.begin(), name.end(), '\\'), name.end());
    if (!known.contains(name)) unknown.insert(name);
  }
  return unknown;
}

TEST(CliManPage, NamesOnlyOptionsThatExist) {
  const std::string page = man_page();
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    // Examples, which are indented, also have options of other programs.
    if (line.starts_with(' ')) continue;
    EXPECT_EQ(unknown_options(line, R"(\\-\\-([a-z](?:[a-z]|\\-)+))"), Names{}) << line;
  }
}

TEST(CliPages, NameOnlyOptionsThatExist) {
  for (const char* page :
       {"CLI.md", "OPERATING.md", "REFERENCE.md", "TEAMS.md", "METRICS.md", "../../README.md"}) {
    const std::string text = test::read_file(test::pages_folder() + "/" + page);
    EXPECT_EQ(unknown_options(text, "`--([a-z][a-z-]+)"), Names{}) << page;
  }
}

}  // namespace
}  // namespace redlock::cli
