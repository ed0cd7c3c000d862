// What the shells offer: quorum-lock says it, and the files in tools/completion ask.

#include "quorum-lock/line/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>
#include <vector>

#include "bench/bench_modes.hpp"
#include "quorum-lock/line/verb_table.hpp"

namespace redlock::cli::completion_test {
namespace {

using Kind = Completion::Kind;
using Names = std::set<std::string>;

Names offered(const std::vector<std::string>& words) {
  const Completion completion = complete(words);
  EXPECT_EQ(completion.kind, Kind::words);
  Names names;
  for (const auto& word : completion.words)
    EXPECT_TRUE(names.insert(word.text).second) << word.text;
  return names;
}

Names names_of_verbs() {
  Names names;
  for (const VerbText& verb : verbs()) names.emplace(verb.name);
  return names;
}

Names dashed(std::span<const OptionText> options) {
  Names names;
  for (const OptionText& option : options) names.insert("--" + std::string(option.name));
  return names;
}

TEST(CliCompletion, OffersVerbs) {
  EXPECT_EQ(offered({""}), names_of_verbs());
  EXPECT_EQ(offered({"--nodes", "a:1,b:2", ""}), names_of_verbs());
  EXPECT_EQ(offered({"--quiet", "--timeout=1s", "be"}), Names{"bench"});
  Names helped = names_of_verbs();
  helped.insert("options");
  EXPECT_EQ(offered({"help", ""}), helped);
  EXPECT_EQ(offered({"config", ""}), Names{"check"});
  EXPECT_EQ(offered({"members", ""}), (Names{"show", "replace", "add", "remove"}));
  EXPECT_EQ(offered({"members", "show", ""}), Names{});
  EXPECT_EQ(offered({"nonsense", ""}), names_of_verbs());
}

TEST(CliCompletion, OffersTheOptionsOfTheVerb) {
  for (const VerbText& verb : verbs()) {
    Names names = dashed(verb.options);
    names.merge(dashed(global_options()));
    names.insert({"--help", "--version"});
    if (verb.name == "run" || verb.name == "elect") names.insert("--");
    EXPECT_EQ(offered({std::string(verb.name), "-"}), names) << verb.name;
  }
  EXPECT_EQ(offered({"run", "r", "--tt"}), Names{"--ttl"});
}

TEST(CliCompletion, OffersValues) {
  Names modes;
  for (const BenchMode& mode : bench_modes()) modes.emplace(mode.name);
  EXPECT_EQ(offered({"bench", "--mode", ""}), modes);
  EXPECT_EQ(offered({"run", "--wait", "f"}), Names{"forever"});
  EXPECT_EQ(offered({"run", "--wait=f"}), Names{"--wait=forever"});
  EXPECT_EQ(offered({"run", "--ttl", "1"}), (Names{"1s", "10s"}));
  EXPECT_EQ(offered({"--restart-guard", ""}), (Names{"off", "30s"}));
  EXPECT_EQ(offered({"--log-level", "w"}), Names{"warning"});
  EXPECT_EQ(offered({"chaos", "--faults", "kill,pa"}), (Names{"kill,pause", "kill,partition"}));
  EXPECT_EQ(offered({"run", "--token", ""}), Names{}) << "no option of run";
  EXPECT_EQ(offered({"release", "r", "--token", ""}), Names{});
  for (const char* option : {"--config", "--password-file", "--cacert", "--cert", "--key"}) {
    EXPECT_EQ(complete({option, ""}).kind, Kind::files) << option;
  }
  EXPECT_EQ(complete({"run", "--metrics-file=x"}).kind, Kind::files);
  EXPECT_EQ(complete({"chaos", "--keep", ""}).kind, Kind::folders);
}

TEST(CliCompletion, LeavesTheCommandToTheShell) {
  const auto command_in = [](const std::vector<std::string>& words) {
    const Completion completion = complete(words);
    return completion.kind == Kind::command ? static_cast<int>(completion.command) : -1;
  };
  EXPECT_EQ(command_in({"run", "r", "ca"}), 2);
  EXPECT_EQ(command_in({"run", "--ttl", "1s", "r", "--wait=0s", "ca"}), 5);
  EXPECT_EQ(command_in({"run", "a", "b", "--", "ca"}), 4);
  EXPECT_EQ(command_in({"run", "r", "cmd", "--tt"}), 2) << "its options are its own";
  EXPECT_EQ(command_in({"elect", "e", "ca"}), 2);
  EXPECT_EQ(command_in({"elect", "e", "--ca"}), -1);
  EXPECT_EQ(command_in({"acquire", "a", "b", "c"}), -1);
}

TEST(CliCompletion, DescribesInAFewWords) {
  for (const auto& word : complete({"run", "-"}).words) {
    EXPECT_THAT(word.description, testing::Not(testing::IsEmpty())) << word.text;
    EXPECT_LE(word.description.size(), 120U) << word.text;
  }
  EXPECT_EQ(as_lines(complete({"run", "--tt"})), "words\n--ttl\tHow long a crash blocks others\n");
  EXPECT_EQ(as_lines(complete({"run", "r", ""})), "command 2\n");
  EXPECT_EQ(as_lines(complete({"--config", ""})), "files\n");
}

}  // namespace
}  // namespace redlock::cli::completion_test
