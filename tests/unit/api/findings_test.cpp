#include "api/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace redlock::api {
namespace {

using runtime::SurveyedNode;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SurveyedNode healthy(const std::string& name) {
  SurveyedNode node;
  node.seen.url = "redis://" + name;
  node.seen.reachable = true;
  node.seen.version = "7.0.15";
  node.seen.role = "master";
  node.seen.run_id = "run-of-" + name;
  node.seen.persistence = "none";
  node.seen.maxmemory_policy = "noeviction";
  node.clock = seconds(1'000'000);
  return node;
}

ClientOptions options_for(std::size_t count) {
  ClientOptions options;
  options.nodes.resize(count);
  return options;
}

std::vector<std::string> ids_of(const Examination& examination) {
  std::vector<std::string> ids;
  for (const Finding& finding : examination.findings) {
    EXPECT_NE(finding.node, "");
    EXPECT_NE(finding.what, "");
    EXPECT_NE(finding.why, "");
    EXPECT_NE(finding.mend, "");
    ids.push_back(finding.id);
  }
  return ids;
}

Examination judge_one(const SurveyedNode& node, const ClientOptions& options = options_for(1)) {
  return judge({node}, options);
}

TEST(Findings, OfAHealthyNodeThatIsNewAreNone) {
  EXPECT_THAT(ids_of(judge_one(healthy("a"))), IsEmpty());
}

TEST(Findings, OfANodeThatDoesNotAnswerSayWhyAndNothingElse) {
  SurveyedNode node;
  node.seen.url = "redis://a";
  node.seen.problem = "connection refused";
  const Examination examination = judge_one(node);
  ASSERT_THAT(ids_of(examination), ElementsAre("unreachable"));
  EXPECT_THAT(examination.findings[0].what, HasSubstr("connection refused"));
}

TEST(Findings, OfANodeThatLetsNobodyInAreAboutThatAlone) {
  SurveyedNode node;
  node.seen.url = "redis://a";
  node.seen.reachable = true;
  node.denied = "NOAUTH Authentication required.";
  EXPECT_THAT(ids_of(judge_one(node)), ElementsAre("auth"));
}

TEST(Findings, TellAUserThatMayNotDoEnoughHowToMendThat) {
  SurveyedNode node = healthy("a");
  node.denied = "NOPERM this user has no permissions to run the 'time' command";
  const Examination examination = judge_one(node);
  ASSERT_THAT(ids_of(examination), ElementsAre("auth"));
  EXPECT_THAT(examination.findings[0].mend, HasSubstr("ACL SETUSER"));
}

TEST(Findings, ReportServersThatCanNotVote) {
  SurveyedNode replica = healthy("a");
  replica.seen.role = "slave";
  EXPECT_THAT(ids_of(judge_one(replica)), ElementsAre("replica"));

  SurveyedNode cluster = healthy("a");
  cluster.seen.cluster = true;
  EXPECT_THAT(ids_of(judge_one(cluster)), ElementsAre("cluster"));

  SurveyedNode sentinel = healthy("a");
  sentinel.seen.role = "sentinel";
  sentinel.seen.maxmemory_policy = "";
  EXPECT_THAT(ids_of(judge_one(sentinel)), ElementsAre("sentinel"));

  SurveyedNode loading = healthy("a");
  loading.seen.loading = true;
  EXPECT_THAT(ids_of(judge_one(loading)), ElementsAre("loading"));

  SurveyedNode evicting = healthy("a");
  evicting.seen.maxmemory_policy = "allkeys-lru";
  EXPECT_THAT(ids_of(judge_one(evicting)), ElementsAre("evicting"));
}

TEST(Findings, ReportVersionsBeforeFive) {
  SurveyedNode node = healthy("a");
  node.seen.version = "4.0.14";
  EXPECT_THAT(ids_of(judge_one(node)), ElementsAre("version"));
  for (const char* good : {"5.0.0", "7.2.4", "10.1.0", "255.255.255", "unknown"}) {
    node.seen.version = good;
    EXPECT_THAT(ids_of(judge_one(node)), IsEmpty()) << good;
  }
}

TEST(Findings, NameAllAddressesOfOneServerOnce) {
  SurveyedNode a = healthy("a");
  SurveyedNode b = healthy("b");
  SurveyedNode c = healthy("c");
  c.seen.run_id = a.seen.run_id;
  const Examination examination = judge({a, b, c}, options_for(3));
  ASSERT_THAT(ids_of(examination), ElementsAre("duplicate"));
  EXPECT_EQ(examination.findings[0].node, "redis://a, redis://c");
}

TEST(Findings, DoNotTakeNodesThatToldNoRunIdForOne) {
  SurveyedNode a;
  a.seen.url = "redis://a";
  SurveyedNode b;
  b.seen.url = "redis://b";
  EXPECT_THAT(ids_of(judge({a, b}, options_for(2))), ElementsAre("unreachable", "unreachable"));
}

TEST(Findings, AskForDurabilityOnlyWhereTheRestartGuardDoesNotMakeUpForIt) {
  SurveyedNode forgetful = healthy("a");
  SurveyedNode durable = healthy("b");
  durable.seen.durable = true;
  const std::vector<SurveyedNode> both{forgetful, durable};
  ClientOptions options = options_for(2);
  EXPECT_THAT(ids_of(judge(both, options)), IsEmpty());

  options.guards.trust_durable = true;
  Examination examination = judge(both, options);
  ASSERT_THAT(ids_of(examination), ElementsAre("not-durable"));
  EXPECT_EQ(examination.findings[0].node, "redis://a");

  options.guards.trust_durable = false;
  options.guards.restart = false;
  examination = judge(both, options);
  ASSERT_THAT(ids_of(examination), ElementsAre("not-durable"));
  EXPECT_EQ(examination.findings[0].node, "redis://a");
}

TEST(Findings, CompareClocksWithTheirMedian) {
  std::vector<SurveyedNode> nodes{healthy("a"), healthy("b"), healthy("c"), healthy("d")};
  *nodes[0].clock += milliseconds(10);
  *nodes[1].clock -= seconds(3);
  nodes[3].clock.reset();
  const Examination examination = judge(nodes, options_for(4));
  EXPECT_EQ(examination.nodes[0].clock_offset, milliseconds(10));
  EXPECT_EQ(examination.nodes[1].clock_offset, -seconds(3));
  EXPECT_EQ(examination.nodes[2].clock_offset, seconds(0));
  EXPECT_EQ(examination.nodes[3].clock_offset, std::nullopt);
  ASSERT_THAT(ids_of(examination), ElementsAre("clock"));
  EXPECT_EQ(examination.findings[0].node, "redis://b");
  EXPECT_THAT(examination.findings[0].what, HasSubstr("3 s behind"));
}

TEST(Findings, DoNotBlameAClockForTheTimeThatItsAnswerWasUnderWay) {
  std::vector<SurveyedNode> nodes{healthy("a"), healthy("b"), healthy("c")};
  *nodes[0].clock += milliseconds(1500);
  nodes[0].seen.round_trip = milliseconds(1200);
  EXPECT_THAT(ids_of(judge(nodes, options_for(3))), IsEmpty());
}

TEST(Findings, TellWhatOfAMembershipDiffers) {
  SurveyedNode node = healthy("a");
  node.seen.marked = true;
  node.marker = runtime::Marker{node.seen.run_id, 1, seconds(30)};
  EXPECT_THAT(ids_of(judge_one(node)), IsEmpty());

  node.marker->nodes = 5;
  Examination examination = judge_one(node);
  ASSERT_THAT(ids_of(examination), ElementsAre("membership"));
  EXPECT_THAT(examination.findings[0].what, HasSubstr("a deployment of 5 nodes"));
  EXPECT_THAT(examination.findings[0].what, testing::Not(HasSubstr("max TTL")));

  node.marker->max_ttl = seconds(60);
  examination = judge_one(node);
  ASSERT_THAT(ids_of(examination), ElementsAre("membership"));
  EXPECT_THAT(examination.findings[0].what, HasSubstr("max TTL of 60 s"));
}

TEST(Findings, TellHowLongAQuarantineStillLasts) {
  SurveyedNode node = healthy("a");
  node.seen.quarantine = seconds(12);
  Examination examination = judge_one(node);
  ASSERT_THAT(ids_of(examination), ElementsAre("quarantined"));
  EXPECT_THAT(examination.findings[0].what, HasSubstr("12 s"));
  EXPECT_THAT(examination.findings[0].mend, HasSubstr("bootstrap"));

  node.seen.quarantine = forever;
  examination = judge_one(node);
  ASSERT_THAT(ids_of(examination), ElementsAre("quarantined"));
  EXPECT_THAT(examination.findings[0].mend, HasSubstr("redlock:node:quarantine"));
}

TEST(Findings, DoNotReadAReplicasCopyOfItsMastersMarker) {
  SurveyedNode node = healthy("a");
  node.seen.role = "slave";
  node.seen.quarantine = seconds(12);
  node.marker = runtime::Marker{"another", 7, seconds(1)};
  EXPECT_THAT(ids_of(judge_one(node)), ElementsAre("replica"));
}

TEST(Findings, CallANodeRestartedOnlyWhereThatCostsAVote) {
  SurveyedNode node = healthy("a");
  node.seen.restarted = true;
  ClientOptions options = options_for(1);
  EXPECT_TRUE(judge_one(node, options).nodes[0].restarted);
  node.seen.durable = true;
  options.guards.trust_durable = true;
  EXPECT_FALSE(judge_one(node, options).nodes[0].restarted);
  options.guards.restart = false;
  EXPECT_FALSE(judge_one(node, options).nodes[0].restarted);
}

TEST(Findings, ForbidOpeningUnlessWaitingOrOpeningMendsThem) {
  for (const char* id : {"unreachable", "auth", "duplicate", "replica", "cluster", "sentinel",
                         "evicting", "loading", "version"}) {
    EXPECT_TRUE(forbids_opening(id)) << id;
  }
  for (const char* id : {"quarantined", "membership", "clock", "not-durable"}) {
    EXPECT_FALSE(forbids_opening(id)) << id;
  }
}

}  // namespace
}  // namespace redlock::api
