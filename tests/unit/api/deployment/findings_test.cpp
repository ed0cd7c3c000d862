#include "api/deployment/findings.hpp"

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
using testing::Not;

SurveyedNode healthy(const std::string& name) {
  SurveyedNode node;
  node.seen.url = "redis://" + name;
  node.seen.reachable = true;
  node.seen.version = "7.0.15";
  node.seen.role = admin::NodeCheck::Role::master;
  node.seen.run_id = "run-of-" + name;
  node.seen.persistence = admin::NodeCheck::Persistence::none;
  node.seen.maxmemory_policy = "noeviction";
  node.clock = node.time = seconds(1'000'000);
  return node;
}

ClientOptions options_for(std::size_t count) {
  ClientOptions options;
  options.nodes.resize(count);
  return options;
}

std::vector<std::string> ids_of(const admin::DeploymentCheck& check) {
  std::vector<std::string> ids;
  for (const admin::Finding& finding : check.findings) {
    if (finding.kind == admin::Finding::Kind::not_bootstrapped)
      continue;  // most nodes of these tests are new
    EXPECT_NE(finding.node, "");
    EXPECT_NE(finding.what, "");
    EXPECT_NE(finding.why, "");
    EXPECT_NE(finding.remedy, "");
    ids.emplace_back(to_string(finding.kind));
  }
  return ids;
}

admin::DeploymentCheck judge_one(const SurveyedNode& node,
                                 const ClientOptions& options = options_for(1)) {
  return judge({node}, options);
}

TEST(Findings, OfAHealthyNodeThatIsNewAreNone) {
  EXPECT_THAT(ids_of(judge_one(healthy("a"))), IsEmpty());
}

