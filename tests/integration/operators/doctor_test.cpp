// check() reports the problems of a deployment and changes nothing; bootstrap() opens a new one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/deployment.hpp"
#include "redlock/deployment.hpp"
#include "support/fake_server.hpp"
#include "support/process.hpp"
#include "support/resp_client.hpp"
#include "support/tcp_proxy.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

admin::DeploymentCheck checked(const ClientOptions& options) {
  auto result = admin::check(options);
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

std::vector<std::string> ids_of(const admin::DeploymentCheck& check) {
  std::vector<std::string> ids;
  for (const admin::Finding& finding : check.findings) {
    // This finding is left out: most servers of these tests are new.
    if (finding.kind != admin::Finding::Kind::not_bootstrapped)
      ids.emplace_back(to_string(finding.kind));
  }
  return ids;
}

/// The findings with two healthy new nodes next to this one, without those that come from their
/// being new.
std::vector<admin::Finding> findings_of(const std::string& url) {
  NewNodes others(2);
  auto urls = others.urls();
  urls.push_back(url);
  std::vector<admin::Finding> findings;
  for (admin::Finding& finding : checked(patient(urls)).findings) {
    if (finding.kind == admin::Finding::Kind::not_bootstrapped ||
        finding.kind == admin::Finding::Kind::stale_client)
      continue;
    EXPECT_EQ(finding.node, url);
    findings.push_back(std::move(finding));
  }
  return findings;
}

void expect_only(const std::string& url, const std::string& id, const std::string& words) {
  const auto findings = findings_of(url);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_string(findings[0].kind), id);
  EXPECT_THAT(findings[0].what, HasSubstr(words));
}

TEST(Doctor, FindsNothingWrongWithNewNodesAndChangesNothing) {
  NewNodes nodes(3);
  const admin::DeploymentCheck check = checked(patient(nodes.urls()));
  EXPECT_THAT(ids_of(check), IsEmpty());
  ASSERT_EQ(check.nodes.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const admin::NodeCheck& node = check.nodes[i];
    EXPECT_EQ(node.url, nodes[i].url());
    EXPECT_TRUE(node.reachable);
    EXPECT_EQ(node.problem, "");
    EXPECT_GT(node.round_trip, nanoseconds(0));
    EXPECT_NE(node.version, "");
    EXPECT_EQ(node.role, admin::NodeCheck::Role::master);
    EXPECT_EQ(node.run_id, run_id_of(nodes[i]));
    EXPECT_TRUE(node.uptime);
    EXPECT_EQ(node.persistence, admin::NodeCheck::Persistence::none);
    EXPECT_FALSE(node.durable);
    EXPECT_EQ(node.maxmemory_policy, "noeviction");
    EXPECT_FALSE(node.cluster);
    EXPECT_FALSE(node.loading);
    EXPECT_TRUE(node.clock_offset);
    EXPECT_FALSE(node.marked);
    EXPECT_EQ(node.quarantine, nanoseconds(0));
    EXPECT_EQ(nodes[i].command({"DBSIZE"}).integer, 0);
  }
}

TEST(Doctor, RefusesOptionsThatAreWrong) {
  EXPECT_TRUE(failed_with(admin::check({}), Errc::invalid_argument));
  EXPECT_TRUE(failed_with(admin::bootstrap({}), Errc::invalid_argument));
}

TEST(Doctor, SeesOneServerBehindThreeAddresses) {
  const RedisServer server;
  const admin::DeploymentCheck check =
      checked(patient({server.url(), by_name(server), server.unix_url()}));
  ASSERT_THAT(ids_of(check), ElementsAre("duplicate"));
  EXPECT_EQ(check.findings[0].node,
            server.url() + ", " + by_name(server) + ", " + server.unix_url());
}

TEST(Doctor, SeesAReplica) {
  const RedisServer master;
  const RedisServer replica(
      {.arguments = {"--replicaof", master.host(), std::to_string(master.port())}});
  expect_only(replica.url(), "replica", "replica");
}

TEST(Doctor, SeesAClusterNode) {
  const RedisServer server({.arguments = {"--cluster-enabled", "yes"}});
  expect_only(server.url(), "cluster", "Cluster");
  expect_only(server.url() + "/1", "cluster", "Cluster");
}

