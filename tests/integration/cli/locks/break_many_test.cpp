// quorum-lock break with a pattern or --holder.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include "integration/cli/on_nodes.hpp"
#include "support/eventually.hpp"
#include "support/pseudo_terminal.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class CliBreakMany : public CliOnNodes {
 protected:
  static void store(const std::string& resource, const std::string& value = "theirs") {
    for (const RedisServer& node : nodes()) node.command({"SET", resource, value, "PX", "29000"});
  }
  static ProcessResult break_them(Words words) {
    words.insert(words.begin(), "break");
    words.insert(words.end(), {"--yes", "--name", "on call"});
    return tool(std::move(words));
  }
  /// Holds a lock under this name.
  static ChildProcess hold(const std::string& name, const std::string& resource,
                           const Words& options = {}) {
    Words words{"run", resource, "--name", name, "--ttl", "20s"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "sh", "-c", "echo in; cat"});
    ChildProcess holder = start(std::move(words));
    EXPECT_TRUE(holder.wait_for_output("in\n")) << holder.errors();
    return holder;
  }
  static std::unique_ptr<PseudoTerminal> start_on_terminal(Words words) {
    return std::make_unique<PseudoTerminal>(tool_words(with_nodes(std::move(words))),
                                            tool_environment({}), PseudoTerminal::Size{});
  }
  /// The resources that are listed now, with a blank after each.
  static std::string listed() {
    std::string resources;
    const Json list = json_of(tool({"list", "--json"}));
    for (const Json& lock : list["locks"]) {
      resources += lock["resource"].get<std::string>() + " ";
    }
    return resources;
  }
};

class UpToAThousandLocks : public CliBreakMany, public testing::WithParamInterface<int> {};