TEST(Findings, OfANodeThatDoesNotAnswerSayWhyAndNothingElse) {
  SurveyedNode node;
  node.seen.url = "redis://a";
  node.seen.problem = "connection refused";
  const admin::DeploymentCheck check = judge_one(node);
  ASSERT_THAT(ids_of(check), ElementsAre("unreachable"));
  EXPECT_THAT(check.findings[0].what, HasSubstr("connection refused"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("firewall"));
}

TEST(Findings, OfANodeBehindAUnixSocketNameItsPath) {
  SurveyedNode node;
  node.seen.url = "unix:///run/redis/a.sock";
  node.seen.problem = "no such file or directory";
  const admin::DeploymentCheck check = judge_one(node);
  ASSERT_THAT(ids_of(check), ElementsAre("unreachable"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("may open the socket"));
  EXPECT_THAT(check.findings[0].remedy, Not(HasSubstr("port")));
}

TEST(Findings, OfANodeThatLetsNobodyInAreAboutThatAlone) {
  SurveyedNode node;
  node.seen.url = "redis://a";
  node.seen.reachable = true;
  node.denied = "NOAUTH Authentication required.";
  EXPECT_THAT(ids_of(judge_one(node)), ElementsAre("auth"));
}

TEST(Findings, TellAUserThatMayNotDoEnoughTheRemedy) {
  SurveyedNode node = healthy("a");
  node.denied = "NOPERM this user has no permissions to run the 'time' command";
  const admin::DeploymentCheck check = judge_one(node);
  ASSERT_THAT(ids_of(check), ElementsAre("auth"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("ACL SETUSER"));
}

TEST(Findings, ReportServersThatCanNotVote) {
  SurveyedNode replica = healthy("a");
  replica.seen.role = admin::NodeCheck::Role::replica;
  EXPECT_THAT(ids_of(judge_one(replica)), ElementsAre("replica"));

  SurveyedNode cluster = healthy("a");
  cluster.unnamed_cluster = true;
  EXPECT_THAT(ids_of(judge_one(cluster)), ElementsAre("cluster"));

  SurveyedNode sentinel = healthy("a");
  sentinel.seen.role = admin::NodeCheck::Role::sentinel;
  sentinel.seen.maxmemory_policy = "";
  EXPECT_THAT(ids_of(judge_one(sentinel)), ElementsAre("sentinel"));

  SurveyedNode loading = healthy("a");
  loading.seen.loading = true;
  EXPECT_THAT(ids_of(judge_one(loading)), ElementsAre("loading"));

  SurveyedNode evicting = healthy("a");
  evicting.seen.maxmemory_policy = "allkeys-lru";
  EXPECT_THAT(ids_of(judge_one(evicting)), ElementsAre("evicting"));
}

TEST(Findings, SayWhenAResetOfTheCountersHidesNoEviction) {
  SurveyedNode node = healthy("a");
  node.forgetting = "FLUSHALL (1 time)";
  const auto remedy = [&] { return judge_one(node).findings.at(0).remedy; };
  node.memory = {.history = "r"};
  EXPECT_THAT(remedy(), HasSubstr("do not run it before the server's maxmemory-policy"));
  node.memory.keeps_keys = true;
  EXPECT_THAT(remedy(), HasSubstr("run it only if the server's maxmemory-policy"));
  node.memory.history = "r+7";
  EXPECT_THAT(remedy(), HasSubstr("the server has evicted 7 keys. Run it only if"));
}

TEST(Findings, ReportVersionsBeforeSix) {
  SurveyedNode node = healthy("a");
  node.seen.version = "5.0.14";
  EXPECT_THAT(ids_of(judge_one(node)), ElementsAre("version"));
  EXPECT_THAT(judge_one(node).findings.at(0).what, HasSubstr("The server is Redis 5.0.14;"));
  node.seen.server = "Fork";
  node.seen.server_version = "1.2";
  EXPECT_THAT(judge_one(node).findings.at(0).what, HasSubstr("The server is Fork 1.2;"));
  for (const char* good : {"6.0.0", "7.2.4", "10.1.0", "255.255.255", "unknown"}) {
    node.seen.version = good;
    EXPECT_THAT(ids_of(judge_one(node)), IsEmpty()) << good;
  }
}

TEST(Findings, NameAllAddressesOfOneServerOnce) {
  SurveyedNode a = healthy("a");
  SurveyedNode b = healthy("b");
  SurveyedNode c = healthy("c");
  c.seen.run_id = a.seen.run_id;
  const admin::DeploymentCheck check = judge({a, b, c}, options_for(3));
  ASSERT_THAT(ids_of(check), ElementsAre("duplicate"));
  EXPECT_EQ(check.findings[0].node, "redis://a, redis://c");
}

TEST(Findings, DoNotTakeNodesThatReportedNoRunIdForOne) {
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
  admin::DeploymentCheck check = judge(both, options);
  ASSERT_THAT(ids_of(check), ElementsAre("not-durable"));
  EXPECT_EQ(check.findings[0].node, "redis://a");

  options.guards.trust_durable = false;
  options.guards.restart = false;
  check = judge(both, options);
  ASSERT_THAT(ids_of(check), ElementsAre("not-durable"));
  EXPECT_EQ(check.findings[0].node, "redis://a");
}

TEST(Findings, CompareClocksWithTheirMedian) {
  std::vector<SurveyedNode> nodes{healthy("a"), healthy("b"), healthy("c"), healthy("d")};
  *nodes[0].clock += milliseconds(10);
  *nodes[1].clock -= seconds(3);
  nodes[3].clock.reset();
  const admin::DeploymentCheck check = judge(nodes, options_for(4));
  EXPECT_EQ(check.nodes[0].clock_offset, milliseconds(10));
  EXPECT_EQ(check.nodes[1].clock_offset, -seconds(3));
  EXPECT_EQ(check.nodes[2].clock_offset, seconds(0));
  EXPECT_EQ(check.nodes[3].clock_offset, std::nullopt);
  ASSERT_THAT(ids_of(check), ElementsAre("clock"));
  EXPECT_EQ(check.findings[0].node, "redis://b");
  EXPECT_THAT(check.findings[0].what, HasSubstr("3 s behind"));
}

TEST(Findings, DoNotBlameAClockForTheTimeThatItsAnswerWasUnderWay) {
  std::vector<SurveyedNode> nodes{healthy("a"), healthy("b"), healthy("c")};
  *nodes[0].clock += milliseconds(1500);
  nodes[0].seen.round_trip = milliseconds(1200);
  EXPECT_THAT(ids_of(judge(nodes, options_for(3))), IsEmpty());
}

core::Marker marker_of(const SurveyedNode& node, core::Marker::State state, std::string deployment,
                       std::vector<std::string> members) {
  core::Marker marker;
  marker.state = state;
  marker.incarnation = "i";
  marker.deployment = std::move(deployment);
  marker.run_id = node.seen.run_id;
  marker.replid = node.memory.history;
  marker.max_ttl = seconds(30);
  marker.self = state == core::Marker::State::blank ? "" : node.seen.url;
  marker.members = std::move(members);
  return marker;
}

void mark(SurveyedNode& node, core::Marker::State state, const std::string& deployment,
          const std::vector<std::string>& members) {
  node.marker = marker_of(node, state, deployment, members);
  node.marker_text = core::format_marker(*node.marker) + " 1";
  node.seen.marked = !deployment.empty();
}

constexpr auto active = core::Marker::State::active;
constexpr auto blank = core::Marker::State::blank;
constexpr auto joining = core::Marker::State::joining;

std::vector<std::string> urls(const std::string& letters) {
  std::vector<std::string> members;
  for (const char letter : letters) members.push_back(std::string("redis://") + letter);
  return members;
}

/// Nodes a, b, c, … as members of one deployment.
std::vector<SurveyedNode> members_named(const std::string& letters, const std::string& deployment) {
  std::vector<SurveyedNode> nodes;
  for (const char letter : letters) {
    nodes.push_back(healthy(std::string(1, letter)));
    mark(nodes.back(), active, deployment, urls(letters));
  }
  return nodes;
}

TEST(Findings, TellThatTheMaxTtlDiffers) {
  auto nodes = members_named("a", "1.d");
  EXPECT_THAT(ids_of(judge(nodes, options_for(1))), IsEmpty());
  nodes[0].marker->max_ttl = seconds(60);
  const admin::DeploymentCheck check = judge(nodes, options_for(1));
  ASSERT_THAT(ids_of(check), ElementsAre("membership"));
  EXPECT_THAT(check.findings[0].what, HasSubstr("max TTL of 60 s"));
}

TEST(Findings, TellThatNoNodeHasAMarkerAndHowToOpenThem) {
  const admin::DeploymentCheck check = judge({healthy("a"), healthy("b")}, options_for(2));
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_EQ(check.findings[0].kind, admin::Finding::Kind::not_bootstrapped);
  EXPECT_EQ(check.findings[0].node, "redis://a, redis://b");
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("quorum-lock bootstrap"));
  ClientOptions unguarded = options_for(2);
  unguarded.guards.restart = false;
  auto durable = healthy("a");
  durable.seen.durable = true;
  EXPECT_THAT(judge({durable}, unguarded).findings, IsEmpty());
}

TEST(Findings, NameTheCommandThatResumesAChange) {
  auto nodes = members_named("abc", "1.d");
  nodes.push_back(healthy("d"));
  mark(nodes[3], joining, "2.e", urls("abd"));
  admin::DeploymentCheck check = judge(nodes, options_for(4));
  ASSERT_THAT(ids_of(check), ElementsAre("other-deployment"));
  EXPECT_THAT(check.findings[0].remedy,
              HasSubstr("quorum-lock members replace redis://c redis://d"));
  EXPECT_EQ(check.nodes[3].membership, admin::MemberReport::State::joining);

  mark(nodes[0], active, "2.e", urls("abd"));
  nodes.pop_back();
  check = judge(nodes, options_for(3));
  ASSERT_THAT(ids_of(check), ElementsAre("other-deployment"));
  EXPECT_THAT(check.findings[0].remedy,
              HasSubstr("quorum-lock members replace redis://c redis://d"));
}

TEST(Findings, ACommandFromAMarkerIsQuotedForTheShell) {
  // Anybody who can write to a node can write its marker.
  const std::vector<std::string> members{"redis://a", "redis://b", "redis://d;`reboot`$(id)'"};
  auto nodes = members_named("abc", "1.d");
  mark(nodes[0], active, "2.e", members);
  mark(nodes[1], active, "2.e", members);
  const admin::DeploymentCheck check = judge(nodes, options_for(3));
  ASSERT_FALSE(check.findings.empty());
  EXPECT_THAT(check.findings.back().remedy,
              HasSubstr("--nodes 'redis://a,redis://b,redis://d;`reboot`$(id)'\\'''"));
}

TEST(Findings, TellThatTheListIsOldAndThatAReplacedNodeStillRuns) {
  auto nodes = members_named("abc", "1.d");
  mark(nodes[0], active, "2.e", urls("abd"));
  mark(nodes[1], active, "2.e", urls("abd"));
  const admin::DeploymentCheck check = judge(nodes, options_for(3));
  ASSERT_THAT(ids_of(check), ElementsAre("other-deployment", "stale-client"));
  EXPECT_EQ(check.findings[0].node, "redis://c");
  EXPECT_THAT(check.findings[1].what, HasSubstr("redis://d"));
  EXPECT_THAT(check.findings[1].remedy, HasSubstr("--nodes redis://a,redis://b,redis://d"));
  EXPECT_EQ(check.nodes[2].membership, admin::MemberReport::State::removed);
}

TEST(Findings, KnowAMemberByAnotherName) {
  auto nodes = members_named("abc", "1.d");
  nodes[2].seen.url = "redis://cc";
  EXPECT_THAT(ids_of(judge(nodes, options_for(3))), IsEmpty());
}

TEST(Findings, TellWhyABlankNodeIsNotTakenBack) {
  auto nodes = members_named("abc", "1.d");
  mark(nodes[2], blank, "", {});
  EXPECT_THAT(ids_of(judge(nodes, options_for(3))), IsEmpty()) << "the others take it back";
  mark(nodes[1], blank, "", {});
  const admin::DeploymentCheck few = judge(nodes, options_for(3));
  ASSERT_THAT(ids_of(few), ElementsAre("membership", "membership"));
  EXPECT_THAT(few.findings[0].what, HasSubstr("2 of 3 members"));
  EXPECT_THAT(few.findings[0].remedy, HasSubstr("bootstrap"));
  EXPECT_TRUE(few.nodes[1].forgot);
  EXPECT_FALSE(few.nodes[1].votes);
  EXPECT_TRUE(few.nodes[0].votes);

  nodes[1].seen.reachable = false;
  const admin::DeploymentCheck away = judge(nodes, options_for(3));
  ASSERT_THAT(ids_of(away), ElementsAre("unreachable", "membership"));
  EXPECT_THAT(away.findings[1].remedy, HasSubstr("Bring back 1 of: redis://b"));

  nodes = members_named("abc", "1.d");
  nodes.push_back(healthy("d"));
  mark(nodes[3], blank, "", {});
  const admin::DeploymentCheck stranger = judge(nodes, options_for(4));
  ASSERT_THAT(ids_of(stranger), ElementsAre("membership", "stale-client"));
  EXPECT_EQ(stranger.findings[0].node, "redis://d");
}

TEST(Findings, BeginWithAListThatLacksAMemberIfNoQuorumIsFound) {
  // Five members: two have forgotten, and x is in the list in the place of c.
  auto nodes = members_named("abcde", "1.d");
  for (const std::size_t lost : {3U, 4U}) mark(nodes[lost], blank, "", {});
  nodes[2] = healthy("x");
  nodes[4].seen.used_memory = nodes[4].seen.max_memory = 1;
  const admin::DeploymentCheck check = judge(nodes, options_for(5));
  ASSERT_THAT(ids_of(check),
              ElementsAre("stale-client", "short-memory", "membership", "membership"));
  EXPECT_THAT(check.findings[0].what, HasSubstr("redis://c is a member, and the list lacks it. "
                                                "redis://x is not a member's URL."));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("redis://b,redis://c,redis://d"));
  EXPECT_THAT(check.findings[2].remedy, HasSubstr("it lacks redis://c"));
  for (const admin::Finding& finding : check.findings) {
    EXPECT_THAT(finding.remedy, Not(HasSubstr("bootstrap")));
  }
  nodes[2].seen.reachable = false;
  EXPECT_THAT(judge(nodes, options_for(5)).findings.back().what, HasSubstr("lacks it"));
  EXPECT_THAT(ids_of(judge(nodes, options_for(5))).front(), "unreachable")
      << "x may be another name of c";
  nodes = members_named("abcde", "1.d");
  nodes.pop_back();
  nodes[0].seen.used_memory = nodes[0].seen.max_memory = 1;
  EXPECT_THAT(ids_of(judge(nodes, options_for(4))), ElementsAre("short-memory", "stale-client"))
      << "clients find the rest";
}

TEST(Findings, SayFromWhenOnLocksAreGranted) {
  auto nodes = members_named("abc", "1.d");
  EXPECT_EQ(judge(nodes, options_for(3)).granted_in, seconds(0));
  nodes[0].seen.quarantine = seconds(30);
  EXPECT_EQ(judge(nodes, options_for(3)).granted_in, seconds(0)) << "two vote";
  nodes[1].seen.quarantine = seconds(20);
  EXPECT_EQ(judge(nodes, options_for(3)).granted_in, seconds(20));
  nodes[2].seen.quarantine = nodes[1].seen.quarantine = forever;
  EXPECT_EQ(judge(nodes, options_for(3)).granted_in, forever);
  EXPECT_EQ(judge_one(healthy("a")).granted_in, std::nullopt);
}

TEST(Findings, NameNodesWithReplicas) {
  auto nodes = members_named("a", "1.d");
  nodes[0].seen.replicas = 2;
  const admin::DeploymentCheck check = judge(nodes, options_for(1));
  ASSERT_THAT(ids_of(check), ElementsAre("replicas"));
  EXPECT_THAT(check.findings[0].what, HasSubstr("2 replicas"));
}

TEST(Findings, AdviseToWaitOnlyWhereThatHelps) {
  auto nodes = members_named("abc", "1.d");
  for (const std::size_t forgot : {1U, 2U}) {
    nodes[forgot].marker->state = core::Marker::State::blank;
    nodes[forgot].seen.quarantine = seconds(12);
    nodes[forgot].quarantine_why = core::met_unmarked;
  }
  const auto remedies = [&] {
    std::string all;
    for (const admin::Finding& finding : judge(nodes, options_for(3)).findings) {
      if (finding.kind == admin::Finding::Kind::quarantined) all += finding.remedy;
    }
    return all;
  };
  EXPECT_EQ(remedies(), "") << "one node remembers, which is too few to take the others back";
  nodes[0].marker->state = core::Marker::State::blank;
  EXPECT_THAT(remedies(), testing::AllOf(HasSubstr("Wait"), HasSubstr("bootstrap")));
}

TEST(Findings, TellHowLongAQuarantineStillLasts) {
  SurveyedNode node = healthy("a");
  node.seen.quarantine = seconds(12);
  admin::DeploymentCheck check = judge_one(node);
  ASSERT_THAT(ids_of(check), ElementsAre("quarantined"));
  EXPECT_THAT(check.findings[0].what, HasSubstr("12 s"));
  EXPECT_THAT(check.findings[0].remedy, testing::Not(HasSubstr("bootstrap")));
  node.quarantine_why = core::opened_as_new;
  EXPECT_THAT(judge_one(node).findings[0].remedy, HasSubstr("bootstrap"));
  node.quarantine_why = "role";
  EXPECT_THAT(judge_one(node).findings[0].why, HasSubstr("redis-cli --rdb"));
  node.quarantine_why = "evicted";
  EXPECT_THAT(judge_one(node).findings[0].why, HasSubstr("It evicted keys"));

  node.seen.quarantine = forever;
  check = judge_one(node);
  ASSERT_THAT(ids_of(check), ElementsAre("quarantined"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("redlock:node:quarantine"));
}

TEST(Findings, DoNotReadAReplicasCopyOfItsMastersMarker) {
  SurveyedNode node = healthy("a");
  node.seen.role = admin::NodeCheck::Role::replica;
  node.seen.quarantine = seconds(12);
  node.marker = core::Marker{};
  node.marker_text = "of its master";
  EXPECT_THAT(ids_of(judge_one(node)), ElementsAre("replica"));
}

TEST(Findings, CallANodeRestartedOnlyWhereThatCostsAVote) {
  SurveyedNode node = healthy("a");
  node.seen.restarted = true;
  ClientOptions options = options_for(1);
  admin::DeploymentCheck check = judge_one(node, options);
  EXPECT_TRUE(check.nodes[0].restarted);
  ASSERT_THAT(ids_of(check), ElementsAre("quarantined"));
  EXPECT_THAT(check.findings[0].what, HasSubstr("has not begun"));
  node.seen.durable = true;
  options.guards.trust_durable = true;
  check = judge_one(node, options);
  EXPECT_FALSE(check.nodes[0].restarted);
  EXPECT_THAT(ids_of(check), IsEmpty());
  options.guards.restart = false;
  check = judge_one(node, options);
  EXPECT_FALSE(check.nodes[0].restarted);
  EXPECT_THAT(ids_of(check), IsEmpty());
}

TEST(Findings, NameANodeThatLostItsDataAndThatNoClientHasMetSince) {
  auto nodes = members_named("abc", "1.d");
  nodes[2].marker.reset();
  nodes[2].marker_text.clear();
  const admin::DeploymentCheck check = judge(nodes, options_for(3));
  ASSERT_THAT(ids_of(check), ElementsAre("quarantined"));
  EXPECT_EQ(check.findings[0].node, "redis://c");
  EXPECT_THAT(check.findings[0].what, HasSubstr("lost its data"));
  EXPECT_THAT(check.findings[0].what, HasSubstr("has not begun"));
}

TEST(Findings, NameANodeWhoseFencingNumbersAreFarAheadOfTheNodesClocks) {
  std::vector<SurveyedNode> nodes{healthy("a"), healthy("b"), healthy("c")};
  for (SurveyedNode& node : nodes) node.fencing_ahead = seconds(30);
  EXPECT_THAT(ids_of(judge(nodes, options_for(3))), IsEmpty()) << "as behind a quarantine";
  nodes[1].fencing_ahead = std::chrono::hours(30);
  admin::DeploymentCheck check = judge(nodes, options_for(3));
  ASSERT_THAT(ids_of(check), ElementsAre("fencing-floor"));
  EXPECT_EQ(check.findings[0].node, "redis://b");
  EXPECT_THAT(check.findings[0].what, HasSubstr("30 hours ahead"));
  // The node's own clock is wrong by as much: the floor is above the other nodes' clocks only.
  nodes[1].fencing_ahead = seconds(0);
  *nodes[1].clock += std::chrono::hours(30);
  check = judge(nodes, options_for(3));
  EXPECT_THAT(ids_of(check), ElementsAre("clock", "fencing-floor"));
}

TEST(Findings, NameAServerWhoseEvalWasRenamed) {
  SurveyedNode node = healthy("a");
  node.runs_scripts = false;
  admin::DeploymentCheck check = judge_one(node);
  ASSERT_THAT(ids_of(check), ElementsAre("no-scripts"));
  EXPECT_THAT(check.findings[0].what, HasSubstr("does not know EVAL"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("rename-command"));
  EXPECT_EQ(check.findings.size(), 1U) << "bootstrap is not advised, which would fail";

  node.denied = "NOPERM this user has no permissions to run the 'eval' command";
  EXPECT_THAT(ids_of(judge_one(node)), ElementsAre("auth"));
}

TEST(Findings, AdviseBootstrapBesideServersThatLockWithoutScriptsAndSayWhatItNeeds) {
  SurveyedNode node = healthy("a");
  node.runs_scripts = false;
  node.can_compare = true;
  const admin::DeploymentCheck check = judge_one(node);
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_EQ(check.findings[0].kind, admin::Finding::Kind::not_bootstrapped);
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("needs EVAL"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("redis://a"));
}

TEST(Findings, NameANodeWhoseTableOfTrackedKeysFills) {
  SurveyedNode node = healthy("a");
  node.tracked = 10'000;
  EXPECT_THAT(ids_of(judge_one(node, options_for(1))), IsEmpty());
  node.tracked = 400'000;
  const admin::DeploymentCheck check = judge_one(node, options_for(1));
  ASSERT_THAT(ids_of(check), ElementsAre("tracking-table"));
  EXPECT_THAT(check.findings[0].what, HasSubstr("400000 entries"));
}

TEST(Findings, NameANodeThatRefusesEveryWriteWithItsRemedy) {
  struct Row {
    const char* error;
    const char* remedy;
  };
  for (const Row& row :
       {Row{"OOM command not allowed when used memory > 'maxmemory'.", "maxmemory"},
        Row{"NOREPLICAS Not enough good replicas.", "min-replicas-to-write 0"},
        Row{"MISCONF Redis is configured to save", "stop-writes-on-bgsave-error"},
        Row{"ERR something else", "the server names"}}) {
    SurveyedNode node = healthy("a");
    node.refuses_writes = row.error;
    const admin::DeploymentCheck check = judge_one(node);
    ASSERT_THAT(ids_of(check), ElementsAre("refuses-writes"));
    EXPECT_THAT(check.findings[0].what, HasSubstr(row.error));
    EXPECT_THAT(check.findings[0].remedy, HasSubstr(row.remedy));
    EXPECT_FALSE(check.nodes[0].votes);
  }
}

TEST(Findings, WarnOfMemoryThatRunsShort) {
  SurveyedNode node = healthy("a");
  node.seen.max_memory = 1000;
  node.seen.used_memory = 900;
  EXPECT_THAT(ids_of(judge_one(node)), IsEmpty());
  node.seen.used_memory = 950;
  const admin::DeploymentCheck check = judge_one(node);
  ASSERT_THAT(ids_of(check), ElementsAre("short-memory"));
  EXPECT_THAT(check.findings[0].what, HasSubstr("95 %"));
  node.seen.max_memory = 0;
  EXPECT_THAT(ids_of(judge_one(node)), IsEmpty()) << "no limit";
}

TEST(Findings, GiveTheRemedyOfWhatKeepsANodeFromAnswering) {
  struct Row {
    const char* problem;
    const char* remedy;
  };
  for (const Row& row : {Row{"ERR max number of clients reached", "maxclients"},
                         Row{"DENIED Redis is running in protected mode", "requirepass"},
                         Row{"BUSY Redis is busy running a script", "SCRIPT KILL"},
                         Row{"cannot resolve host name 'a'", "host name"},
                         Row{"no sentinel names the primary: s1:26379: refused", "sentinel_user"},
                         Row{"its primary, 10.0.0.7:6379: connection refused", "SENTINEL MASTERS"},
                         Row{"its primary, 10.0.0.7:6379: ERR max number of clients", "maxclients"},
                         Row{"connection refused", "the server runs"}}) {
    SurveyedNode node;
    node.seen.url = "redis://a";
    node.seen.problem = row.problem;
    EXPECT_THAT(judge_one(node).findings.at(0).remedy, HasSubstr(row.remedy));
  }
}

}  // namespace
}  // namespace redlock::api
