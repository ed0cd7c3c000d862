// doctor and bootstrap: output, JSON and exit codes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>

#include "integration/cli/tool.hpp"
#include "integration/deployment.hpp"
#include "support/pseudo_terminal.hpp"

namespace redlock::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The time limit does not matter to these tests, and a stalled machine must not reach it.
ProcessResult tool(Words words, const std::string& nodes) {
  words.insert(words.end(), {"--timeout", "20s", "--nodes", nodes});
  return run_tool(std::move(words));
}

TEST(CliDoctor, TellsPeopleThatAllIsWell) {
  NewNodes nodes(3);
  const ProcessResult before = tool({"doctor"}, nodes.joined_urls());
  EXPECT_EQ(before.exit_code, 1) << before.errors;
  EXPECT_THAT(before.output, HasSubstr("not-bootstrapped"));
  EXPECT_THAT(before.output, HasSubstr("  new\n"));
  ASSERT_EQ(tool({"bootstrap"}, nodes.joined_urls()).exit_code, 0);
  const ProcessResult result = tool({"doctor"}, nodes.joined_urls());
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(result.output, HasSubstr("all is well\n"));
  EXPECT_THAT(result.output, HasSubstr("member"));
  for (const RedisServer& node : nodes) EXPECT_THAT(result.output, HasSubstr(node.url()));
  EXPECT_THAT(result.output, Not(HasSubstr("\x1b"))) << "colours into a pipe";
}

TEST(CliDoctor, SaysWhichMemberANodeIsThatTheListNamesOtherwise) {
  NewNodes nodes(3);
  ASSERT_EQ(tool({"bootstrap"}, nodes.joined_urls()).exit_code, 0);
  const std::string names = by_name(nodes[0]) + ',' + by_name(nodes[1]) + ',' + by_name(nodes[2]);
  const std::string as_member = "member as " + nodes[0].url();
  const ProcessResult doctor = tool({"doctor"}, names);
  EXPECT_EQ(doctor.exit_code, 0) << doctor.output;
  EXPECT_THAT(doctor.output, HasSubstr(as_member));
  EXPECT_THAT(doctor.output, Not(HasSubstr("removed")));
  const ProcessResult members = tool({"members"}, names);
  EXPECT_EQ(members.exit_code, 0) << members.errors;
  EXPECT_THAT(members.output, HasSubstr(by_name(nodes[0]) + "  " + as_member));
  EXPECT_THAT(members.output, HasSubstr("3 members"));
  const Json json = json_of(tool({"members", "--json"}, names));
  for (const Json& node : json.at("nodes")) {
    EXPECT_THAT(node.value("url", ""), HasSubstr("localhost"));
    EXPECT_THAT(node.value("member", ""), HasSubstr("127.0.0.1"));
  }
}

TEST(CliDoctor, SaysInJsonWhatScriptsRelyOn) {
  NewNodes nodes(2);
  ASSERT_EQ(tool({"bootstrap"}, nodes.joined_urls()).exit_code, 0);
  const ProcessResult result = tool({"doctor", "--json"}, nodes.joined_urls());
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("verdict", ""), "ok");
  EXPECT_TRUE(json.at("problems").empty());
  ASSERT_EQ(json.at("nodes").size(), 2U);
  const Json& node = json.at("nodes").at(0);
  EXPECT_EQ(node.value("url", ""), nodes[0].url());
  EXPECT_TRUE(node.value("reachable", false));
  EXPECT_TRUE(node.at("rtt_us").is_number_integer());
  EXPECT_TRUE(node.at("version").is_string());
  EXPECT_EQ(node.value("role", ""), "master");
  EXPECT_EQ(node.value("run_id", ""), run_id_of(nodes[0]));
  EXPECT_EQ(node.value("maxmemory_policy", ""), "noeviction");
  EXPECT_FALSE(node.value("cluster", true));
  EXPECT_TRUE(node.at("clock_offset_ms").is_number_integer());
  EXPECT_EQ(node.value("quarantine_ms", -1), 0);
  EXPECT_EQ(node.value("membership", ""), "member");
  EXPECT_EQ(node.value("replicas", -1), 0);
}

