#include "quorum-lock/line/command_line.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "common/text/usage_error.hpp"

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

TEST(CliCommandLine, TheSecondWordThatIsNoOptionBeginsTheCommand) {
  const CommandLine line = parse({"--json", "run", "--ttl", "1s", "r", "--wait=0s", "--fencing",
                                  "cmd", "-x", "--ttl", "5", "--help"});
  EXPECT_EQ(line.arguments.words, std::vector<std::string>{"r"});
  EXPECT_EQ(line.arguments.command,
            (std::vector<std::string>{"cmd", "-x", "--ttl", "5", "--help"}));
  EXPECT_EQ(line.arguments.text("ttl"), "1s");
  EXPECT_EQ(line.arguments.text("wait"), "0s");
  EXPECT_TRUE(line.arguments.flag("fencing"));
  EXPECT_TRUE(line.arguments.flag("json"));
}

TEST(CliCommandLine, ElectTakesItsCommandInTheSameWay) {
  const CommandLine line = parse({"elect", "e", "--ttl", "1s", "cmd", "--observe"});
  EXPECT_EQ(line.arguments.words, std::vector<std::string>{"e"});
  EXPECT_EQ(line.arguments.command, (std::vector<std::string>{"cmd", "--observe"}));
  EXPECT_FALSE(line.arguments.flag("observe"));
  EXPECT_TRUE(parse({"elect", "e", "--observe"}).arguments.command.empty());
}

TEST(CliCommandLine, SeveralResourcesNeedTheDashes) {
  const CommandLine line = parse({"run", "a", "b", "--ttl", "1s", "--", "cmd", "--", "x"});
  EXPECT_EQ(line.arguments.words, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(line.arguments.command, (std::vector<std::string>{"cmd", "--", "x"}));
  EXPECT_EQ(parse({"run", "a", "b"}).arguments.command, std::vector<std::string>{"b"});
}

TEST(CliCommandLine, TheValueOfAnOptionIsNoCommand) {
  const CommandLine line = parse({"run", "--owner", "me", "--nodes", "n", "r", "cmd"});
  EXPECT_EQ(line.arguments.words, std::vector<std::string>{"r"});
  EXPECT_EQ(line.arguments.command, std::vector<std::string>{"cmd"});
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
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                {"acquire", "--help"},
                                                {"run", "-h"},
                                                {"run", "r", "--help"},
                                                {"--version"},
                                                {"help"},
                                                {"help", "run"},
                                                {"help", "options"},
                                                {"help", "help"}}) {
    EXPECT_TRUE(std::holds_alternative<TextRequest>(parse_command_line(words)));
  }
}

std::string refusal_of(const std::vector<std::string>& words) {
  try {
    static_cast<void>(parse_command_line(words));
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(CliCommandLine, AnOptionWithoutValueOrGivenTwiceIsRefused) {
  EXPECT_EQ(refusal_of({"acquire", "r", "--ttl"}), "--ttl: a value must follow");
  EXPECT_EQ(refusal_of({"acquire", "r", "--ttl", "1s", "--ttl", "2s"}),
            "--ttl: may be given only once");
  EXPECT_EQ(refusal_of({"--timeout"}), "--timeout: a value must follow");
  EXPECT_EQ(refusal_of({"acquire", "r", "--nodes"}), "--nodes: a value must follow");
}

TEST(CliCommandLine, AFlagCanBeTakenBack) {
  EXPECT_FALSE(parse({"acquire", "r", "--json=false"}).arguments.flag("json"));
  EXPECT_NE(parse({"acquire", "r", "--json=false"}).arguments.find_any("json"), nullptr);
  EXPECT_TRUE(parse({"acquire", "r", "--json=true"}).arguments.flag("json"));
  EXPECT_EQ(refusal_of({"acquire", "r", "--json=maybe"}),
            "--json: 'maybe' is not allowed: true or false");
}

TEST(CliCommandLine, AnUnknownOptionIsRefusedWhereItStands) {
  EXPECT_EQ(refusal_of({"run", "--tll", "1s", "r", "cmd"}),
            "--tll: not an option of run; did you mean --ttl?; see quorum-lock help run");
  EXPECT_EQ(refusal_of({"run", "r", "-z", "cmd"}),
            "-z: not an option of run; see quorum-lock help run");
  EXPECT_EQ(refusal_of({"run", "r", "-x", "cmd"}),
            "-x: not an option of run: leave it out: a lock is exclusive without --shared");
  EXPECT_EQ(refusal_of({"acquire", "r", "--frobnicate"}),
            "--frobnicate: not an option of acquire; see quorum-lock help acquire");
  EXPECT_EQ(refusal_of({"acquire", "r", "--at-least=55m"}),
            "--at-least: not an option of acquire; did you mean --interval?; see quorum-lock help "
            "acquire");
  EXPECT_EQ(refusal_of({"acquire", "r", "--secret=s3cret"}),
            "--secret: not an option of acquire; see quorum-lock help acquire");
  EXPECT_EQ(refusal_of({"--json", "--tiemout=1s", "acquire", "r"}),
            "--tiemout: not a global option; the options of a verb follow it; did you mean "
            "--timeout?");
  EXPECT_EQ(refusal_of({"run", "r", "grep", "-e", "x", "--", "file"}),
            "-e: not an option of run: a COMMAND that has a -- needs another one before it; see "
            "quorum-lock help run");
}

TEST(CliCommandLine, AnUnknownVerbOrTopicIsCorrected) {
  EXPECT_EQ(refusal_of({"acquier", "r"}), "VERB: 'acquier' is not known: did you mean acquire?");
  EXPECT_EQ(refusal_of({"unlock", "r"}), "VERB: 'unlock' is not known: did you mean release?");
  EXPECT_EQ(refusal_of({"ps"}), "VERB: 'ps' is not known: did you mean list?");
  EXPECT_EQ(refusal_of({"help", "optoins"}), "help: 'optoins' is not known: did you mean options?");
  EXPECT_TRUE(
      refusal_of({"help", "x"}).starts_with("help: 'x' is not known: allowed are options, "));
  EXPECT_EQ(refusal_of({"help", "run", "elect"}),
            "help: 'elect' is one too many: one verb, or options, is allowed");
}

}  // namespace
}  // namespace redlock::cli