TEST(Doctor, SeesASentinel) {
  const Sentinel sentinel;
  expect_only(sentinel.url(), "sentinel", "a sentinel");
  expect_only(sentinel.url() + "/1", "sentinel", "a sentinel");
}

TEST(Doctor, CallsAServerByItsOwnNameAndVersion) {
  const RedisServer server;
  const admin::NodeCheck node = checked(patient({server.url()})).nodes.at(0);
  // "Valkey server v=9.1.2 sha=..."
  const std::string reported = run_process({"redis-server", "--version"}).output;
  EXPECT_TRUE(reported.starts_with(node.server + " server v=" + node.server_version + " "))
      << reported;
  EventLog log;
  ClientOptions options = patient({server.url()});
  options.on_node_event = log.listener();
  const Client client = make_client(options);
  ASSERT_TRUE(log.wait_for(NodeEvent::Kind::up, 0));
  EXPECT_EQ(log.last_message(NodeEvent::Kind::up, 0), node.server + " " + node.server_version);
}

TEST(Doctor, SeesAServerThatEvicts) {
  const RedisServer server({.arguments = {"--maxmemory-policy", "allkeys-lru"}});
  expect_only(server.url(), "evicting", "allkeys-lru");
}

TEST(Doctor, SeesThatSomebodyHasRunACommandThatMakesANodeForget) {
  for (const Command& command :
       {Command{"FLUSHALL"}, Command{"FLUSHDB"}, Command{"SWAPDB", "0", "1"}}) {
    const RedisServer server;
    ASSERT_FALSE(server.command(command).is_error());
    expect_only(server.url(), "forgetting-commands", command[0] + " (1 time)");
    ASSERT_FALSE(server.command({"CONFIG", "RESETSTAT"}).is_error());
    EXPECT_THAT(findings_of(server.url()), IsEmpty()) << "the remedy ends it";
  }
}

TEST(Doctor, SeesAServerThatAdmitsHardlyAnyMoreClients) {
  const RedisServer server({.arguments = {"--maxclients", "20"}});
  EXPECT_THAT(findings_of(server.url()), IsEmpty());
  std::vector<RespClient> others;
  for (int i = 0; i < 18; ++i) {
    others.push_back(RespClient::tcp(server.port()));
    ASSERT_FALSE(others.back().call({"PING"}).is_error());
  }
  expect_only(server.url(), "client-limit", "and admits 20 (maxclients)");
}

TEST(Doctor, SeesAServerWhoseEvalWasRenamed) {
  const RedisServer server({.arguments = {"--rename-command", "EVAL", ""}});
  for (const auto& command :
       {std::vector<std::string>{"DELIFEQ", "key", "value"}, {"DELEX", "key"}}) {
    std::vector<std::string> question{"COMMAND", "GETKEYS"};
    question.insert(question.end(), command.begin(), command.end());
    if (!server.command(question).is_error()) GTEST_SKIP() << "it can lock without scripts";
  }
  expect_only(server.url(), "no-scripts", "does not know EVAL");
}

TEST(Doctor, SeesADeadNode) {
  RedisServer server;
  server.kill();
  expect_only(server.url(), "unreachable", "connection refused");
}

TEST(Doctor, GivesAHungNodeNoMoreThanItsLimit) {
  RedisServer hung;
  const RedisServer healthy;
  hung.stop();
  ClientOptions options = impatient({hung.url(), healthy.url()});
  const admin::DeploymentCheck check = checked(options);
  hung.resume();
  ASSERT_GE(check.findings.size(), 1U);
  EXPECT_EQ(check.findings[0].node, hung.url());
  EXPECT_EQ(check.findings[0].kind, admin::Finding::Kind::unreachable);
  EXPECT_THAT(check.findings[0].what, HasSubstr("no answer within 500 ms"));
}

TEST(Doctor, SeesThatSomethingElseThanRedisAnswers) {
  FakeServer web(
      [](const Command&) { return FakeAnswer::close("HTTP/1.1 400 Bad Request\r\n\r\n"); });
  expect_only(web.url(), "unreachable", "protocol violation");
}

TEST(Doctor, SeesADatabaseThatIsNotThere) {
  const RedisServer server;
  const std::string url = server.url() + "/99";
  expect_only(url, "unreachable", "SELECT 99");
}