TEST(CliDoctor, ExitsWith1AndTellsWhatIsWrongAndHowToMendIt) {
  NewNodes nodes(2);
  const RedisServer evicting({.arguments = {"--maxmemory-policy", "allkeys-lru"}});
  const std::string urls = nodes.joined_urls() + "," + evicting.url();
  for (const RedisServer* node : std::initializer_list<const RedisServer*>{&nodes[0], &evicting}) {
    node->command({"SET", marker_key,
                   marker_of(*node,
                             {node->url(), nodes[1].url(),
                              node == &evicting ? nodes[0].url() : evicting.url()},
                             std::chrono::seconds(30))});
  }
  nodes[1].kill();
  const ProcessResult text = tool({"doctor"}, urls);
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.output, HasSubstr("2 problems; 1 of 3 nodes has a vote, 2 are needed\n"));
  EXPECT_THAT(text.output, HasSubstr("unreachable  " + nodes[1].url()));
  EXPECT_THAT(text.output, HasSubstr("evicting  " + evicting.url()));
  EXPECT_THAT(text.output, HasSubstr("CONFIG SET maxmemory-policy noeviction"));

  const ProcessResult result = tool({"doctor", "--json"}, urls);
  EXPECT_EQ(result.exit_code, 1);
  const Json json = json_of(result);
  EXPECT_EQ(json.value("verdict", ""), "problems");
  ASSERT_EQ(json.at("problems").size(), 2U);
  const Json& problem = json.at("problems").at(1);
  EXPECT_EQ(problem.value("node", ""), evicting.url());
  EXPECT_EQ(problem.value("id", ""), "evicting");
  for (const char* field : {"what", "why", "remedy"}) EXPECT_NE(problem.value(field, ""), "");
  const Json& dead = json.at("nodes").at(1);
  EXPECT_FALSE(dead.value("reachable", true));
  EXPECT_TRUE(dead.at("version").is_null());
  EXPECT_NE(dead.value("message", ""), "");
}

TEST(CliDoctor, TellsOnlyWhatIsWrongWhenQuiet) {
  NewNodes nodes(3);
  ASSERT_EQ(tool({"bootstrap"}, nodes.joined_urls()).exit_code, 0);
  EXPECT_EQ(tool({"doctor", "--quiet"}, nodes.joined_urls()).output, "");
  nodes[1].kill();
  const ProcessResult result = tool({"doctor", "--quiet"}, nodes.joined_urls());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr(nodes[1].url()));
  EXPECT_THAT(result.output, Not(HasSubstr(nodes[0].url())));
}

TEST(CliDoctor, TellsHowLongAQuarantineLasts) {
  const RedisServer server;
  quarantine_by_hand(server, 1);
  const ProcessResult result = tool({"doctor", "--json"}, server.url());
  EXPECT_EQ(result.exit_code, 1);
  const Json json = json_of(result);
  EXPECT_GT(json.at("nodes").at(0).value("quarantine_ms", 0), 0);
  EXPECT_LE(json.at("nodes").at(0).value("quarantine_ms", 0), 600000);
  EXPECT_EQ(json.at("problems").at(0).value("id", ""), "quarantined");
}

TEST(CliDoctor, OfOneServerTwiceIsWrongUsage) {
  const ProcessResult result = tool({"doctor"}, "a:1,a:1");
  EXPECT_EQ(result.exit_code, 64);
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
}

TEST(CliBootstrap, OpensADeploymentThatTheDoctorThenCallsWell) {
  NewNodes nodes(3);
  for (const RedisServer& node : nodes) blank_by_hand(node);
  const ProcessResult result = tool({"bootstrap", "--json"}, nodes.joined_urls());
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("outcome", ""), "opened");
  ASSERT_EQ(json.at("nodes").size(), 3U);
  EXPECT_EQ(json.at("nodes").at(2).value("url", ""), nodes[2].url());
  EXPECT_EQ(json.at("nodes").at(2).value("run_id", ""), run_id_of(nodes[2]));

  const ProcessResult doctor = tool({"doctor"}, nodes.joined_urls());
  EXPECT_EQ(doctor.exit_code, 0) << doctor.output;
  EXPECT_THAT(doctor.output, HasSubstr("member"));
}

