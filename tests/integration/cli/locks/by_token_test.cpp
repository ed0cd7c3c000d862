// acquire of every kind, and extend and release by the printed token; the output with --quiet and
// --verbose; waits without end.

#include <gtest/gtest.h>

#include <csignal>
#include <sstream>
#include <string>

#include "integration/cli/on_nodes.hpp"
#include "integration/library.hpp"

namespace redlock::test {
namespace {

class CliByToken : public CliOnNodes {
 protected:
  /// Acquires; returns the lease, which is on a quorum. The tool does not wait for the last node,
  /// which may lack the lease, for example because it did not have the script.
  static Json acquired(Words words) {
    words.insert(words.begin(), "acquire");
    words.insert(words.end(), {"--json", "--ttl", "20s"});
    Json lease = json_of(tool(words));
    EXPECT_EQ(lease.value("outcome", ""), "acquired") << lease;
    EXPECT_TRUE(eventually([&] { return count(key_of(lease)) >= 2; }));
    return lease;
  }
  /// One of the lease's keys on the nodes.
  static std::string key_of(const Json& lease) {
    if (lease.contains("permit")) return lease.value("permit", "");
    return lease.contains("resources") ? lease["resources"].back().get<std::string>()
                                       : lease.value("resource", "");
  }
  /// The number of nodes that have the key, of whatever type.
  static std::size_t count(const std::string& key) {
    std::size_t there = 0;
    for (RedisServer& node : nodes()) {
      there += node.command({"EXISTS", key}).integer == 1 ? 1U : 0U;
    }
    return there;
  }
  /// The number of nodes where the key lives for more than `at_least` milliseconds.
  static std::size_t count_living(const std::string& key, std::int64_t at_least) {
    std::size_t living = 0;
    for (RedisServer& node : nodes()) living += node.pttl(key) > at_least ? 1U : 0U;
    return living;
  }
  static std::string token_in(const Json& lease) { return lease.value("token", ""); }