TEST(Doctor, SeesAWrongPasswordAndAMissingOneAndNeverShowsEither) {
  const RedisServer server({.password = "right"});
  const std::string address = server.host() + ":" + std::to_string(server.port());
  for (const std::string& credentials : {std::string(":wr0ng@"), std::string()}) {
    const admin::DeploymentCheck check = checked(patient({"redis://" + credentials + address}));
    ASSERT_THAT(ids_of(check), ElementsAre("auth"));
    EXPECT_EQ(check.findings[0].node, "redis://" + address);
    EXPECT_THAT(check.findings[0].what, testing::Not(HasSubstr("wr0ng")));
    EXPECT_TRUE(check.nodes[0].reachable);
  }
  EXPECT_THAT(ids_of(checked(patient({server.url()}))), IsEmpty());
}

TEST(Doctor, SeesAUserWhoMayNotSeeOurKeys) {
  const RedisServer server;
  server.command({"ACL", "SETUSER", "app", "on", ">pw", "~app:*", "+@all"});
  const std::string address = server.host() + ":" + std::to_string(server.port());
  const admin::DeploymentCheck check = checked(patient({"redis://app:pw@" + address}));
  ASSERT_THAT(ids_of(check), ElementsAre("auth"));
  EXPECT_THAT(check.findings[0].what, HasSubstr("NOPERM"));
}

TEST(Doctor, SeesAServerThatIsStillLoading) {
  RedisServer server;
  if (!server.is_since(6, 2)) GTEST_SKIP() << "a load that answers often: row redis-7.0";
  fill(server, 10000);
  server.command({"SAVE"});
  server.options().arguments = {"--key-load-delay", "10000",
                                "--loading-process-events-interval-bytes", "1024"};
  server.options().loading_grace = milliseconds(0);
  server.restart();
  expect_only(server.url(), "loading", "reading its data");
}

TEST(Doctor, TellsHowANodeKeepsItsData) {
  const RedisServer everysec({.arguments = {"--appendonly", "yes"}});
  const RedisServer always({.arguments = {"--appendonly", "yes", "--appendfsync", "always"}});
  const RedisServer snapshots({.arguments = {"--save", "3600", "1"}});
  ClientOptions options = patient({everysec.url(), always.url(), snapshots.url()});
  options.guards.trust_durable = true;
  const admin::DeploymentCheck check = checked(options);
  EXPECT_EQ(check.nodes[0].persistence, admin::NodeCheck::Persistence::aof_everysec);
  EXPECT_EQ(check.nodes[1].persistence, admin::NodeCheck::Persistence::aof_always);
  EXPECT_TRUE(check.nodes[1].durable);
  EXPECT_EQ(check.nodes[2].persistence, admin::NodeCheck::Persistence::rdb);
  EXPECT_THAT(ids_of(check), ElementsAre("not-durable", "not-durable"));
}

TEST(Doctor, SeesAClockThatIsApartFromTheOthers) {
  NewNodes nodes(2);
  FakeServer fake;
  fake.on("TIME", [](const Command&) {
    const auto now = std::chrono::system_clock::now().time_since_epoch() + seconds(100);
    return resp::array(
        {resp::bulk(std::to_string(std::chrono::floor<seconds>(now).count())), resp::bulk("0")});
  });
  const admin::DeploymentCheck check =
      checked(patient({nodes[0].url(), fake.url(), nodes[1].url()}));
  ASSERT_THAT(ids_of(check), ElementsAre("clock"));
  EXPECT_EQ(check.findings[0].node, fake.url());
  EXPECT_GT(*check.nodes[1].clock_offset, seconds(50));
  EXPECT_LT(*check.nodes[0].clock_offset, seconds(50));
}

TEST(Doctor, SeesAQuarantine) {
  const RedisServer server;
  quarantine_by_hand(server, 3);
  expect_only(server.url(), "quarantined", "quarantine for another");
}

TEST(Doctor, SeesANodeOfAnotherDeployment) {
  const RedisServer server;
  server.command({"SET", marker_key, marker_of(server, {"a", "b", "c", "d", "e"}, seconds(60))});
  expect_only(server.url(), "membership", "max TTL of 60 s");
}

