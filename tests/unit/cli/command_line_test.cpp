#include "quorum-lock/command_line.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "quorum-lock/usage_error.hpp"

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;

CommandLine parse(const std::vector<std::string>& words) {
  auto parsed = parse_command_line(words);
  EXPECT_TRUE(std::holds_alternative<CommandLine>(parsed));
  return std::get<CommandLine>(std::move(parsed));
}

TEST(CliCommandLine, TakesGlobalOptionsOnBothSidesOfTheVerb) {
  const CommandLine line = parse(
      {"--nodes", "a,b", "--json", "acquire", "r", "--nodes", "c", "--timeout", "1s", "--ttl=2s"});
  EXPECT_EQ(line.verb->name, "acquire");
  EXPECT_EQ(line.arguments.nodes, (std::vector<std::string>{"a,b", "c"}));
  EXPECT_TRUE(line.arguments.flag("json"));
  EXPECT_EQ(line.arguments.duration("timeout"), 1s);
  EXPECT_EQ(line.arguments.duration("ttl"), 2s);
  EXPECT_EQ(line.arguments.words, std::vector<std::string>{"r"});
}

TEST(CliCommandLine, LeavesTheCommandAlone) {
  const CommandLine line =
      parse({"run", "r", "--ttl", "1s", "--", "acquire", "--help", "--ttl", "--", "x"});
  EXPECT_EQ(line.arguments.words, std::vector<std::string>{"r"});
  EXPECT_EQ(line.arguments.command,
            (std::vector<std::string>{"acquire", "--help", "--ttl", "--", "x"}));
}

TEST(CliCommandLine, TakesAnyResource) {
  for (const std::string resource : {"run", "-", "[a,b]", "with space", "a=b", "é"}) {
    EXPECT_EQ(parse({"inspect", resource}).arguments.words, std::vector<std::string>{resource});
  }
  EXPECT_EQ(parse({"inspect", "--", "--json"}).arguments.words, std::vector<std::string>{"--json"});
}

TEST(CliCommandLine, TakesValuesThatLookLikeOptions) {
  EXPECT_EQ(parse({"release", "r", "--token", "--yes"}).arguments.text("token"), "--yes");
  EXPECT_EQ(parse({"release", "r", "--token", "[x]"}).arguments.text("token"), "[x]");
}

TEST(CliCommandLine, HelpIsAText) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--help"}, {"acquire", "--help"}, {"run", "-h"}, {"--version"}}) {
    EXPECT_TRUE(std::holds_alternative<TextRequest>(parse_command_line(words)));
  }
}

TEST(CliCommandLine, AnOptionWithoutValueOrGivenTwiceIsTold) {
  const auto message_of = [](const std::vector<std::string>& words) {
    try {
      static_cast<void>(parse_command_line(words));
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message_of({"acquire", "r", "--ttl"}), "--ttl: a value must follow");
  EXPECT_EQ(message_of({"acquire", "r", "--ttl", "1s", "--ttl", "2s"}),
            "--ttl: may be given only once");
  EXPECT_EQ(message_of({"--timeout"}), "--timeout: a value must follow");
  EXPECT_EQ(message_of({"acquire", "r", "--nodes"}), "--nodes: a value must follow");
}

}  // namespace
}  // namespace redlock::cli
