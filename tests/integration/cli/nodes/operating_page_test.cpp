// The pages for operators are complete: they have every problem of doctor, every alert and every
// outcome, and commands that the tool accepts.

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/cli/tool.hpp"
#include "redlock/deployment.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

constexpr const char* procedures = "/OPERATING.md";
constexpr const char* reference = "/REFERENCE.md";
constexpr const char* teams = "/TEAMS.md";

std::vector<std::string> lines_of(const std::string& name) {
  std::istringstream page(read_file(pages_folder() + name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(page, line);) lines.push_back(line);
  return lines;
}

/// The names in `backquotes` in the first column of the tables of a section of the reference.
std::multiset<std::string> first_column(const std::string& section) {
  std::multiset<std::string> names;
  bool inside = false;
  for (const std::string& line : lines_of(reference)) {
    if (line.starts_with("## ")) inside = line == "## " + section;
    if (!inside || !line.starts_with("| `")) continue;
    names.insert(line.substr(3, line.find('`', 3) - 3));
  }
  return names;
}

TEST(OperatingPage, HasARowForEachProblemThatDoctorFinds) {
  std::multiset<std::string> ids;
  for (int kind = 0;; ++kind) {
    const std::string id(to_string(static_cast<admin::Finding::Kind>(kind)));
    if (id == "unknown") break;
    ids.insert(id);
  }
  EXPECT_GT(ids.size(), 10U);
  EXPECT_EQ(first_column("What doctor finds"), ids);
}

/// The text from `begin` to the end of the line.
std::string word_at(const std::string& text, std::size_t begin) {
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(OperatingPage, HasARowForEachAlert) {
  const std::string rules = read_file(pages_folder() + "/monitoring/alerts.yml");
  const std::string key = "- alert: ";
  const std::string page = read_file(pages_folder() + reference);
  std::multiset<std::string> alerts;
  for (std::size_t at = 0; (at = rules.find(key, at)) != std::string::npos;) {
    at += key.size();
    const std::string alert = word_at(rules, at);
    const std::size_t severity =
        rules.find("severity: ", at) + std::string_view("severity: ").size();
    const std::string row = "| `" + alert + "` | " + word_at(rules, severity) + " |";
    EXPECT_NE(page.find(row), std::string::npos) << row;
    alerts.insert(alert);
  }
  EXPECT_FALSE(alerts.empty());
  EXPECT_EQ(first_column("Alerts"), alerts);
}

TEST(OperatingPage, HasARowForEachOutcomeOfAFailure) {
  std::multiset<std::string> outcomes;
  for (const Errc errc : {Errc::held, Errc::split, Errc::unavailable, Errc::excluded, Errc::expired,
                          Errc::not_holder}) {
    outcomes.emplace(to_string(errc));
  }
  EXPECT_EQ(first_column("Outcomes and exit codes"), outcomes);
}

/// The settings of the page's redis.conf, except the address, as words of a command line.
Words documented_settings() {
  Words words;
  bool inside = false;
  for (const std::string& line : lines_of(procedures)) {
    inside = line.starts_with("bind ") || (inside && !line.starts_with("```"));
    if (!inside || line.starts_with("bind ")) continue;
    const std::size_t blank = line.find(' ');
    const std::string value = line.substr(blank + 1);
    words.push_back("--" + line.substr(0, blank));
    words.push_back(value == "\"\"" ? "" : value);
  }
  return words;
}

TEST(OperatingPage, HasARedisConfThatDoctorFindsNothingWrongWith) {
  const Words settings = documented_settings();
  ASSERT_GT(settings.size(), 8U);
  const NewNodes nodes(3, RedisServerOptions{.arguments = settings});
  const std::vector<std::string> environment = {"QUORUM_LOCK_NODES=" + nodes.joined_urls(),
                                                "QUORUM_LOCK_RESTART_GUARD=30s"};
  const ProcessResult opened = run_tool({"bootstrap"}, {.environment = environment});
  EXPECT_EQ(opened.exit_code, 0) << opened.errors;
  const ProcessResult checked = run_tool({"doctor"}, {.environment = environment});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_NE(checked.output.find("aof everysec"), std::string::npos) << checked.output;
}

/// The words of a command as the shell would make them; comments are left out.
Words words_of(const std::string& command) {
  std::istringstream stream(command.substr(0, command.find("  #")));
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TEST(OperatingPage, NamesCommandsThatTheToolAccepts) {
  const std::string prompt = "$ quorum-lock ";
  int commands = 0;
  std::vector<std::string> lines = lines_of(procedures);
  for (const char* page : {reference, teams}) {
    for (std::string& line : lines_of(page)) lines.push_back(std::move(line));
  }
  for (const std::string& line : lines) {
    if (!line.starts_with(prompt)) continue;
    ++commands;
    Words words = words_of(line.substr(prompt.size()));
    if (words.front() == "break") words.emplace_back("--yes");
    const auto wait = std::find(words.begin(), words.end(), "--wait");
    if (wait != words.end()) {
      *std::next(wait) = "0s";
    } else if (words.front() == "run") {
      words.insert(words.begin() + 1, {"--wait", "0s"});
    }
    // No node answers, so the command does nothing. Wrong words are found before that.
    const ProcessResult result =
        run_tool(words, {.environment = {"QUORUM_LOCK_NODES=127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"}});
    EXPECT_NE(result.exit_code, 64) << line << ": " << result.errors;
  }
  EXPECT_GT(commands, 8);
}

}  // namespace
}  // namespace redlock::test