TEST(Doctor, SeesThatANodeRestartedSinceItWasMarked) {
  const RedisServer server;
  auto marker = marker_of(server, {server.url()}, seconds(30));
  marker.replace(marker.find(run_id_of(server)), 40, "another");
  server.command({"SET", marker_key, marker});
  const admin::DeploymentCheck check = checked(patient({server.url()}));
  EXPECT_THAT(ids_of(check), ElementsAre("quarantined"));
  EXPECT_TRUE(check.nodes[0].restarted);
}

TEST(Bootstrap, MarksNewNodesAsMembersWithNothingToForget) {
  NewNodes nodes(3);
  ClientOptions options = patient(nodes.urls());
  options.max_ttl = seconds(45);
  const auto before = std::chrono::system_clock::now().time_since_epoch();
  const auto opened = admin::bootstrap(options);
  ASSERT_TRUE(succeeded(opened));
  EXPECT_THAT(ids_of(*opened), IsEmpty());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(opened->nodes[i].marked);
    const auto marker = core::parse_marker(nodes[i].get(marker_key).value_or(""));
    ASSERT_TRUE(marker);
    EXPECT_EQ(marker->state, core::Marker::State::active);
    EXPECT_EQ(marker->run_id, run_id_of(nodes[i]));
    EXPECT_EQ(marker->members.size(), 3U);
    EXPECT_EQ(marker->max_ttl, seconds(45));
    EXPECT_EQ(nodes[i].pttl(quarantine_key), -2);
    const Reply floor = nodes[i].command({"ZSCORE", numbers_key, ""});
    EXPECT_GE(std::chrono::microseconds(std::stoll(floor.string)),
              std::chrono::floor<std::chrono::microseconds>(before));
  }
}

TEST(Bootstrap, SaysInOneLineThatItNeedsScripts) {
  const RedisServer renamed({.arguments = {"--rename-command", "EVAL", ""}});
  RedisServer restricted;
  restricted.command({"ACL", "SETUSER", "plain", "on", ">pw", "~*", "&*", "+@all", "-eval"});
  const std::string address = restricted.host() + ":" + std::to_string(restricted.port());
  for (const std::string& url : {renamed.url(), "redis://plain:pw@" + address}) {
    NewNodes others(2);
    const auto refused = admin::bootstrap(patient({others[0].url(), url, others[1].url()}));
    ASSERT_TRUE(failed_with(refused, Errc::unavailable));
    EXPECT_THAT(refused.error().message, HasSubstr("nothing was changed"));
    EXPECT_THAT(refused.error().message, testing::ContainsRegex("EVAL|'eval'"));
    EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("could not be scanned")));
    EXPECT_EQ(others.count_held(marker_key), 0U);
  }
}

TEST(Bootstrap, SaysWhyAWriteHasNoAnswer) {
  NewNodes nodes(1);
  TcpProxy proxy(nodes[0].port());
  ClientOptions options = patient({proxy.url()});
  options.node.shortest_timeout = options.node.longest_timeout = std::chrono::milliseconds(500);
  admin::ChangeOptions change;
  change.patience = std::chrono::nanoseconds(0);
  change.on_progress = [&](const admin::ChangeProgress& progress) {
    if (progress.kind == admin::ChangeProgress::Kind::writing) proxy.drop_replies();
  };
  const auto refused = admin::bootstrap(options, change);
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_THAT(refused.error().message, HasSubstr(proxy.url() + ": no answer within"));
  EXPECT_THAT(refused.error().message, HasSubstr("whether anything was changed is not known"));
}

TEST(Bootstrap, EndsTheQuarantineOfBlankNodesAndNeverLowersFencingNumbers) {
  const RedisServer server;
  blank_by_hand(server);
  server.command({"ZADD", numbers_key, "8000000000000000", "", "8000000000000007", "r"});
  ASSERT_TRUE(succeeded(admin::bootstrap(patient({server.url()}))));
  EXPECT_EQ(server.pttl(quarantine_key), -2);
  EXPECT_EQ(server.command({"ZSCORE", numbers_key, ""}).string, "8000000000000000");
  EXPECT_EQ(server.command({"ZSCORE", numbers_key, "r"}).string, "8000000000000007");
  EXPECT_TRUE(core::parse_marker(server.get(marker_key).value_or("")));
}

