// run --shared, --permits, --owner, --interval, on several resources; elect; watch.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <string>

#include "integration/cli/on_nodes.hpp"
#include "integration/library.hpp"

namespace redlock::test {
namespace {

using namespace std::chrono_literals;

class CliKinds : public CliOnNodes {
 protected:
  /// A command under a lock, until its standard input ends.
  static ChildProcess hold(Words options) {
    options.insert(options.end(), {"--", "sh", "-c", "echo in; read line"});
    ChildProcess child = start(std::move(options));
    EXPECT_TRUE(child.wait_for_output("in\n"));
    return child;
  }
};

TEST_F(CliKinds, AWaitSaysWhatItWaitsFor) {
  ChildProcess holder = hold({"run", "r", "--shared"});
  ChildProcess waiter = start({"run", "r", "--wait", "60s", "--", "true"});
  EXPECT_TRUE(waiter.wait_for_errors("waiting for 'r': held by 1 reader"));
  ChildProcess quiet = start({"run", "r", "--wait", "60s", "--quiet", "--", "true"});
  holder.close_input();
  EXPECT_EQ(waiter.wait(), ExitStatus{.code = 0});
  EXPECT_EQ(quiet.wait(), ExitStatus{.code = 0});
  EXPECT_EQ(quiet.errors(), "");
}

TEST_F(CliKinds, ReadersShareAndAWriterIsRefused) {
  ChildProcess first = hold({"run", "r", "--shared"});
  ChildProcess second = hold({"run", "r", "--shared"});
  const auto writer = tool({"run", "r", "--wait", "0s", "--", "true"});
  EXPECT_EQ(writer.exit_code, 75) << writer.errors;
  // The last node may lag behind the quorum.
  EXPECT_TRUE(eventually([&] {
    return json_of(tool({"inspect", "r", "--json"}))["nodes"][0]["holds"] == 2;
  }));
  const Json json = json_of(tool({"inspect", "r", "--json"}));
  EXPECT_EQ(json["kind"], "shared");
  EXPECT_EQ(json["state"], "held");
  EXPECT_NE(tool({"inspect", "r"}).output.find("2 readers"), std::string::npos);
}

/// Locks of holders that are gone.
class CliBreaksHolds : public CliKinds {
 protected:
  /// Acquires, waits until the lock is on all nodes, because a late SET would come after the break,
  /// and abandons it.
  std::string leave(const Target& target) {
    const std::string& resource = target.resource();
    auto lease = client_.try_acquire(target, {.ttl = 20s});
    EXPECT_TRUE(succeeded(lease));
    EXPECT_TRUE(eventually([&] {
      const auto seen = client_.inspect(resource);
      return seen && std::all_of(seen->nodes.begin(), seen->nodes.end(), [&](const auto& node) {
               const auto& all = node.tokens;
               return std::find(all.begin(), all.end(), lease->token()) != all.end();
             });
    }));
    return lease->detach().token.str();
  }
  static void leave_a_crowd(const std::string& resource, int size) {
    const auto ends = std::chrono::system_clock::now().time_since_epoch() + 60s;
    const std::string score = std::to_string(ends / 1ms);
    Command words{"ZADD", resource, "0", "group:shared"};
    for (int i = 0; i < size; ++i) words.insert(words.end(), {score, "hold:" + std::to_string(i)});
    for (RedisServer& node : nodes()) node.command(words);
  }
  static std::size_t count(const std::string& resource) {
    std::size_t there = 0;
    for (RedisServer& node : nodes()) there += node.command({"EXISTS", resource}).integer == 1;
    return there;
  }