TEST(CliBootstrap, NamesEveryNodeThatItMisses) {
  NewNodes nodes(5);
  nodes[1].kill();
  nodes[4].kill();
  const ProcessResult refused = tool({"bootstrap"}, nodes.joined_urls());
  EXPECT_EQ(refused.exit_code, 69);
  // Members are in the order of their names.
  const auto [first, second] = std::minmax({nodes[1].url(), nodes[4].url()});
  EXPECT_EQ(refused.errors, "quorum-lock: not opened, nothing was changed: " + first + ", " +
                                second + ": cannot be asked: connection refused\n");
  const ProcessResult doctor = tool({"doctor"}, nodes.joined_urls());
  EXPECT_THAT(doctor.output, HasSubstr("unreachable  " + nodes[1].url() + ", " + nodes[4].url()));
}

/// The commands of a new user who acquires first and then follows the advice.
void expect_that_advice_helps(std::size_t count, const Words& words, const Words& command = {}) {
  SCOPED_TRACE(count);
  NewNodes nodes(count);
  const auto acquire = [&] {
    Words all = words;
    all.insert(all.end(), {"--timeout", "20s", "--nodes", nodes.joined_urls()});
    all.insert(all.end(), command.begin(), command.end());
    return run_tool(std::move(all));
  };
  const ProcessResult refused = acquire();
  EXPECT_EQ(refused.exit_code, 69) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr("`quorum-lock bootstrap`"));
  const ProcessResult doctor = tool({"doctor"}, nodes.joined_urls());
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_THAT(doctor.output, HasSubstr("bootstrap."));

  const ProcessResult opened = tool({"bootstrap"}, nodes.joined_urls());
  EXPECT_EQ(opened.exit_code, 0) << opened.errors;
  EXPECT_TRUE(opened.output.ends_with("open\n")) << opened.output;
  const ProcessResult well = tool({"doctor"}, nodes.joined_urls());
  EXPECT_EQ(well.exit_code, 0) << well.output;
  const ProcessResult granted = acquire();
  EXPECT_EQ(granted.exit_code, 0) << granted.errors;
}

TEST(CliBootstrap, LetsLocksBeGrantedAtOnceAfterAnAcquireThatCameFirst) {
  for (const std::size_t count : {1U, 3U, 5U}) expect_that_advice_helps(count, {"acquire", "r"});
}

TEST(CliBootstrap, LetsACommandRunAtOnceAfterOneThatCameFirst) {
  expect_that_advice_helps(3, {"run", "r", "--wait", "0s"}, {"--", "true"});
}

TEST(CliBootstrap, NamesTheKeyForWhichAQuarantineGoesOn) {
  NewNodes nodes(3);
  ASSERT_TRUE(eventually([&] {
    // A command that ends before the deployment is open leaves the rest to the next one.
    EXPECT_EQ(tool({"acquire", "r"}, nodes.joined_urls()).exit_code, 69);
    return std::all_of(nodes.begin(), nodes.end(), [](const RedisServer& node) {
      return node.get(marker_key).value_or("").find(" active ") != std::string::npos;
    });
  }));
  nodes[0].command({"SET", "may be a lock", std::string(40, 'a'), "PX", "600000"});
  const ProcessResult opened = tool({"bootstrap"}, nodes.joined_urls());
  EXPECT_EQ(opened.exit_code, 0) << opened.errors;
  EXPECT_THAT(opened.output, HasSubstr("open: locks are granted in "));
  EXPECT_THAT(opened.errors, HasSubstr("its quarantine goes on, because"));
  EXPECT_THAT(opened.errors, HasSubstr("'may be a lock'"));
}