  /// Extends and releases by the token; afterwards the key is gone.
  static void extend_and_release(const Words& resources, const std::string& key,
                                 const std::string& token) {
    const auto by_token = [&](const char* verb, const Words& more) {
      Words words{verb};
      words.insert(words.end(), resources.begin(), resources.end());
      words.insert(words.end(), {"--token", token});
      words.insert(words.end(), more.begin(), more.end());
      return tool(words);
    };
    const auto extended = by_token("extend", {"--ttl", "29s", "--json"});
    EXPECT_EQ(extended.exit_code, 0) << extended.errors;
    EXPECT_EQ(json_of(extended).value("outcome", ""), "extended");
    EXPECT_GE(count_living(key, 20000), 2U);
    const auto released = by_token("release", {"--json"});
    EXPECT_EQ(released.exit_code, 0) << released.errors;
    EXPECT_EQ(json_of(released).value("outcome", ""), "released");
    EXPECT_TRUE(eventually([&] { return count(key) == 0; }));
    const auto again = by_token("release", {"--json"});
    EXPECT_EQ(again.exit_code, 76) << again.errors;
    EXPECT_EQ(json_of(again).value("outcome", ""), "not_holder");
    EXPECT_EQ(count_lines(again.errors), 1U) << again.errors;
  }
};

TEST_F(CliByToken, AnExclusiveLock) {
  const Json lease = acquired({"r", "--fencing"});
  EXPECT_EQ(lease.value("kind", ""), "exclusive");
  EXPECT_TRUE(lease.at("fencing_token").is_number_integer());
  extend_and_release({"r"}, "r", token_in(lease));
}

TEST_F(CliByToken, AReadersHold) {
  const Json lease = acquired({"r", "--shared"});
  EXPECT_EQ(lease.value("kind", ""), "shared");
  EXPECT_EQ(tool({"run", "r", "--wait", "0s", "--", "true"}).exit_code, 75);
  const Json other = acquired({"r", "--shared"});
  const auto released = tool({"release", "r", "--token", token_in(other), "--json"});
  EXPECT_EQ(json_of(released).value("holds_left", 0), 1) << released.errors;
  extend_and_release({"r"}, "r", token_in(lease));
}

TEST_F(CliByToken, AWritersLockThatBecomesAReaders) {
  const Json lease = acquired({"r", "--fencing"});
  EXPECT_EQ(tool({"acquire", "r", "--shared"}).exit_code, 75);
  const auto downgraded = tool({"downgrade", "r", "--token", token_in(lease), "--json"});
  EXPECT_EQ(downgraded.exit_code, 0) << downgraded.errors;
  EXPECT_EQ(json_of(downgraded).value("outcome", ""), "downgraded");
  const Json reader = acquired({"r", "--shared"});
  EXPECT_EQ(tool({"acquire", "r"}).exit_code, 75);
  const auto foreign = tool({"downgrade", "r", "--token", std::string(40, 'f')});
  EXPECT_EQ(foreign.exit_code, 76);
  EXPECT_EQ(count_lines(foreign.errors), 1U) << foreign.errors;
  EXPECT_EQ(tool({"release", "r", "--token", token_in(reader)}).exit_code, 0);
  extend_and_release({"r"}, "r", token_in(lease));
}

TEST_F(CliByToken, OnlyAWritersLockOnOneResourceIsDowngraded) {
  const auto refused = [](Words words) {
    words.insert(words.begin(), "downgrade");
    words.insert(words.end(), {"--token", std::string(40, 'f')});
    const ProcessResult result = tool(words);
    EXPECT_EQ(result.exit_code, 64) << result.errors;
    EXPECT_EQ(count_lines(result.errors), 1U) << result.errors;
    return result.errors;
  };
  EXPECT_NE(refused({"a", "b"}).find("RESOURCE: 'b' is a second one"), std::string::npos);
  EXPECT_NE(refused({"r#3"}).find("a permit, which has no readers"), std::string::npos);
}

TEST_F(CliByToken, AnOwnersHold) {
  const Json lease = acquired({"r", "--owner", "nightly"});
  EXPECT_EQ(lease.value("kind", ""), "owned");
  EXPECT_EQ(lease.value("owner", ""), "nightly");
  extend_and_release({"r"}, "r", token_in(lease));
}

TEST_F(CliByToken, APermitByItsName) {
  const Json lease = acquired({"r", "--permits", "2"});
  EXPECT_EQ(lease.value("kind", ""), "semaphore");
  EXPECT_EQ(lease.value("resource", ""), "r");
  extend_and_release({lease.value("permit", "")}, key_of(lease), token_in(lease));
}

TEST_F(CliByToken, APermitAmongAllOfItsSemaphore) {
  const Json first = acquired({"r", "--permits", "2"});
  const Json second = acquired({"r", "--permits", "2"});
  EXPECT_EQ(tool({"acquire", "r", "--permits", "2"}).exit_code, 75);
  extend_and_release({"r", "--permits", "2"}, key_of(second), token_in(second));
  const Json released =
      json_of(tool({"release", "r", "--permits", "2", "--token", token_in(first), "--json"}));
  EXPECT_EQ(released.value("resource", ""), "r");
  EXPECT_EQ(released.value("permit", ""), key_of(first));
}

TEST_F(CliByToken, SeveralResources) {
  const Json lease = acquired({"a", "b"});
  EXPECT_EQ(lease.value("resource", ""), "a b");
  EXPECT_EQ(lease.at("resources"), Json::parse(R"(["a","b"])"));
  const Json refused = json_of(tool({"acquire", "b", "c", "--json"}));
  EXPECT_EQ(refused.value("outcome", ""), "held");
  EXPECT_EQ(refused.at("resources"), Json::parse(R"(["b","c"])"));
  const Json not_run = json_of(tool({"run", "b", "c", "--wait", "0s", "--json", "--", "true"}));
  EXPECT_EQ(not_run.at("resources"), Json::parse(R"(["b","c"])"));
  extend_and_release({"b", "a"}, "a", token_in(lease));
  EXPECT_TRUE(eventually([&] { return count("b") == 0; }));
}

TEST_F(CliByToken, AnIntervalLastsUntilItsTokenIsReleased) {
  const Json lease = acquired({"r", "--interval", "1h"});
  EXPECT_EQ(lease.value("interval_ms", 0), 3'600'000);
  EXPECT_EQ(lease.value("ttl_ms", 0), 20000);
  EXPECT_GE(count_living("r", 3'000'000), 2U) << "nobody renews it";
  EXPECT_EQ(tool({"release", "r", "--token", token_in(lease)}).exit_code, 0);
  EXPECT_EQ(tool({"acquire", "r"}).exit_code, 0);
}

TEST_F(CliByToken, TheJsonOfARefusalNamesTheHolder) {
  static_cast<void>(acquired({"r", "--name", "the nightly report"}));
  const auto named_by = [](Words words) {
    return eventually([&] {
      const ProcessResult refused = tool(words);
      EXPECT_EQ(refused.exit_code, 75) << refused.errors;
      return json_of(refused).value("holder_name", "") == "the nightly report";
    });
  };
  EXPECT_TRUE(named_by({"acquire", "r", "--json"}));
  EXPECT_TRUE(named_by({"run", "r", "--wait", "0s", "--json", "--", "true"}));
}

TEST_F(CliByToken, QuietIsTheTokenAndElseNothing) {
  const auto lock = tool({"acquire", "r", "--fencing", "--quiet"});
  ASSERT_EQ(lock.output.size(), 41U) << lock.output;
  EXPECT_EQ(lock.output.find(' '), std::string::npos);
  const std::string token = lock.output.substr(0, 40);
  EXPECT_EQ(tool({"extend", "r", "--token", token, "--ttl", "20s", "--quiet"}).output, "");
  EXPECT_EQ(tool({"release", "r", "--token", token, "--quiet"}).output, "");
  EXPECT_EQ(tool({"run", "r", "--quiet", "--", "true"}).output, "");
  EXPECT_EQ(tool({"elect", "r", "--quiet", "--", "true"}).output, "");
  ASSERT_EQ(tool({"acquire", "r"}).exit_code, 0);
  const auto broken = tool({"break", "r", "--yes", "--quiet"});
  EXPECT_EQ(broken.exit_code, 0);
  EXPECT_EQ(broken.output + broken.errors, "");
}

TEST_F(CliByToken, TheJsonOfABreakIsThereWhateverComesOfIt) {
  Nodes few(3);
  for (const std::size_t down : {1U, 2U}) few[down].kill();
  const auto unavailable = run_tool(
      {"break", "r", "--yes", "--json", "--timeout", "500ms", "--nodes", few.joined_urls()});
  EXPECT_EQ(unavailable.exit_code, 69);
  EXPECT_EQ(json_of(unavailable).value("outcome", ""), "unavailable");
  const auto of_permits = run_tool({"inspect", "r", "--permits", "2", "--json", "--timeout",
                                    "500ms", "--nodes", few.joined_urls()});
  EXPECT_EQ(of_permits.exit_code, 69);
  EXPECT_EQ(json_of(of_permits).value("kind", ""), "semaphore");
  const auto released = run_tool({"release", "r", "--permits", "2", "--token", "t", "--json",
                                  "--timeout", "500ms", "--nodes", few.joined_urls()});
  EXPECT_EQ(released.exit_code, 69) << released.errors;
  EXPECT_EQ(json_of(released).value("outcome", ""), "unavailable");
}

TEST_F(CliByToken, VerboseWithJsonLogsAnObjectALine) {
  ASSERT_EQ(tool({"acquire", "r"}).exit_code, 0);
  const auto refused = tool({"acquire", "r", "--json", "--verbose"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_EQ(json_of(refused).value("outcome", ""), "held");
  std::size_t up = 0;
  std::size_t errors = 0;
  std::istringstream lines(refused.errors);
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line, nullptr, false);
    ASSERT_TRUE(json.is_object()) << line;
    EXPECT_TRUE(json.value("time", "").ends_with("Z")) << line;
    EXPECT_TRUE(json.contains("message")) << line;
    up += json.value("event", "") == "up" ? 1U : 0U;
    errors += json.value("level", "") == "error" ? 1U : 0U;
  }
  EXPECT_GE(up, 2U) << refused.errors;
  EXPECT_EQ(errors, 1U) << refused.errors;
  const auto text = tool({"acquire", "r", "--verbose"});
  EXPECT_NE(text.errors.find(" up: "), std::string::npos) << text.errors;
  const auto usage = tool({"acquire", "r", "--json", "--verbose", "--ttl", "1h"});
  EXPECT_TRUE(usage.errors.starts_with("quorum-lock: --ttl:")) << usage.errors;
}

TEST_F(CliByToken, AWaitWithoutAnEndIsGrantedOrInterrupted) {
  const Json lease = acquired({"r"});
  ASSERT_EQ(tool({"extend", "r", "--token", token_in(lease), "--ttl", "30s"}).exit_code, 0);
  ChildProcess waiter = start({"acquire", "r", "--wait", "forever", "--quiet"});
  ChildProcess runner = start({"run", "r", "--wait", "forever", "--", "true"});
  EXPECT_TRUE(runner.wait_for_errors("waits for as long as it takes"));
  runner.signal(SIGINT);
  const auto interrupted = runner.wait();
  ASSERT_TRUE(interrupted);
  EXPECT_EQ(interrupted->code, 128 + SIGINT);
  ASSERT_EQ(tool({"release", "r", "--token", token_in(lease)}).exit_code, 0);
  EXPECT_EQ(waiter.wait(), ExitStatus{.code = 0});
  EXPECT_EQ(waiter.output().size(), 41U);
}

TEST_F(CliByToken, AnObserverMayWaitForALeader) {
  const auto none = tool({"elect", "e", "--observe", "--wait", "50ms", "--json"});
  EXPECT_EQ(none.exit_code, 75) << none.errors;
  EXPECT_TRUE(json_of(none).at("leader").is_null());
  EXPECT_EQ(count_lines(none.errors), 1U) << none.errors;

  ChildProcess observer = start({"elect", "e", "--observe", "--wait", "forever", "--json"});
  ChildProcess leader = start({"elect", "e", "--name", "a", "--quiet", "--wait", "forever"});
  EXPECT_EQ(observer.wait(), ExitStatus{.code = 0});
  EXPECT_EQ(Json::parse(observer.output(), nullptr, false).value("leader", ""), "a");
  const auto seen = tool({"elect", "e", "--observe", "--wait", "0s"});
  EXPECT_EQ(seen.exit_code, 0) << seen.errors;
  EXPECT_EQ(seen.output, "leader a\n");
  leader.signal(SIGTERM);
  EXPECT_EQ(leader.wait(), ExitStatus{.code = 128 + SIGTERM});
  EXPECT_EQ(leader.output(), "");
}

}  // namespace
}  // namespace redlock::test