  Client client_ = make_client(patient(nodes().urls()));
};

TEST_F(CliBreaksHolds, ReadersByTheirTokensAndTheWriterIsNext) {
  std::vector<std::string> tokens{leave(shared("r")), leave(shared("r"))};
  std::sort(tokens.begin(), tokens.end());
  const std::string elsewhere = leave(shared("s"));
  const auto seen = tool({"inspect", "r"});
  EXPECT_NE(seen.output.find("token " + tokens[0] + "  (on 3 of 3 nodes)"), std::string::npos)
      << seen.output;
  const Json json = json_of(tool({"inspect", "r", "--json"}));
  for (const Json& node : json["nodes"]) {
    std::vector<std::string> reported = node["tokens"];
    std::sort(reported.begin(), reported.end());
    EXPECT_EQ(reported, tokens);
  }

  const auto broken = tool({"break", "r", "--yes", "--json"});
  EXPECT_EQ(broken.exit_code, 0) << broken.errors;
  EXPECT_NE(broken.errors.find(tokens[1]), std::string::npos) << broken.errors;
  EXPECT_EQ(json_of(broken)["outcome"], "released");
  EXPECT_EQ(json_of(broken)["tokens"], Json(tokens));
  EXPECT_EQ(count("r"), 0U);
  EXPECT_EQ(tool({"run", "r", "--wait", "0s", "--", "true"}).exit_code, 0);
  EXPECT_EQ(tool({"run", "s", "--wait", "0s", "--", "true"}).exit_code, 75);
  EXPECT_EQ(json_of(tool({"inspect", "s", "--json"}))["nodes"][0]["tokens"][0], elsewhere);
}

TEST_F(CliBreaksHolds, OfOneReaderWithADelayAndNobodyJoinsTheOther) {
  const std::string first = leave(shared("r"));
  const std::string second = leave(shared("r"));
  ASSERT_TRUE(succeeded(client_.break_lock("r", *Token::parse(first), {.delay = 30s})));
  const std::string shown = "r  held by 1 reader, no more: broken by ";
  std::string output;
  EXPECT_TRUE(eventually([&] {
    output = tool({"inspect", "r"}).output;
    return output.find(shown) != std::string::npos;
  })) << output;
  output = tool({"list"}).output;
  EXPECT_NE(output.find("1 reader "), std::string::npos) << output;
  const auto refused = tool({"run", "r", "--shared", "--wait", "0s", "--", "true"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_NE(refused.errors.find("broken by "), std::string::npos) << refused.errors;

  const auto broken = tool({"break", "r", "--yes"});
  EXPECT_EQ(broken.exit_code, 0) << broken.errors;
  EXPECT_NE(broken.output.find("broken r  token " + second), std::string::npos) << broken.output;
  EXPECT_EQ(count("r"), 0U) << "it ends the delay, too";
}

TEST_F(CliBreaksHolds, AnOwnersAndTheNextOwnerGetsIn) {
  const std::string token = leave(owned("r", "nightly"));
  EXPECT_EQ(tool({"run", "r", "--owner", "daily", "--wait", "0s", "--", "true"}).exit_code, 75);
  const auto broken = tool({"break", "r", "--yes"});
  EXPECT_EQ(broken.exit_code, 0) << broken.errors;
  EXPECT_NE(broken.output.find("by owner nightly, 1 hold"), std::string::npos) << broken.output;
  EXPECT_NE(broken.output.find("broken r  token " + token), std::string::npos) << broken.output;
  EXPECT_EQ(tool({"run", "r", "--owner", "daily", "--wait", "0s", "--", "true"}).exit_code, 0);
}

TEST_F(CliBreaksHolds, OfACrowdThoseThatItShows) {
  leave_a_crowd("r", 300);
  const Json json = json_of(tool({"inspect", "r", "--json"}));
  EXPECT_EQ(json["nodes"][0]["holds"], 300);
  EXPECT_EQ(json["nodes"][0]["tokens"].size(), limits::holds_listed);
  const auto first = tool({"break", "r", "--yes"});
  EXPECT_EQ(first.exit_code, 75);
  EXPECT_NE(first.output.find("and 44 more"), std::string::npos);
  EXPECT_EQ(count_lines(first.errors), 1U) << first.errors;
  EXPECT_EQ(count("r"), 3U);
  EXPECT_EQ(tool({"break", "r", "--yes"}).exit_code, 0);
  EXPECT_EQ(count("r"), 0U);
}

TEST_F(CliBreaksHolds, NothingWhereOneOfThemIsNoToken) {
  leave_a_crowd("r", 2);
  for (RedisServer& node : nodes()) {
    node.command({"ZADD", "r", "9999999999999", "hold:" + std::string(200, 'x')});
  }
  const auto refused = tool({"break", "r", "--yes"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_NE(refused.errors.find("not a lock token"), std::string::npos) << refused.errors;
  EXPECT_EQ(json_of(tool({"inspect", "r", "--json"}))["nodes"][0]["holds"], 3);
}

TEST_F(CliKinds, TheSameOwnerEntersAgain) {
  ChildProcess first = hold({"run", "r", "--owner", "nightly"});
  EXPECT_EQ(tool({"run", "r", "--owner", "nightly", "--wait", "0s", "--", "true"}).exit_code, 0);
  const auto other = tool({"run", "r", "--owner", "daily", "--wait", "0s", "--", "true"});
  EXPECT_EQ(other.exit_code, 75);
  EXPECT_NE(other.errors.find("owner night"), std::string::npos) << other.errors;
  const Json json = json_of(tool({"inspect", "r", "--json"}));
  EXPECT_EQ(json["kind"], "owned");
  EXPECT_EQ(json["owner"], "nightly");
  EXPECT_TRUE(json["holder"].is_null());
  const Json votes = json_of(tool({"acquire", "r", "--owner", "daily", "--json"}))["nodes"];
  for (const Json& vote : votes) {
    if (vote["vote"] != "refused") continue;
    EXPECT_EQ(vote["holder_kind"], "owned");
    EXPECT_EQ(vote["owner"], "nightly");
    EXPECT_TRUE(vote["holder"].is_null());
  }
}

TEST_F(CliKinds, AtMostKCommandsRunAndSeeTheirPermit) {
  ChildProcess first = hold({"run", "r", "--permits", "2"});
  ChildProcess second = hold({"run", "r", "--permits", "2"});
  EXPECT_EQ(tool({"run", "r", "--permits", "2", "--wait", "0s", "--", "true"}).exit_code, 75);
  const auto third = tool({"run", "r", "--permits", "3", "--wait", "0s", "--", "sh", "-c",
                           "echo $QUORUM_LOCK_RESOURCE $QUORUM_LOCK_PERMIT"});
  EXPECT_EQ(third.exit_code, 0);
  EXPECT_EQ(third.output, "r r#2\n");
  const auto seen = tool({"inspect", "r", "--permits", "3"});
  EXPECT_NE(seen.output.find("2 of 3 permits taken"), std::string::npos) << seen.output;
  const Json json = json_of(tool({"inspect", "r", "--permits", "2", "--json"}));
  EXPECT_EQ(json["kind"], "semaphore");
  EXPECT_EQ(json["state"], "held");
  EXPECT_EQ(json["permits"], 2);
  EXPECT_EQ(json["permit_states"].size(), 2U);
  EXPECT_EQ(json["permits_held"], 2);
}

TEST_F(CliKinds, InspectWithoutPermitsSaysThatTheyAreHeld) {
  // The name is no pattern: what it would match is another semaphore.
  EXPECT_EQ(tool({"acquire", "e*", "--permits", "3", "--ttl", "20s"}).exit_code, 0);
  EXPECT_EQ(tool({"acquire", "encoders", "--permits", "3", "--ttl", "20s"}).exit_code, 0);
  const auto seen = tool({"inspect", "e*"});
  EXPECT_EQ(seen.exit_code, 0);
  EXPECT_NE(seen.output.find("e*  free"), std::string::npos) << seen.output;
  EXPECT_NE(seen.errors.find("'e*' is a semaphore, and 1 of its permits is held: add --permits N"),
            std::string::npos)
      << seen.errors;
  EXPECT_EQ(tool({"inspect", "e"}).errors, "") << "nobody holds anything of that name";
}

TEST_F(CliKinds, AnIntervalOutlivesTheCommand) {
  EXPECT_EQ(tool({"run", "r", "--interval", "1h", "--", "true"}).exit_code, 0);
  const auto again = tool({"run", "r", "--interval", "1h", "--wait", "0s", "--", "true"});
  EXPECT_EQ(again.exit_code, 75) << again.errors;
  const auto seen = tool({"inspect", "r"});
  EXPECT_NE(seen.output.find("nobody, until its interval is over"), std::string::npos)
      << seen.output;
  EXPECT_EQ(json_of(tool({"inspect", "r", "--json"}))["kind"], "interval");
  EXPECT_EQ(tool({"break", "r", "--yes"}).exit_code, 0);
  EXPECT_EQ(tool({"run", "r", "--wait", "0s", "--", "true"}).exit_code, 0);
}

TEST_F(CliKinds, SeveralResourcesAreTakenTogether) {
  ChildProcess both = hold({"run", "a", "b"});
  EXPECT_EQ(tool({"run", "b", "c", "--wait", "0s", "--", "true"}).exit_code, 75);
  EXPECT_EQ(nodes().count_held("c"), 0U);
  const auto seen = tool({"run", "c", "d", "--", "sh", "-c", "echo $QUORUM_LOCK_RESOURCE"});
  EXPECT_EQ(seen.output, "c d\n");
  EXPECT_TRUE(eventually([&] { return nodes().count_held("a") == 3; }));
}

TEST_F(CliKinds, WhatDoesNotGoTogetherIsOneLine) {
  for (const Words& words : {Words{"run", "r", "--shared", "--owner", "me", "--", "true"},
                             Words{"run", "r", "--shared", "--fencing", "--", "true"},
                             Words{"run", "r", "--shared", "--interval", "1s", "--", "true"},
                             Words{"run", "r", "s", "--permits", "2", "--", "true"},
                             Words{"run", "r", "--permits", "0", "--", "true"},
                             Words{"run", "r", "--interval", "0s", "--", "true"},
                             Words{"run", "r", "--owner=", "--", "true"},
                             Words{"elect", "r", "--observe", "--", "true"}}) {
    const auto refused = tool(words);
    EXPECT_EQ(refused.exit_code, 64) << refused.errors;
    EXPECT_EQ(count_lines(refused.errors), 1U) << refused.errors;
  }
}

TEST_F(CliKinds, ElectRunsTheCommandWhileItLeads) {
  ChildProcess leader = start({"elect", "e", "--name", "a", "--", "sh", "-c",
                               "echo in $QUORUM_LOCK_FENCING_TOKEN; read line"});
  ASSERT_TRUE(leader.wait_for_output("in "));
  const auto second = tool({"elect", "e", "--name", "b", "--wait", "0s", "--", "true"});
  EXPECT_EQ(second.exit_code, 75);
  ChildProcess observer = start({"elect", "e", "--observe", "--json"});
  ASSERT_TRUE(observer.wait_for_output("\n"));
  const Json seen = Json::parse(observer.output(), nullptr, false);
  EXPECT_EQ(seen["leader"], "a") << observer.output();
}

TEST_F(CliKinds, ElectWithoutACommandLeadsUntilASignalAndResigns) {
  ChildProcess leader = start({"elect", "e", "--name", "a"});
  ASSERT_TRUE(leader.wait_for_output("elected e  a  term "));
  EXPECT_TRUE(eventually([&] { return nodes().count_held("e") == 3; }));
  leader.signal(SIGTERM);
  const auto end = leader.wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code, 128 + SIGTERM);
  EXPECT_EQ(nodes().count_held("e"), 0U);
}

// --- P18: watch ---

TEST_F(CliKinds, WatchPrintsALineAtEachChange) {
  ChildProcess watch = start({"watch", "w", "x", "--json"});
  const auto seen = [&](const std::string& resource, const std::string& state) {
    return eventually([&] {
      std::istringstream lines(watch.output());
      std::string last;
      for (std::string line; std::getline(lines, line);) {
        const Json json = Json::parse(line, nullptr, false);
        if (json.is_object() && json["resource"] == resource) last = json["state"];
      }
      return last == state;
    });
  };
  EXPECT_TRUE(seen("w", "free"));
  EXPECT_TRUE(seen("x", "free"));
  const auto lock = tool({"acquire", "w", "--ttl", "30s", "--quiet"});
  ASSERT_EQ(lock.exit_code, 0);
  EXPECT_TRUE(seen("w", "held"));
  const std::string token = lock.output.substr(0, lock.output.find('\n'));
  ASSERT_EQ(tool({"release", "w", "--token", token}).exit_code, 0);
  EXPECT_TRUE(seen("w", "free"));
  watch.signal(SIGTERM);
  const auto end = watch.wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code, 128 + SIGTERM);
}

TEST_F(CliKinds, WaitEndsWhenTheResourceIsFree) {
  const auto lock = tool({"acquire", "w", "--ttl", "30s", "--quiet", "--name", "ann"});
  ASSERT_EQ(lock.exit_code, 0);
  const auto once = tool({"wait", "w", "--wait", "0s"});
  EXPECT_EQ(once.exit_code, 75);
  EXPECT_NE(once.errors.find("'w' is not free: held by ann"), std::string::npos) << once.errors;
  EXPECT_EQ(tool({"wait", "w", "--wait", "50ms"}).exit_code, 75);
  ChildProcess wait = start({"wait", "w"});
  // It has asked once: its answer to the release comes from a notification, or from asking again.
  const std::string token = lock.output.substr(0, lock.output.find('\n'));
  ASSERT_EQ(tool({"release", "w", "--token", token}).exit_code, 0);
  const auto end = wait.wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code, 0);
  EXPECT_EQ(wait.output(), "w  free\n");
  EXPECT_EQ(Json::parse(tool({"wait", "w", "--json"}).output)["state"], "free");
  EXPECT_EQ(tool({"wait", "w", "--quiet"}).output, "");
  const auto unknown = run_tool({"wait", "w", "--wait", "0s", "--nodes", "127.0.0.1:1"});
  EXPECT_EQ(unknown.exit_code, 69);
  EXPECT_NE(unknown.errors.find("127.0.0.1:1"), std::string::npos) << unknown.errors;
}

TEST_F(CliKinds, WatchNeedsAResource) {
  const auto none = tool({"watch"});
  EXPECT_EQ(none.exit_code, 64);
  EXPECT_NE(none.errors.find("RESOURCE: none given"), std::string::npos) << none.errors;
}

}  // namespace
}  // namespace redlock::test