TEST(CliBootstrap, SaysWhenLocksAreGrantedAndIsNotAdvisedAgain) {
  NewNodes nodes(3);
  for (const RedisServer& node : nodes) blank_by_hand(node);
  const ProcessResult text = tool({"bootstrap", "--after-loss"}, nodes.joined_urls());
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("open: locks are granted in "));
  const ProcessResult again = tool({"bootstrap", "--json"}, nodes.joined_urls());
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_EQ(json_of(again).value("outcome", ""), "opened");
  EXPECT_GT(json_of(again).value("granted_in_ms", 0), 0);

  const ProcessResult refused = tool({"acquire", "r"}, nodes.joined_urls());
  EXPECT_EQ(refused.exit_code, 69) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr(": quarantined for "));
  EXPECT_THAT(refused.errors, Not(HasSubstr("bootstrap")));
  const ProcessResult doctor = tool({"doctor"}, nodes.joined_urls());
  EXPECT_THAT(doctor.output, HasSubstr("quarantined"));
  EXPECT_THAT(doctor.output, Not(HasSubstr("bootstrap")));
  EXPECT_GT(json_of(tool({"doctor", "--json"}, nodes.joined_urls())).value("granted_in_ms", 0), 0);
}

TEST(CliBootstrap, TellsPeopleALinePerNodeAndThatItIsOpen) {
  NewNodes nodes(3);
  const ProcessResult result = tool({"bootstrap"}, nodes.joined_urls());
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(count_lines(result.output), 4U) << result.output;
  EXPECT_TRUE(result.output.ends_with("open\n")) << result.output;
  EXPECT_EQ(tool({"bootstrap", "--quiet"}, nodes.joined_urls()).output, "");
}

// As after a move to TLS, or to names of hosts.
TEST(CliBootstrap, OfTheSameNodesByOtherUrlsNamesTheMembersAnew) {
  NewNodes nodes(3);
  ASSERT_EQ(tool({"bootstrap"}, nodes.joined_urls()).exit_code, 0);
  std::string others;
  for (const RedisServer& node : nodes) {
    others += (others.empty() ? "unix://" : ",unix://") + node.unix_path().string();
  }
  const ProcessResult result = tool({"bootstrap"}, others);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("open: locks are granted in "));
  const ProcessResult members = tool({"members"}, others);
  EXPECT_THAT(members.output, HasSubstr("3 members"));
  EXPECT_THAT(members.output, Not(HasSubstr("member as ")));
}

TEST(CliBootstrap, AsksBeforeItChangesADeployment) {
  NewNodes nodes(3);
  ASSERT_EQ(tool({"bootstrap"}, nodes.joined_urls()).exit_code, 0);
  EXPECT_EQ(tool({"bootstrap"}, nodes.joined_urls()).errors, "") << "nothing changes";
  const auto marker = [&nodes] { return nodes[0].get(marker_key); };
  const auto opened = marker();
  for (const ProcessResult& unasked : {tool({"bootstrap", "--max-ttl", "40s"}, nodes.joined_urls()),
                                       tool({"bootstrap"}, nodes[0].url())}) {
    EXPECT_EQ(unasked.exit_code, 64);
    EXPECT_THAT(unasked.errors, HasSubstr("--yes: needed, because these nodes are a deployment of "
                                          "3 members with a max TTL of 30.000 s"));
  }
  const Words words{"bootstrap", "--max-ttl", "40s", "--nodes", nodes.joined_urls()};
  for (const char* answer : {"n\n", "y\n"}) {
    EXPECT_EQ(marker(), opened);
    PseudoTerminal terminal(tool_words(words), tool_environment({}), {});
    ASSERT_TRUE(terminal.wait_for("[y/N]")) << terminal.output();
    terminal.type(answer);
    EXPECT_EQ(terminal.wait(), (ExitStatus{*answer == 'n' ? 75 : 0, 0})) << terminal.output();
  }
  EXPECT_NE(marker(), opened);
}

