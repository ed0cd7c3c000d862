// What doctor says of a primary with replicas.

#include "api/deployment/reign_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "api/deployment/findings.hpp"

namespace redlock::api {
namespace {

using runtime::SurveyedNode;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

admin::ServerCheck server(const std::string& address, bool primary) {
  admin::ServerCheck server;
  server.address = address;
  server.primary = primary;
  return server;
}

/// A member of its own with two replicas, which has been confirmed for ten seconds.
SurveyedNode primary() {
  SurveyedNode node;
  node.seen.url = "redis://db?servers=3";
  node.seen.reachable = true;
  node.seen.version = "7.0.15";
  node.seen.role = admin::NodeCheck::Role::master;
  node.seen.run_id = "run";
  node.seen.maxmemory_policy = "noeviction";
  node.seen.replicas = 2;
  node.seen.marked = true;
  node.clock = node.time = seconds(1'000'000);
  node.memory.history = "id";
  core::Marker marker;
  marker.state = core::Marker::State::active;
  marker.incarnation = "i";
  marker.deployment = "1.d";
  marker.run_id = "run";
  marker.replid = "id";
  marker.max_ttl = seconds(30);
  marker.self = node.seen.url;
  marker.members = {node.seen.url};
  node.marker = marker;
  node.marker_text = core::format_marker(marker) + " 1";
  node.reign = runtime::SurveyedReign{"reign1 run id 999990000000 10", 2, 10, 2, {}, {}, {}};
  node.reign->seen = {server("10.0.0.7:6379", true), server("10.0.0.8:6379", false),
                      server("10.0.0.9:6379", false)};
  return node;
}

admin::DeploymentCheck judge_primary(const SurveyedNode& node) {
  ClientOptions options;
  options.nodes.resize(1);
  return judge({node}, options);
}

std::vector<std::string> kinds_of(const admin::DeploymentCheck& check) {
  std::vector<std::string> ids;
  for (const admin::Finding& finding : check.findings) ids.emplace_back(to_string(finding.kind));
  return ids;
}

TEST(ReignFindings, AreNoneWhileAMajorityFollows) {
  const admin::DeploymentCheck check = judge_primary(primary());
  EXPECT_THAT(kinds_of(check), IsEmpty());
  EXPECT_EQ(check.granted_in, seconds(0));
  ASSERT_TRUE(check.nodes[0].reign);
  EXPECT_TRUE(check.nodes[0].votes);
  EXPECT_TRUE(check.nodes[0].reign->stands);
  EXPECT_EQ(check.nodes[0].reign->confirmed_for, seconds(10));
  EXPECT_EQ(check.nodes[0].reign->needed, 1U);
  EXPECT_EQ(check.nodes[0].reign->seen.size(), 3U);
}

TEST(ReignFindings, SayHowManyMoreServersMayFail) {
  SurveyedNode node = primary();
  node.seen.replicas = 1;
  node.reign->seen.pop_back();
  node.reign->acknowledged = node.reign->in_step = 1;
  const admin::DeploymentCheck check = judge_primary(node);
  ASSERT_THAT(kinds_of(check), ElementsAre("replicas"));
  EXPECT_THAT(check.findings[0].why, HasSubstr("no other one may fail"));
  EXPECT_EQ(check.findings[0].remedy,
            "10.0.0.7:6379 is the primary, and 10.0.0.8:6379 follows: bring the other server "
            "back.");
  EXPECT_TRUE(check.nodes[0].votes);
}

TEST(ReignFindings, SayWhyThereIsNoVote) {
  struct Row {
    const char* record;
    std::uint64_t acknowledged;
    std::uint64_t attachments;
    std::uint64_t in_step;
    const char* what;
    std::optional<std::chrono::nanoseconds> granted_in;
  };
  constexpr milliseconds quarantine{30302};
  for (const Row& row : {
           Row{"reign1 run id 17 10", 0, 10, 0, "1 of its 3 servers is up to date; 2 are needed.",
               std::nullopt},
           Row{"reign1 run id 17 10", 3, 10, 3, "It has more servers than the 3 that its URL says.",
               std::nullopt},
           Row{"reign1 run id 17 10", 2, 12, 2,
               "followed its primary, 10.0.0.7:6379, all the time.", quarantine},
           Row{"reign1 other id 17 10", 2, 10, 2, "Its primary, 10.0.0.7:6379, is new", quarantine},
           Row{"", 2, 10, 2, "Its primary, 10.0.0.7:6379, is new", quarantine},
       }) {
    SurveyedNode node = primary();
    node.seen.quarantine = seconds(3);  // its end gives no vote
    node.reign->record = row.record;
    node.reign->acknowledged = row.acknowledged;
    node.reign->attachments = row.attachments;
    node.reign->in_step = row.in_step;
    const admin::DeploymentCheck check = judge_primary(node);
    ASSERT_THAT(kinds_of(check), ElementsAre("reign")) << row.what;
    EXPECT_THAT(check.findings[0].what, HasSubstr(row.what));
    EXPECT_EQ(check.granted_in, row.granted_in) << row.what;
    EXPECT_FALSE(check.nodes[0].votes);
    EXPECT_FALSE(check.nodes[0].reign->stands);
    EXPECT_NE(check.nodes[0].reign->why_not, "");
  }
}

TEST(ReignFindings, OfAQuarantineNameTheNewPrimary) {
  SurveyedNode node = primary();
  node.seen.quarantine = seconds(12);
  node.quarantine_why = "reign";
  admin::DeploymentCheck check = judge_primary(node);
  ASSERT_THAT(kinds_of(check), ElementsAre("quarantined"));
  EXPECT_THAT(check.findings[0].why, HasSubstr("its primary, 10.0.0.7:6379,"));
  EXPECT_EQ(check.granted_in, seconds(12));
  node.quarantine_why = "first";
  EXPECT_THAT(judge_primary(node).findings[0].why, HasSubstr("Its servers are new"));
  node.quarantine_why = "broken";
  EXPECT_THAT(judge_primary(node).findings[0].why, HasSubstr("Too few of its servers followed"));
}

TEST(ReignFindings, TakeACopiedRecordForNone) {
  SurveyedNode node = primary();
  node.seen.restarted = true;  // a replica that was promoted has its primary's marker and record
  EXPECT_FALSE(judge_primary(node).nodes[0].reign->stands);
}

TEST(ReignFindings, NameTheCommandThatIsMissing) {
  SurveyedNode node = primary();
  node.reign->refused = "WAIT";
  node.reign->error = "NOPERM this user has no permissions to run the 'wait' command";
  admin::DeploymentCheck check = judge_primary(node);
  ASSERT_THAT(kinds_of(check), ElementsAre("auth"));
  EXPECT_THAT(check.findings[0].what, HasSubstr("need: WAIT: NOPERM"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("a replica does not copy users"));
  EXPECT_FALSE(check.nodes[0].votes);
  EXPECT_EQ(check.granted_in, std::nullopt);
  node.reign->error = "ERR unknown command 'WAIT'";
  check = judge_primary(node);
  ASSERT_THAT(kinds_of(check), ElementsAre("missing-command"));
  EXPECT_FALSE(check.nodes[0].votes);
}

TEST(ReignFindings, NameAnotherNumberOfServers) {
  SurveyedNode node = primary();
  node.marker->self = "redis://db?servers=5";
  const admin::DeploymentCheck check = judge_primary(node);
  ASSERT_FALSE(check.findings.empty());
  EXPECT_EQ(check.findings[0].kind, admin::Finding::Kind::membership);
  EXPECT_THAT(check.findings[0].what, HasSubstr("redis://db?servers=5"));
  EXPECT_FALSE(check.nodes[0].votes);
}

TEST(ReignFindings, GiveNoAdviceThatIsForNodesWithoutReplicas) {
  SurveyedNode node = primary();
  node.forgetting = "FLUSHALL (1 time)";
  admin::DeploymentCheck check = judge_primary(node);
  ASSERT_THAT(kinds_of(check), ElementsAre("forgetting-commands"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("Do not run CONFIG RESETSTAT"));
  node = primary();
  node.refuses_writes = "NOREPLICAS Not enough good replicas.";
  check = judge_primary(node);
  ASSERT_THAT(kinds_of(check), ElementsAre("refuses-writes"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("Bring its replicas back"));
  node = primary();
  node.seen.role = admin::NodeCheck::Role::replica;
  node.reign.reset();
  check = judge_primary(node);
  ASSERT_THAT(kinds_of(check), ElementsAre("replica"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("Wait for the failover"));
  node = primary();
  ClientOptions durable;
  durable.nodes.resize(1);
  durable.guards.trust_durable = true;
  EXPECT_THAT(kinds_of(judge({node}, durable)), IsEmpty());
}

TEST(ReignFindings, WarnOfAClusterThatMayMoveReplicas) {
  SurveyedNode node = primary();
  node.migrates_replicas = true;
  const admin::DeploymentCheck check = judge_primary(node);
  ASSERT_THAT(kinds_of(check), ElementsAre("replica-migration"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("cluster-allow-replica-migration no"));
  node.seen.url = "redis://db";
  node.reign.reset();
  for (const std::string& id : kinds_of(judge_primary(node))) EXPECT_NE(id, "replica-migration");
}

}  // namespace
}  // namespace redlock::api