TEST_P(UpToAThousandLocks, AreListedAndBroken) {
  const int count = GetParam();
  for (const RedisServer& node : nodes()) {
    node.command({"EVAL",
                  "for i = 1, tonumber(ARGV[1]) do "
                  "redis.call('set', 'invoice/' .. i, 'token-' .. i, 'px', 29000) end",
                  "0", std::to_string(count)});
  }
  store("other");
  const ProcessResult result = break_them({"invoice/*"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto locks = static_cast<std::size_t>(count);
  EXPECT_EQ(count_lines(result.output), 1 + 2 * locks + 1) << "a table, what was broken, a sum";
  const std::string number = std::to_string(count);
  EXPECT_THAT(result.output, HasSubstr("broken invoice/" + number + "  token token-" + number));
  EXPECT_THAT(result.output, EndsWith("broken: " + number + " of " + number + "\n"));
  EXPECT_EQ(listed(), "other ");
  const Json audit = json_of(tool({"inspect", "invoice/" + number, "--json"}))["broken"];
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_EQ(audit[0]["token"], "token-" + number);
  EXPECT_EQ(audit[0]["by"], "on call");
}

INSTANTIATE_TEST_SUITE_P(Locks, UpToAThousandLocks, testing::Values(1, 10, 100, 1000));

TEST_F(CliBreakMany, AsksOnceAndLeavesWhatChangedHandsMeanwhile) {
  for (const char* resource : {"a/1", "a/2", "a/3", "a/4"}) store(resource);
  {
    const auto terminal = start_on_terminal({"break", "a/*"});
    ASSERT_TRUE(terminal->wait_for("Break these 4 locks?")) << terminal->output();
    EXPECT_THAT(terminal->output(), HasSubstr("RESOURCE"));
    terminal->type("n\n");
    EXPECT_EQ(terminal->wait(), (ExitStatus{75, 0}));
    EXPECT_THAT(terminal->output(), HasSubstr("4 locks were left as they are"));
  }
  const auto terminal = start_on_terminal({"break", "a/*"});
  ASSERT_TRUE(terminal->wait_for("[y/N]")) << terminal->output();
  store("a/2", "somebody else");
  for (const RedisServer& node : nodes()) node.command({"DEL", "a/3"});
  terminal->type("y\n");
  EXPECT_EQ(terminal->wait(), (ExitStatus{75, 0})) << terminal->output();
  const std::string output = terminal->output();
  EXPECT_THAT(output, HasSubstr("'a/2' was not broken, it changed hands: held by "));
  EXPECT_THAT(output, HasSubstr("a/3 "));
  EXPECT_THAT(output, HasSubstr("released before it was broken"));
  EXPECT_THAT(output, HasSubstr("broken: 2 of 4"));
  EXPECT_EQ(nodes().count_held_by("a/2", "somebody else"), 3U);
  EXPECT_EQ(listed(), "a/2 ");
}

TEST_F(CliBreakMany, AnInterruptionSaysHowManyWereBroken) {
  for (const char* resource : {"a/1", "a/2", "a/3"}) store(resource);
  const auto terminal = start_on_terminal({"break", "a/*", "--timeout", "60s"});
  ASSERT_TRUE(terminal->wait_for("Break these 3 locks?")) << terminal->output();
  nodes()[1].stop();
  nodes()[2].stop();
  terminal->type("y\n");
  EXPECT_TRUE(eventually(
      [&] { return !nodes()[0].get("a/1") && !nodes()[0].get("a/2") && !nodes()[0].get("a/3"); }));
  terminal->signal(SIGINT);
  EXPECT_EQ(terminal->wait(), (ExitStatus{130, 0}));
  EXPECT_THAT(terminal->output(), HasSubstr("interrupted: 0 of 3 locks broken"));
  nodes()[1].resume();
  nodes()[2].resume();
}

TEST_F(CliBreakMany, DoesNotGuessWithoutATerminal) {
  store("a");
  for (const Words& words : {Words{"break", "a*"}, Words{"break", "--holder", "theirs"}}) {
    const ProcessResult result = tool(words);
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_THAT(result.output, HasSubstr("theirs")) << "it shows what it asks about";
    EXPECT_THAT(result.errors, HasSubstr("--yes"));
    EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  }
  EXPECT_EQ(nodes().count_held("a"), 3U);
}

TEST_F(CliBreakMany, WhereNothingMatchesThereIsNothingToDo) {
  store("other");
  ProcessResult result = break_them({"invoice/*"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "no locks match 'invoice/*', nothing to break\n");
  result = break_them({"--holder", "nobody"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "no locks held by 'nobody', nothing to break\n");
  result = break_them({"o*", "--holder", "nobody"});
  EXPECT_EQ(result.output, "no locks match 'o*' and are held by 'nobody', nothing to break\n");
  const Json json = json_of(break_them({"invoice/*", "--json"}));
  EXPECT_EQ(json["outcome"], "free");
  EXPECT_EQ(json["locks"], Json::array());
  EXPECT_EQ(listed(), "other ");
}

TEST_F(CliBreakMany, WhatADeadClientHeldIsFoundByItsName) {
  ChildProcess first = hold("alice", "a");
  ChildProcess second = hold("alice", "b");
  ChildProcess third = hold("bob", "c");
  for (const ChildProcess* dead : {&first, &second}) dead->signal_group(SIGKILL);
  EXPECT_TRUE(first.wait());
  EXPECT_TRUE(second.wait());
  const ProcessResult result = break_them({"--holder", "alice"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("alice"));
  EXPECT_THAT(result.output, EndsWith("broken: 2 of 2\n"));
  EXPECT_EQ(listed(), "c ");
  EXPECT_THAT(break_them({"--holder", "bo?"}).output, EndsWith("broken: 1 of 1\n"));
}

TEST_F(CliBreakMany, ClientsWithoutANameHaveOneWithTheirHost) {
  ChildProcess holder = start({"run", "a", "--ttl", "20s", "--", "sh", "-c", "echo in; cat"});
  ASSERT_TRUE(holder.wait_for_output("in\n"));
  ChildProcess other = hold("bob", "b");
  std::string host(256, '\0');
  ASSERT_EQ(::gethostname(host.data(), host.size()), 0);
  host.resize(host.find('\0'));
  holder.signal(SIGKILL);
  EXPECT_TRUE(holder.wait());
  const ProcessResult result = break_them({"--holder", "*@" + host + ":*"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(listed(), "b ");
}

TEST_F(CliBreakMany, OfALockWithSeveralHoldersOnlyTheHoldsOfThatOne) {
  ChildProcess alice = hold("alice", "index", {"--shared"});
  ChildProcess bob = hold("bob", "index", {"--shared"});
  ChildProcess owner = hold("carol", "ledger", {"--owner", "nightly"});
  const ProcessResult result = break_them({"i*", "--holder", "alice"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("1 reader "));
  const Json left = json_of(tool({"list", "--json"}))["locks"];
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0]["holds"], 1);
  EXPECT_THAT(break_them({"--holder", "nightly"}).output, EndsWith("broken: 1 of 1\n"))
      << "by the name of the owner";
  EXPECT_EQ(listed(), "index ");
}

TEST_F(CliBreakMany, PermitsAreBrokenOneByOne) {
  ChildProcess first = hold("alice", "encoders", {"--permits", "4"});
  ChildProcess second = hold("bob", "encoders", {"--permits", "4"});
  ChildProcess third = hold("bob", "encoders", {"--permits", "4"});
  const auto held = [] { return json_of(tool({"list", "--json"}))["locks"].at(0)["permits_held"]; };
  EXPECT_EQ(held(), 3);
  EXPECT_THAT(break_them({"enc*", "--holder", "alice"}).output, EndsWith("broken: 1 of 1\n"));
  EXPECT_THAT(tool({"list"}).output, HasSubstr("2 permits held"));
  const ProcessResult result = break_them({"enc*"});
  EXPECT_THAT(result.output, HasSubstr("2 permits held"));
  EXPECT_THAT(result.output, EndsWith("broken: 2 of 2\n"));
}

TEST_F(CliBreakMany, APatternOfPermitsLeavesTheOthers) {
  for (const char* permit : {"encoders#0", "encoders#1", "encoders#2"}) store(permit);
  EXPECT_THAT(break_them({"encoders#[01]"}).output, EndsWith("broken: 2 of 2\n"));
  EXPECT_EQ(nodes().count_held("encoders#2"), 3U);
  store("encoders#0");
  store("encoders#9");
  EXPECT_THAT(break_them({"encoders#[29]"}).output, EndsWith("broken: 2 of 2\n"));
  EXPECT_EQ(nodes().count_held("encoders#0"), 3U);
}

TEST_F(CliBreakMany, ABackslashMakesAnAsteriskLiteral) {
  for (const char* resource : {"a*", "ab", "a\\*"}) store(resource);
  const ProcessResult one = break_them({R"(a\*)"});
  EXPECT_EQ(one.exit_code, 0) << one.errors;
  EXPECT_THAT(one.output, HasSubstr("broken a*  token theirs\n"));
  EXPECT_THAT(one.output, Not(HasSubstr("broken: "))) << "as any single resource";
  EXPECT_EQ(listed(), "a\\* ab ");
  EXPECT_THAT(break_them({"ab", "--holder", "theirs"}).output, EndsWith("broken: 1 of 1\n"));
  EXPECT_EQ(listed(), "a\\* ");
}

TEST_F(CliBreakMany, ProgramsGetAnObjectWithEachLock) {
  store("a/1");
  store("a/2", "mine");
  const Json json = json_of(break_them({"a/*", "--holder", "mine", "--json"}));
  EXPECT_EQ(json["outcome"], "released");
  EXPECT_EQ(json["pattern"], "a/*");
  EXPECT_EQ(json["holder"], "mine");
  ASSERT_EQ(json["locks"].size(), 1U);
  EXPECT_EQ(json["locks"][0]["resource"], "a/2");
  EXPECT_EQ(json["locks"][0]["tokens"], Json::parse(R"(["mine"])"));
  EXPECT_EQ(json["locks"][0]["nodes"].size(), 3U);
  const ProcessResult quiet = break_them({"a/*", "--quiet"});
  EXPECT_EQ(quiet.output + quiet.errors, "");
  EXPECT_EQ(quiet.exit_code, 0);
}

TEST_F(CliBreakMany, ADelayIsForEachOfThem) {
  store("a/1");
  store("a/2");
  const ProcessResult result = break_them({"a/*", "--delay", "20s"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(count_lines(result.errors), 1U) << "their leases are longer: " << result.errors;
  for (const char* resource : {"a/1", "a/2"}) {
    EXPECT_THAT(result.output, HasSubstr(std::string("nobody can acquire ") + resource));
    EXPECT_THAT(tool({"acquire", resource}).errors, HasSubstr("broken by on call"));
  }
}

TEST_F(CliBreakMany, GoesOnWithoutAMinorityAndNotWithoutAMajority) {
  store("a/1");
  store("a/2");
  nodes()[2].kill();
  ProcessResult result = break_them({"a/*"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, EndsWith("broken: 2 of 2\n"));
  EXPECT_THAT(result.errors, HasSubstr(nodes()[2].url()));
  nodes()[1].kill();
  result = break_them({"a/*", "--json"});
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_THAT(result.errors, HasSubstr("1 of 3 nodes answered, 2 needed"));
  EXPECT_EQ(json_of(result)["outcome"], "unavailable");
  nodes()[1].start();
  nodes()[2].start();
}

TEST_F(CliBreakMany, RefusesWrongUsageInOneLine) {
  for (const auto& [words, named] :
       std::vector<std::pair<Words, std::string>>{{{"a*", "b"}, "'b'"},
                                                  {{"--holder="}, "--holder"},
                                                  {{}, "RESOURCE"},
                                                  {{"a", "--limit", "5"}, "--limit: only with"},
                                                  {{"a*", "--delay", "1h"}, "--delay"}}) {
    const ProcessResult result = break_them(words);
    EXPECT_EQ(result.exit_code, 64) << named;
    EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(named));
  }
}

}  // namespace
}  // namespace redlock::test
