// list: the table, the JSON, the exit codes. top_test.cpp has what needs a terminal.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>
#include <string>

#include "integration/cli/on_nodes.hpp"
#include "integration/library.hpp"

namespace redlock::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class CliList : public CliOnNodes {
 protected:
  static void store(const std::string& resource, const std::string& token = "token") {
    for (const RedisServer& node : nodes()) {
      node.command({"SET", resource, token, "PX", "29000"});
    }
  }
};

TEST_F(CliList, IsATableSortedByResource) {
  store("b", std::string(40, 'a') + ":backup");
  store("a");
  const ProcessResult result = tool({"list"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(result.output, MatchesRegex("RESOURCE +KIND +STATE +HOLDER +LEFT +WAITERS +NODES\n"
                                          "a +exclusive +held +token +[0-9.]+ s +- +3/3\n"
                                          "b +exclusive +held +backup +[0-9.]+ s +- +3/3\n"));
  EXPECT_EQ(count_lines(tool({"list", "--quiet"}).output), 2U) << "no titles";
}

TEST_F(CliList, NamesTheHolders) {
  EXPECT_EQ(tool({"acquire", "job", "--ttl", "20s", "--name", "teller-7"}).exit_code, 0);
  // The name follows the lock by a moment.
  EXPECT_TRUE(eventually([&] {
    return json_of(tool({"list", "--json"}))["locks"][0]["holder_name"] == "teller-7";
  }));
  EXPECT_THAT(tool({"list"}).output, testing::HasSubstr("held   teller-7"));
  const ProcessResult refused = tool({"acquire", "free", "job"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_THAT(refused.errors, testing::HasSubstr("'job' is held by teller-7 (exclusive, "));
}

TEST_F(CliList, SaysThatThereIsNothing) {
  EXPECT_EQ(tool({"list"}).output, "no locks\n");
  EXPECT_EQ(tool({"list", "--quiet"}).output, "");
  EXPECT_EQ(json_of(tool({"list", "--json"}))["locks"], Json::array());
}

TEST_F(CliList, ShowsWhatRunAndAcquireHold) {
  EXPECT_EQ(tool({"acquire", "job", "--ttl", "20s"}).exit_code, 0);
  ChildProcess permit = start_tool(
      with_nodes({"run", "encoders", "--permits", "3", "--", "sh", "-c", "echo in; read line"}));
  EXPECT_TRUE(permit.wait_for_output("in\n"));
  const Json json = json_of(tool({"list", "--json"}));
  EXPECT_EQ(json["complete"], true);
  ASSERT_EQ(json["locks"].size(), 2U);
  EXPECT_EQ(json["locks"][0]["resource"], "encoders");
  EXPECT_EQ(json["locks"][0]["kind"], "semaphore");
  EXPECT_EQ(json["locks"][0]["permits_held"], 1);
  EXPECT_EQ(json["locks"][1]["resource"], "job");
  EXPECT_EQ(json["locks"][1]["state"], "held");
  EXPECT_GT(json["locks"][1]["remaining_ms"], 0);
}

TEST_F(CliList, TakesAPattern) {
  store("app:1");
  store("-dash");
  const Json json = json_of(tool({"list", "app:*", "--json"}));
  ASSERT_EQ(json["locks"].size(), 1U);
  EXPECT_EQ(json["locks"][0]["resource"], "app:1");
  EXPECT_EQ(json_of(tool({"list", "--json", "--", "-d*"}))["locks"].size(), 1U);
}

TEST_F(CliList, SaysWhereItStopped) {
  for (const RedisServer& node : nodes()) {
    node.command({"EVAL", "for i = 1, 2000 do redis.call('set', 'data:' .. i, i) end", "0"});
  }
  const ProcessResult result = tool({"list", "--limit", "500", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(count_lines(result.errors), 3U) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("ends after 500 keys; see --limit"));
  const Json json = json_of(tool({"list", "--limit", "500", "--json"}));
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["nodes"][0]["complete"], false);
  EXPECT_EQ(json_of(tool({"list", "--limit", "5000", "--json"}))["complete"], true);
  const ProcessResult logged = tool({"list", "--limit", "500", "--json", "--verbose"});
  EXPECT_THAT(logged.errors, HasSubstr("ends after 500 keys"));
  EXPECT_THAT(logged.errors, HasSubstr(R"("level":"warning")"));
  EXPECT_THAT(logged.errors, Not(HasSubstr(R"("level":"error")")));
}

TEST_F(CliList, GoesOnWithoutAMinority) {
  store("r");
  nodes()[2].kill();
  const ProcessResult result = tool({"list"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("2/3"));
  EXPECT_THAT(result.errors, HasSubstr(nodes()[2].url()));
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;

  nodes()[1].kill();
  const ProcessResult failed = tool({"list", "--json"});
  EXPECT_EQ(failed.exit_code, 69);
  EXPECT_THAT(failed.errors, HasSubstr("1 of 3 nodes answered, 2 needed"));
  EXPECT_EQ(json_of(failed)["complete"], false);
  nodes()[1].start();
  nodes()[2].start();
}

TEST_F(CliList, KnowsTheMembersThatTheListLacks) {
  store("r");
  ASSERT_EQ(tool({"acquire", "other", "--ttl", "1s"}).exit_code, 0) << "a client opens the nodes";
  const std::string two = nodes()[0].url() + "," + nodes()[1].url();
  const ProcessResult some = run_tool({"list", "--json", "--nodes", two});
  EXPECT_EQ(some.exit_code, 0) << some.errors;
  EXPECT_EQ(json_of(some)["nodes"].size(), 3U);
  EXPECT_THAT(some.errors, HasSubstr(nodes()[2].url() + ": it is one of the 3 members"));

  const ProcessResult one = run_tool({"list", "--nodes", nodes()[0].url()});
  EXPECT_EQ(one.exit_code, 69);
  EXPECT_THAT(one.errors, HasSubstr("1 of 3 nodes answered, 2 needed"));
}

TEST_F(CliList, DoesNotSayThatThereAreNoLocksIfTooFewNodesAnswer) {
  nodes()[1].kill();
  nodes()[2].kill();
  const ProcessResult list = tool({"list"});
  EXPECT_EQ(list.exit_code, 69);
  EXPECT_EQ(list.output, "");
  EXPECT_THAT(list.errors, HasSubstr(nodes()[1].url() + ", " + nodes()[2].url() + ": "));
  EXPECT_EQ(count_lines(list.errors), 1U) << list.errors;
  const ProcessResult inspect = tool({"inspect", "r"});
  EXPECT_EQ(inspect.exit_code, 69);
  EXPECT_THAT(inspect.errors, HasSubstr(nodes()[1].url() + ", " + nodes()[2].url() + ": "));
  nodes()[1].start();
  nodes()[2].start();
}

TEST_F(CliList, WatchesInLines) {
  store("first");
  ChildProcess child = start_tool(with_nodes({"list", "--watch", "--json"}));
  EXPECT_TRUE(child.wait_for_output("first"));
  store("second");
  EXPECT_TRUE(child.wait_for_output("second"));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), (ExitStatus{143, 0}));
  std::istringstream lines(child.output());
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(Json::parse(line, nullptr, false).is_object()) << line;
  }
  EXPECT_GE(count, 2U);
}

TEST_F(CliList, WatchesInTablesAndNamesAnOutageOnce) {
  store("first");
  ChildProcess child = start_tool(with_nodes({"list", "--watch"}));
  EXPECT_TRUE(child.wait_for_output("3/3\n\nRESOURCE"));
  nodes()[2].kill();
  EXPECT_TRUE(child.wait_for_errors(nodes()[2].url()));
  EXPECT_TRUE(child.wait_for_output("2/3\n\nRESOURCE"));
  nodes()[2].start();
  store("last");
  EXPECT_TRUE(child.wait_for_output("last"));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), (ExitStatus{130, 0}));
  EXPECT_EQ(count_lines(child.errors()), 1U) << child.errors();
  EXPECT_THAT(child.output(), Not(HasSubstr("\x1b")));
}

TEST_F(CliList, RefusesWrongUsageInOneLine) {
  for (const auto& [words, named] : std::vector<std::pair<Words, std::string>>{
           {{"list", "a", "b"}, "PATTERN: 'b' is one too many"},
           {{"list", ""}, "PATTERN: has 0 bytes"},
           {{"list", "--limit", "0"}, "--limit"},
           {{"list", "--limit", "many"}, "--limit"},
           {{"list", "--ttl", "1s"}, "--ttl"},
           {{"top"}, "standard output is not a terminal"},
           {{"top", "--json"}, "--json"},
           {{"top", "a", "b"}, "PATTERN"}}) {
    const ProcessResult result = tool(words);
    EXPECT_EQ(result.exit_code, 64) << named;
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(named));
  }
}

}  // namespace
}  // namespace redlock::test
