// The first screens of README.md, typed as they are: on new servers, with nothing set but the
// nodes, by commands that each meet the nodes for the first time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "integration/cli/tool.hpp"
#include "support/pseudo_terminal.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// The commands of the first block of "From the shell", without their explanations.
std::vector<std::string> commands_of_readme() {
  const std::string text = read_file(readme());
  std::istringstream block(text.substr(text.find("## From the shell")));
  std::vector<std::string> commands;
  int fences = 0;
  for (std::string line; fences < 2 && std::getline(block, line);) {
    if (line.starts_with("```")) ++fences;
    if (line.starts_with("$ ")) commands.push_back(line.substr(2, line.find(" # ") - 2));
  }
  return commands;
}

class FirstScreens : public testing::TestWithParam<std::size_t> {
 protected:
  /// Runs a line in a shell, in a folder with the commands of the page, each of which ends at once.
  ProcessResult type(const std::string& line) const {
    return run_process({"sh", "-c", line}, {.environment = environment(), .directory = folder()});
  }
  std::string said(const std::string& line) const {
    const ProcessResult result = type(line);
    EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.output << result.errors;
    return result.output;
  }
  [[nodiscard]] std::size_t nodes_with_more_than_20_s(const std::string& resource) {
    return static_cast<std::size_t>(
        std::count_if(nodes_.begin(), nodes_.end(),
                      [&](const RedisServer& node) { return node.pttl(resource) > 20'000; }));
  }
  [[nodiscard]] std::vector<std::string> environment() const {
    const std::string tools = std::filesystem::path(quorum_lock_program()).parent_path().string();
    return tool_environment(
        {"QUORUM_LOCK_NODES=" + nodes_.joined_urls(), "PATH=" + tools + ":" + std::getenv("PATH")});
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

  NewNodes nodes_{GetParam()};

 private:
  static TempDir folder_with_commands() {
    TempDir folder;
    for (const char* name : {"report.sh", "transfer.sh", "encode.sh", "scheduler"}) {
      std::filesystem::permissions(folder.write(name, "#!/bin/sh\necho ran\n"),
                                   std::filesystem::perms::owner_all);
    }
    return folder;
  }

  TempDir folder_ = folder_with_commands();
};

TEST_P(FirstScreens, AreTypedAsTheyStand) {
  std::string token;  // the value of the variable in the reader's shell
  bool opened = false;
  for (const std::string& line : commands_of_readme()) {
    SCOPED_TRACE(line);
    if (line.starts_with("export ")) continue;  // here it names these nodes
    if (line.find("quorum-lock top") == 0) {
      PseudoTerminal terminal(tool_words({"top"}), environment(), {});
      EXPECT_TRUE(terminal.wait_for(nodes_[0].short_url())) << terminal.output();
      terminal.type("q");
      EXPECT_EQ(terminal.wait(), (ExitStatus{0, 0}));
      continue;
    }
    const std::string assigned = "token=$(";
    const bool assigns = line.starts_with(assigned);
    const std::string printed = assigns ? "\necho \"$token\"" : "";
    const ProcessResult result = type("token=" + token + "\n" + line + printed);
    // doctor finds something on nodes that were started a moment ago.
    const bool finds = line.find("quorum-lock doctor") == 0 && !opened;
    EXPECT_EQ(result.exit_code, finds ? 1 : 0) << result.output << result.errors;
    if (finds) {
      EXPECT_THAT(result.output, HasSubstr("quorum-lock bootstrap"));
    }
    if (assigns) token = result.output.substr(0, result.output.find('\n'));
    if (line.find("quorum-lock bootstrap") == 0) opened = true;
    for (const char* command : {"./report.sh", "./transfer.sh", "./encode.sh", "./scheduler"}) {
      if (line.find(command) == std::string::npos) continue;
      EXPECT_THAT(result.output, HasSubstr("ran\n"));
    }
  }
  EXPECT_TRUE(opened);
  EXPECT_EQ(token.size(), 40U);
}

TEST_P(FirstScreens, ALockIsAcquiredExtendedSeenAndReleasedByItsToken) {
  said("quorum-lock bootstrap");
  const std::string found = said("quorum-lock doctor");
  EXPECT_THAT(found, HasSubstr("all is well")) << found;
  std::string token = said("quorum-lock acquire invoice/42 --ttl 20s --quiet");
  ASSERT_EQ(token.size(), 41U) << token;
  token.pop_back();
  EXPECT_EQ(type("quorum-lock acquire invoice/42").exit_code, 75);
  EXPECT_THAT(said("quorum-lock list"), HasSubstr("invoice/42"));
  EXPECT_THAT(said("quorum-lock inspect invoice/42"), HasSubstr(token));
  said("quorum-lock extend invoice/42 --ttl 30s --token " + token);
  EXPECT_GT(2 * nodes_with_more_than_20_s("invoice/42"), nodes_.size());
  said("quorum-lock release invoice/42 --token " + token);
  EXPECT_EQ(type("quorum-lock release invoice/42 --token " + token).exit_code, 76);
  EXPECT_EQ(type("quorum-lock extend invoice/42 --ttl 30s --token " + token).exit_code, 76);
  EXPECT_EQ(type("quorum-lock inspect invoice/42").exit_code, 0);
  EXPECT_THAT(said("quorum-lock run invoice/42 -- echo ran"), HasSubstr("ran\n"));
  EXPECT_THAT(said("quorum-lock elect leader -- echo led"), HasSubstr("led\n"));
}

TEST_P(FirstScreens, ALockIsBrokenAndGivenToTheNext) {
  said("quorum-lock bootstrap");
  const std::string token = said("quorum-lock acquire invoice/42 --ttl 30s --quiet");
  EXPECT_THAT(said("quorum-lock break invoice/42 --yes"), HasSubstr("invoice/42"));
  EXPECT_THAT(said("quorum-lock acquire invoice/42 --ttl 30s --quiet --wait 20s"),
              testing::Not(token));
}

TEST_P(FirstScreens, EveryKindIsExtendedAndReleasedByItsToken) {
  said("quorum-lock bootstrap");
  // The arguments of acquire, and those for its token.
  const std::vector<std::pair<std::string, std::string>> kinds{
      {"reports --shared", "reports"},
      {"rights --owner me", "rights"},
      {"slots --permits 4", "slots --permits 4"},
      {"a b c", "a b c"},
      {"hourly --interval 1h", "hourly"}};
  for (const auto& [kind, what] : kinds) {
    SCOPED_TRACE(kind);
    const std::string acquired = said("quorum-lock acquire " + kind + " --ttl 20s --json");
    const Json lease = Json::parse(acquired, nullptr, false);
    ASSERT_TRUE(lease.is_object()) << acquired;
    const std::string by_token = " " + what + " --token " + lease.value("token", "");
    said("quorum-lock extend --ttl 30s" + by_token);
    said("quorum-lock release" + by_token);
    EXPECT_EQ(type("quorum-lock extend --ttl 30s" + by_token).exit_code, 76);
  }
}

INSTANTIATE_TEST_SUITE_P(Three, FirstScreens, testing::Values(3));
INSTANTIATE_TEST_SUITE_P(OneAndFive, FirstScreens, testing::Values(1, 5));

}  // namespace
}  // namespace redlock::test
