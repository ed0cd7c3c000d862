// acquire, extend, release, inspect and break: output, JSON and exit codes.

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/on_nodes.hpp"
#include "support/eventually.hpp"
#include "support/fake_server.hpp"
#include "support/programs.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

class CliVerbs : public CliOnNodes {
 protected:
  static void store(std::size_t node, const std::string& resource, const std::string& value) {
    ASSERT_TRUE(nodes()[node].command({"SET", resource, value, "PX", "60000"}).is_ok());
  }
  static void store_everywhere(const std::string& resource, const std::string& value) {
    for (std::size_t node = 0; node < nodes().size(); ++node) store(node, resource, value);
  }
};

TEST_F(CliVerbs, AcquireLeavesTheTokenThatItPrintsOnTheNodes) {
  const ProcessResult result = tool({"acquire", "invoice/42", "--quiet"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  ASSERT_EQ(count_lines(result.output), 1U);
  const std::string token = result.output.substr(0, result.output.size() - 1);
  EXPECT_EQ(token.size(), 40U);
  EXPECT_TRUE(eventually([&] { return nodes().count_held_by("invoice/42", token) == 3; }));
  EXPECT_EQ(result.errors, "");
}

TEST_F(CliVerbs, AcquireTellsPeopleTokenValidityAndVotes) {
  const ProcessResult result = tool({"acquire", "invoice/42"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_TRUE(result.output.starts_with("acquired invoice/42  token ")) << result.output;
  EXPECT_NE(result.output.find("valid for "), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("of 3 granted"), std::string::npos) << result.output;
  EXPECT_EQ(result.output.find('\x1b'), std::string::npos) << "colours into a pipe";
}

TEST_F(CliVerbs, TheJsonOfAcquireHasAllThatScriptsRelyOn) {
  const ProcessResult result = tool({"acquire", "r", "--json", "--ttl", "20s"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("outcome", ""), "acquired");
  EXPECT_EQ(json.value("resource", ""), "r");
  EXPECT_TRUE(eventually([&] { return nodes().count_held_by("r", json.value("token", "")) == 3; }));
  EXPECT_FALSE(json.contains("fencing_token"));
  EXPECT_EQ(json.value("ttl_ms", 0), 20000);
  EXPECT_GT(json.value("remaining_ms", 0), 0);
  EXPECT_LT(json.value("remaining_ms", 0), 20000);
  EXPECT_TRUE(json.at("elapsed_us").is_number_integer());
  EXPECT_EQ(json.value("quorum", 0), 2);
  ASSERT_EQ(json.at("nodes").size(), 3U);
  std::size_t granted = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Json& node = json.at("nodes").at(i);
    EXPECT_EQ(node.value("url", ""), nodes()[i].url());
    const std::string vote = node.value("vote", "");
    EXPECT_TRUE(vote == "granted" || vote == "pending") << vote;
    if (vote == "granted") {
      ++granted;
      EXPECT_TRUE(node.at("rtt_us").is_number_integer());
    }
  }
  EXPECT_GE(granted, 2U);
}

TEST_F(CliVerbs, AHeldResourceIs75WithTheHolderAndItsRemainingTime) {
  if (!nodes()[0].is_since(7)) GTEST_SKIP() << "a refusal names no holder: row redis-7.0";
  store_everywhere("r", "somebody");
  const ProcessResult result = tool({"acquire", "r", "--json"});
  EXPECT_EQ(result.exit_code, 75);
  const Json json = json_of(result);
  EXPECT_EQ(json.value("outcome", ""), "held");
  EXPECT_FALSE(json.contains("token"));
  std::size_t refused = 0;
  for (const Json& node : json.at("nodes")) {
    if (node.value("vote", "") != "refused") continue;
    ++refused;
    EXPECT_EQ(node.value("holder", ""), "somebody");
    EXPECT_EQ(node.value("holder_kind", ""), "exclusive");
    EXPECT_TRUE(node.at("owner").is_null());
    EXPECT_GT(node.value("remaining_ms", 0), 0);
    EXPECT_LE(node.value("remaining_ms", 0), 60000);
  }
  EXPECT_GE(refused, 2U);
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  EXPECT_TRUE(eventually([&] { return nodes().count_held_by("r", "somebody") == 3; }));
}

TEST_F(CliVerbs, ADividedResourceIs75) {
  store(0, "r", "a");
  store(1, "r", "b");
  store(2, "r", "c");
  const ProcessResult result = tool({"acquire", "r", "--json"});
  EXPECT_EQ(result.exit_code, 75);
  // Two refusals of three decide the round; the third node could still make either holder a
  // majority.
  const std::string outcome = json_of(result).value("outcome", "");
  EXPECT_TRUE(outcome == "split" || outcome == "held") << outcome;
}

TEST_F(CliVerbs, ATtlThatIsShorterThanTheRoundIs69AndExpired) {
  FakeServer silent;
  silent.on("SET", [](const Command&) { return FakeAnswer::silence(); });
  // The validity of 97 ms ends before any node timeout. A fake server keeps no marker.
  const ProcessResult result = run_tool({"acquire", "r", "--ttl", "100ms", "--json", "--nodes",
                                         silent.url(), "--restart-guard", "off"});
  EXPECT_EQ(result.exit_code, 69) << result.errors;
  EXPECT_EQ(json_of(result).value("outcome", ""), "expired");
}

TEST_F(CliVerbs, AcquireWaitsForALockThatRunsOut) {
  // A quorum suffices: a node whose key lasts a moment longer refuses, and is not asked again.
  store(2, "r", "somebody");
  for (const std::size_t node : {0U, 1U}) {
    ASSERT_TRUE(nodes()[node].command({"SET", "r", "somebody", "PX", "300"}).is_ok());
  }
  const ProcessResult result = tool({"acquire", "r", "--wait", "30s", "--quiet"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(nodes().count_held_by("r", result.output.substr(0, 40)), 2U);
}

TEST_F(CliVerbs, ExtendRaisesTheTtlOfTheTokensHolder) {
  const std::string token = tool({"acquire", "r", "--quiet", "--ttl", "5s"}).output.substr(0, 40);
  const ProcessResult result = tool({"extend", "r", "--token", token, "--ttl", "29s", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("outcome", ""), "extended");
  EXPECT_EQ(json.value("ttl_ms", 0), 29000);
  EXPECT_EQ(json.at("nodes").size(), 3U);
  EXPECT_GT(nodes()[0].pttl("r"), 5000);
}

TEST_F(CliVerbs, ExtendAndReleaseByAnotherTokenAre76AndChangeNothing) {
  store_everywhere("r", "somebody");
  const ProcessResult extended = tool({"extend", "r", "--token", "me", "--ttl", "20s", "--json"});
  EXPECT_EQ(extended.exit_code, 76);
  EXPECT_EQ(json_of(extended).value("outcome", ""), "not_holder");
  const ProcessResult released = tool({"release", "r", "--token", "me", "--json"});
  EXPECT_EQ(released.exit_code, 76);
  EXPECT_EQ(json_of(released).value("outcome", ""), "not_holder");
  for (const ProcessResult& refused : {extended, released}) {
    EXPECT_EQ(count_lines(refused.errors), 1U) << refused.errors;
    EXPECT_NE(refused.errors.find("; held by somebody (exclusive, "), std::string::npos)
        << refused.errors;
  }
  EXPECT_TRUE(eventually([&] { return nodes().count_held_by("r", "somebody") == 3; }));
}

TEST_F(CliVerbs, ExtendAndReleaseOfWhatNobodyHoldsSayThat) {
  const ProcessResult released = tool({"release", "r", "--token", "me"});
  EXPECT_EQ(released.exit_code, 76);
  EXPECT_NE(released.errors.find("; nobody holds it\n"), std::string::npos) << released.errors;
}

TEST_F(CliVerbs, ReleaseFreesTheResource) {
  const std::string token = tool({"acquire", "r", "--quiet"}).output.substr(0, 40);
  const ProcessResult result = tool({"release", "r", "--token", token, "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(json_of(result).value("outcome", ""), "released");
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

TEST_F(CliVerbs, InspectShowsAFreeResource) {
  const ProcessResult result = tool({"inspect", "r", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("resource", ""), "r");
  EXPECT_EQ(json.value("kind", ""), "none");
  EXPECT_EQ(json.value("state", ""), "free");
  EXPECT_TRUE(json.at("holder").is_null());
  ASSERT_EQ(json.at("nodes").size(), 3U);
  for (const Json& node : json.at("nodes")) {
    EXPECT_TRUE(node.at("holder").is_null());
    EXPECT_EQ(node.at("remaining_ms"), 0);
    EXPECT_EQ(node.at("kind"), "none");
    EXPECT_TRUE(node.at("fencing_token").is_null());
    EXPECT_FALSE(node.contains("message"));
  }
}

TEST_F(CliVerbs, InspectShowsTheHolderOfAQuorum) {
  store(0, "r", "a");
  store(1, "r", "a");
  const ProcessResult result = tool({"inspect", "r", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("state", ""), "held");
  EXPECT_EQ(json.value("holder", ""), "a");
  EXPECT_EQ(json.at("nodes").at(0).value("holder", ""), "a");
  EXPECT_GT(json.at("nodes").at(0).value("remaining_ms", 0), 0);
  EXPECT_TRUE(json.at("nodes").at(2).at("holder").is_null());
}

TEST_F(CliVerbs, InspectTellsASplit) {
  store(0, "r", "a");
  store(1, "r", "b");
  store(2, "r", "c");
  const ProcessResult result = tool({"inspect", "r", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(json_of(result).value("state", ""), "split");
}

TEST_F(CliVerbs, AHolderOfAnyBytesLeavesTheJsonValidAndTheTerminalAlone) {
  const std::string holder = std::string("\xff\x01 \x1b[31m", 8);
  store_everywhere("r", holder);
  const Json json = json_of(tool({"inspect", "r", "--json"}));
  EXPECT_EQ(json.value("holder", ""), std::string("\\xff\x01 \x1b[31m"));
  const ProcessResult text = tool({"inspect", "r"});
  EXPECT_NE(text.output.find("\\xff\\x01 \\x1b[31m"), std::string::npos) << text.output;
  EXPECT_EQ(text.output.find('\x1b'), std::string::npos);
}

TEST_F(CliVerbs, BreakDeletesExactlyTheTokenThatItShows) {
  store(0, "r", "a");
  store(1, "r", "a");
  const ProcessResult result = tool({"break", "r", "--yes"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(result.output.find("held by a"), std::string::npos) << result.output;
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

TEST_F(CliVerbs, BreakDeletesEveryTokenOfASplit) {
  store(0, "r", "a");
  store(1, "r", "b");
  store(2, "r", "c");
  const ProcessResult result = tool({"break", "r", "--yes", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const Json json = json_of(result);
  EXPECT_EQ(json.value("outcome", ""), "released");
  EXPECT_EQ(json.at("tokens"), Json::parse(R"(["a","b","c"])"));
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

TEST_F(CliVerbs, BreakOfAFreeResourceHasNothingToDo) {
  const ProcessResult result = tool({"break", "r", "--yes"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "r free, nothing to break\n");
}

TEST_F(CliVerbs, BreakEndsAReservation) {
  store_everywhere("r", "redlock:next:0123456789abcdef");
  const Json json = json_of(tool({"break", "r", "--yes", "--json"}));
  EXPECT_EQ(json.value("outcome", ""), "released");
  EXPECT_EQ(json.at("tokens"), Json::parse(R"(["redlock:next:0123456789abcdef"])"));
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

TEST_F(CliVerbs, BreakDoesNotGuessWithoutATerminal) {
  store_everywhere("r", "a");
  const ProcessResult result = tool({"break", "r"});
  EXPECT_EQ(result.exit_code, 64);
  EXPECT_NE(result.errors.find("--yes"), std::string::npos) << result.errors;
  EXPECT_NE(result.output.find("held by a"), std::string::npos) << "it shows what it asks about";
  EXPECT_TRUE(eventually([&] { return nodes().count_held_by("r", "a") == 3; }));
  const ProcessResult nothing = tool({"break", "free"});
  EXPECT_EQ(nothing.exit_code, 0) << nothing.errors;
  EXPECT_EQ(nothing.output, "free free, nothing to break\n");
}

TEST_F(CliVerbs, BreakRefusesAKeyThatIsNoLock) {
  for (RedisServer& node : nodes()) node.command({"HSET", "r", "f", "v"});
  const ProcessResult result = tool({"break", "r", "--yes"});
  EXPECT_EQ(result.exit_code, 64);
  EXPECT_NE(result.errors.find("not a lock token"), std::string::npos) << result.errors;
  EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
  const Json json = json_of(tool({"inspect", "r", "--json"}));
  EXPECT_EQ(json.at("kind"), "other");
  EXPECT_TRUE(json.at("holder").is_null());
  EXPECT_EQ(json.at("nodes").at(0).at("remaining_ms"), -1);
}

TEST_F(CliVerbs, BreakRefusesAValueThatIsNoToken) {
  store_everywhere("r", std::string(129, 'x'));
  const ProcessResult result = tool({"break", "r", "--yes"});
  EXPECT_EQ(result.exit_code, 64);
  EXPECT_NE(result.errors.find("not a lock token"), std::string::npos) << result.errors;
  EXPECT_TRUE(eventually([&] { return nodes().count_held("r") == 3; }));
}

TEST_F(CliVerbs, NodesComeFromCommandLineBeforeEnvironmentBeforeFile) {
  const Nodes in_words(1);
  const Nodes in_environment(1);
  const Nodes in_file(1);
  const TempDir directory;
  const std::string file =
      directory.write("config.toml", "nodes = [\"" + in_file.joined_urls() + "\"]\n").string();
  const std::string from_environment = "QUORUM_LOCK_NODES=" + in_environment.joined_urls();

  EXPECT_EQ(run_tool({"acquire", "of file", "--config", file}).exit_code, 0);
  EXPECT_EQ(in_file.count_held("of file"), 1U);
  EXPECT_EQ(
      run_tool({"--config", file, "acquire", "of environment"}, {.environment = {from_environment}})
          .exit_code,
      0);
  EXPECT_EQ(in_environment.count_held("of environment"), 1U);
  EXPECT_EQ(
      run_tool({"--nodes", in_words.joined_urls(), "acquire", "of command line", "--config", file},
               {.environment = {from_environment}})
          .exit_code,
      0);
  EXPECT_EQ(in_words.count_held("of command line"), 1U);
  for (const Nodes* others : {&in_environment, &in_file}) {
    EXPECT_EQ(others->count_held("of command line"), 0U);
  }
}

TEST_F(CliVerbs, AResourceMayBeCalledLikeAVerb) {
  EXPECT_EQ(tool({"acquire", "run"}).exit_code, 0);
  EXPECT_TRUE(eventually([&] { return nodes().count_held("run") == 3; }));
}

TEST_F(CliVerbs, AResourceThatLooksLikeAnOptionStandsBehindTwoDashes) {
  const ProcessResult result =
      run_tool({"acquire", "--nodes", nodes().joined_urls(), "--", "--odd"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_TRUE(eventually([&] { return nodes().count_held("--odd") == 3; }));
}

TEST_F(CliVerbs, ALeaseGoesBackWhenItsTokenCanNotBePrinted) {
  const ProcessResult result =
      run_process({"sh", "-c", "exec \"$0\" acquire r --nodes \"$1\" > /dev/full",
                   quorum_lock_program(), nodes().joined_urls()},
                  {.environment = tool_environment()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("standard output"), std::string::npos) << result.errors;
  EXPECT_EQ(nodes().count_held("r"), 0U);
}

TEST(CliOutage, TooFewNodesAre69WithTheReasonForEach) {
  Nodes nodes(3);
  nodes[1].kill();
  nodes[2].kill();
  const ProcessResult result =
      run_tool({"acquire", "r", "--json", "--timeout", "500ms", "--nodes", nodes.joined_urls()});
  EXPECT_EQ(result.exit_code, 69);
  const Json json = json_of(result);
  EXPECT_EQ(json.value("outcome", ""), "unavailable");
  ASSERT_EQ(json.at("nodes").size(), 3U);
  for (const std::size_t down : {1U, 2U}) {
    const Json& node = json.at("nodes").at(down);
    EXPECT_EQ(node.value("vote", ""), "unreachable");
    EXPECT_NE(node.value("message", ""), "");
  }
  EXPECT_EQ(nodes[0].get("r"), std::nullopt) << "the failed attempt must not block others";

  const ProcessResult inspected =
      run_tool({"inspect", "r", "--json", "--timeout", "500ms", "--nodes", nodes.joined_urls()});
  EXPECT_EQ(inspected.exit_code, 69);
  EXPECT_NE(json_of(inspected).at("nodes").at(1).value("message", ""), "");

  const ProcessResult released = run_tool({"release", "r", "--token", "t", "--json", "--timeout",
                                           "500ms", "--nodes", nodes.joined_urls()});
  EXPECT_EQ(released.exit_code, 69) << released.output;
  EXPECT_EQ(json_of(released).value("outcome", ""), "unavailable");
}

TEST(CliOutage, AMinorityDownIsNoMatter) {
  Nodes nodes(3);
  nodes[2].kill();
  const ProcessResult result =
      run_tool({"acquire", "r", "--quiet", "--nodes", nodes.joined_urls()});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(nodes.count_held("r"), 2U);
}

TEST(CliPassword, GoesWithAUserByVariableToo) {
  const Nodes nodes(3);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].command({"ACL", "SETUSER", "locks", "on", ">very-secret", "~*", "&*", "+@all"});
    nodes[i].command({"ACL", "SETUSER", "default", "off"});
  }
  const TempDir directory;
  const std::string file = directory.write("password", "very-secret\n").string();
  const std::string list = "QUORUM_LOCK_NODES=" + nodes.joined_urls();
  const std::vector<std::string> by_file{list, "QUORUM_LOCK_USER=locks",
                                         "QUORUM_LOCK_PASSWORD_FILE=" + file};
  const std::vector<std::string> by_variable{list, "QUORUM_LOCK_USER=locks",
                                             "QUORUM_LOCK_PASSWORD=very-secret"};
  EXPECT_EQ(run_tool({"inspect", "r"}, {.environment = by_file}).exit_code, 0);
  const ProcessResult run =
      run_tool({"run", "r", "--", "sh", "-c", "echo ${QUORUM_LOCK_PASSWORD-gone}"},
               {.environment = by_variable});
  EXPECT_EQ(run.output, "gone\n") << run.errors;
  EXPECT_EQ(run_tool({"inspect", "r", "--user", "nobody"}, {.environment = by_variable}).exit_code,
            69)
      << "the command line wins";
}

TEST(CliPassword, ComesFromAFileAndIsNeverShown) {
  RedisServerOptions options;
  options.password = "very-secret";
  const Nodes nodes(1, options);
  const RedisServer& server = nodes[0];
  const std::string address = server.host() + ":" + std::to_string(server.port());
  const TempDir directory;
  const std::string right = directory.write("right", "very-secret\n").string();
  const std::string wrong = directory.write("wrong", "not-the-secret\n").string();

  EXPECT_EQ(run_tool({"acquire", "r", "--nodes", address, "--password-file", right}).exit_code, 0);
  for (const std::string format : {"--json", "--verbose"}) {
    const ProcessResult refused =
        run_tool({"acquire", "r", "--nodes", address, "--password-file", wrong, format});
    EXPECT_EQ(refused.exit_code, 69);
    EXPECT_EQ((refused.output + refused.errors).find("not-the-secret"), std::string::npos);

    const ProcessResult in_url = run_tool({"acquire", "s", "--nodes", server.url(), format});
    EXPECT_EQ((in_url.output + in_url.errors).find("very-secret"), std::string::npos)
        << in_url.output << in_url.errors;
  }
}

TEST(CliPassword, InAUrlIsNotHandedToTheCommand) {
  RedisServerOptions options;
  options.password = "very-secret";
  const Nodes nodes(1, options);
  const RedisServer& server = nodes[0];
  const ProcessResult result =
      run_tool({"run", "r", "--", "sh", "-c", "env; tr '\\0' ' ' < /proc/$PPID/cmdline"},
               {.environment = {"QUORUM_LOCK_NODES=" + server.url()}});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output.find("very-secret"), std::string::npos) << result.output;

  const ProcessResult by_option = run_tool({"run", "r", "--nodes", server.url(), "--", "sh", "-c",
                                            "tr '\\0' ' ' < /proc/$PPID/cmdline"});
  EXPECT_EQ(by_option.exit_code, 0) << by_option.errors;
  EXPECT_EQ(by_option.output.find("very-secret"), std::string::npos) << by_option.output;
}

}  // namespace
}  // namespace redlock::test