TEST(Bootstrap, OfNodesThatBelongedToADeploymentIsQuarantined) {
  NewNodes nodes(3);
  const auto first = admin::bootstrap(patient({nodes[0].url(), nodes[1].url()}));
  ASSERT_TRUE(succeeded(first));
  ASSERT_TRUE(succeeded(admin::bootstrap(patient(nodes.urls()))));
  for (const RedisServer& node : nodes) EXPECT_GT(node.pttl(quarantine_key), 0);
}

TEST(Bootstrap, OfWhatIsOpenChangesNothing) {
  NewNodes nodes(3);
  ASSERT_TRUE(succeeded(admin::bootstrap(patient(nodes.urls()))));
  const auto marker = nodes[1].get(marker_key);
  ASSERT_TRUE(succeeded(admin::bootstrap(patient(nodes.urls()))));
  EXPECT_EQ(nodes[1].get(marker_key), marker);
  EXPECT_EQ(nodes[1].pttl(quarantine_key), -2);
}

TEST(Bootstrap, RefusesAListThatLeavesAQuorumOfADeploymentOut) {
  NewNodes nodes(5);
  ASSERT_TRUE(
      succeeded(admin::bootstrap(patient({nodes[0].url(), nodes[1].url(), nodes[2].url()}))));
  const auto refused = admin::bootstrap(patient({nodes[2].url(), nodes[3].url(), nodes[4].url()}));
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_THAT(refused.error().message, HasSubstr(nodes[0].url()));
  EXPECT_FALSE(nodes[3].get(marker_key));
}

TEST(Bootstrap, OpensTheDatabaseThatTheUrlNamesAndSearchesForLocksInNoOther) {
  const RedisServer server;
  server.command({"SET", "lock", "somebody", "PX", "20000"});
  ASSERT_TRUE(succeeded(admin::bootstrap(patient({server.url() + "/2"}))));
  EXPECT_FALSE(server.get(marker_key));
}

TEST(Bootstrap, RefusesWhileAnyKeyCanBeALock) {
  NewNodes nodes(3);
  fill(nodes[1], 5000);
  nodes[1].command({"SET", "bad\nname", "somebody", "PX", "20000"});
  const auto refused = admin::bootstrap(patient(nodes.urls()));
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_THAT(refused.error().message, HasSubstr(nodes[1].url()));
  EXPECT_THAT(refused.error().message, HasSubstr("name'"));
  EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("\n")));
  EXPECT_EQ(nodes.count_held(marker_key), 0U);
}

TEST(Bootstrap, IsNotKeptByKeysThatCanBeNoLock) {
  const RedisServer server;
  server.command({"SET", "for ever", "v"});
  server.command({"SET", "too long", "v", "PX", "3600000"});
  server.command({"RPUSH", "list", "v"});
  server.command({"PEXPIRE", "list", "20000"});
  blank_by_hand(server);
  server.command({"PEXPIRE", quarantine_key, "20000"});
  EXPECT_TRUE(succeeded(admin::bootstrap(patient({server.url()}))));
}

TEST(Bootstrap, SearchesForLocksOfTheDeploymentThatItReplaces) {
  const RedisServer server;
  server.command({"SET", marker_key, marker_of(server, {server.url()}, seconds(3600))});
  server.command({"SET", "long", "somebody", "PX", "1800000"});
  EXPECT_TRUE(failed_with(admin::bootstrap(patient({server.url()})), Errc::held));
}

TEST(Bootstrap, RefusesWhileANodeIsMissingOrUnfit) {
  NewNodes nodes(3);
  nodes[2].kill();
  auto refused = admin::bootstrap(patient(nodes.urls()));
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_THAT(refused.error().message, HasSubstr(nodes[2].url()));

  const RedisServer evicting({.arguments = {"--maxmemory-policy", "allkeys-lru"}});
  refused = admin::bootstrap(patient({nodes[0].url(), nodes[1].url(), evicting.url()}));
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_THAT(refused.error().message, HasSubstr("allkeys-lru"));

  refused = admin::bootstrap(patient({nodes[0].url(), by_name(nodes[0])}));
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_EQ(nodes.count_held(marker_key), 0U);
}

}  // namespace
}  // namespace redlock::test