// One wrong URL, or one node that restarted: the number of members and the max TTL are right.
TEST(CliBootstrap, AsksBeforeItTakesAWorkingDeploymentApart) {
  NewNodes nodes(4);
  const auto listed = [&nodes](std::size_t last) {
    return nodes[0].url() + ',' + nodes[1].url() + ',' + nodes[last].url();
  };
  ASSERT_EQ(tool({"bootstrap"}, listed(2)).exit_code, 0);
  const auto opened = nodes[0].get(marker_key);
  const auto is_left_as_it_is = [&](const std::string& list, const std::string& why) {
    const ProcessResult unasked = tool({"bootstrap"}, list);
    EXPECT_EQ(unasked.exit_code, 64) << unasked.output;
    EXPECT_THAT(unasked.errors, HasSubstr(why));
    EXPECT_EQ(nodes[0].get(marker_key), opened);
  };
  const std::string other =
      "removes " + nodes[2].url() + " (it answers) and adds " + nodes[3].url() + " (it is blank)";
  is_left_as_it_is(listed(3), other);
  PseudoTerminal terminal(tool_words({"bootstrap", "--nodes", listed(3)}), tool_environment({}),
                          {});
  ASSERT_TRUE(terminal.wait_for("[y/N]")) << terminal.output();
  terminal.type("n\n");
  EXPECT_EQ(terminal.wait(), (ExitStatus{75, 0})) << terminal.output();
  EXPECT_EQ(nodes[0].get(marker_key), opened);

  nodes[2].command({"FLUSHALL"});
  const std::string back = "without bootstrap, the others take back " + nodes[2].url();
  is_left_as_it_is(listed(2), back);
  const std::string by_socket = nodes[0].url() + ',' + nodes[1].url() + ",unix://";
  is_left_as_it_is(by_socket + nodes[2].unix_path().string(), back);
  EXPECT_EQ(tool({"bootstrap", "--yes"}, listed(3)).exit_code, 0);
  EXPECT_NE(nodes[0].get(marker_key), opened);
}

TEST(CliBootstrap, AsksBeforeItChangesTheNumberOfServersOfAMember) {
  NewNodes nodes(1);
  const std::string primary = nodes[0].url() + "?servers=3";
  const ProcessResult opened = tool({"bootstrap"}, primary);
  EXPECT_EQ(opened.exit_code, 0) << opened.errors;
  EXPECT_THAT(opened.output, HasSubstr("open: no lock is granted before a majority"));
  const auto marker = nodes[0].get(marker_key);
  for (const std::string& other : {nodes[0].url() + "?servers=5", nodes[0].url()}) {
    const ProcessResult unasked = tool({"bootstrap"}, other);
    EXPECT_EQ(unasked.exit_code, 64);
    EXPECT_THAT(unasked.errors, HasSubstr("a deployment that has the member " + primary));
    EXPECT_EQ(nodes[0].get(marker_key), marker);
  }
}

TEST(CliBootstrap, ExitsWith75WhileAKeyCanBeALock) {
  NewNodes nodes(3);
  nodes[2].command({"SET", "nightly", "somebody", "PX", "20000"});
  const ProcessResult result = tool({"bootstrap", "--json"}, nodes.joined_urls());
  EXPECT_EQ(result.exit_code, 75);
  const Json json = json_of(result);
  EXPECT_EQ(json.value("outcome", ""), "refused");
  EXPECT_THAT(json.value("message", ""), HasSubstr("'nightly'"));
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  EXPECT_EQ(nodes.count_held(marker_key), 0U);
}

TEST(CliBootstrap, ExitsWith69WhileANodeIsMissing) {
  NewNodes nodes(3);
  nodes[0].kill();
  const ProcessResult result = tool({"bootstrap", "--json"}, nodes.joined_urls());
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_EQ(json_of(result).value("outcome", ""), "refused");
  EXPECT_THAT(result.errors, HasSubstr(nodes[0].url()));
  EXPECT_EQ(nodes.count_held(marker_key), 0U);
}

}  // namespace
}  // namespace redlock::test
