#include "runtime/survey_facts.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace redlock::runtime {
namespace {

using redis::OwnedValue;
using redis::Value;
using std::chrono::milliseconds;
using std::chrono::seconds;

OwnedValue bulk(std::string text) { return {Value::Type::bulk, 0, std::move(text), {}}; }
OwnedValue error(std::string text) { return {Value::Type::error, 0, std::move(text), {}}; }
OwnedValue integer(std::int64_t number) { return {Value::Type::integer, number, {}, {}}; }
OwnedValue pair(std::string first, std::string second) {
  return {Value::Type::array, 0, {}, {bulk(std::move(first)), bulk(std::move(second))}};
}

std::string info(const std::string& more = {}) {
  return "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:abc\r\n"
         "uptime_in_seconds:42\r\n# Persistence\r\nloading:0\r\naof_enabled:0\r\n# Replication\r\n"
         "role:master\r\nmaster_replid:xyz\r\nconnected_slaves:2\r\nmaxmemory_policy:"
         "noeviction\r\ncluster_enabled:0\r\nused_memory:1048576\r\nmaxmemory:0\r\n" +
         more;
}

std::vector<OwnedValue> answers() {
  const OwnedValue unknown = error("ERR Invalid command specified");
  return {bulk(info()),
          pair("appendfsync", "everysec"),
          pair("save", ""),
          {},
          integer(-2),
          {},
          {},
          integer(1),
          unknown,
          unknown,
          bulk("# Commandstats\r\ncmdstat_ping:calls=1,usec=1,usec_per_call=1.00\r\n"),
          pair("maxclients", "10000"),
          {Value::Type::status, 0, "OK", {}},
          integer(1),
          {Value::Type::array, 0, {}, {}}};
}

SurveyedNode read(const std::vector<OwnedValue>& replies) {
  SurveyedNode node;
  take_facts(replies, "10.0.0.7:6379", node);
  return node;
}

TEST(SurveyFacts, AreOneAnswerPerQuestion) {
  EXPECT_EQ(fact_questions().count(), answers().size());
}

/// Those of a primary with two replicas.
std::vector<OwnedValue> answers_of_primary() {
  auto replies = answers();
  replies.push_back({Value::Type::status, 0, "OK", {}});
  replies.push_back(bulk("reign1 abc xyz 17 4"));
  replies.push_back(integer(1));
  replies.push_back(bulk("# Stats\r\nsync_full:2\r\nsync_partial_ok:3\r\n"));
  replies.push_back(
      bulk("# Replication\r\nrole:master\r\nconnected_slaves:2\r\n"
           "slave0:ip=10.0.0.8,port=6379,state=online,offset=4000,lag=1\r\n"
           "slave1:ip=fe80::9,port=6380,state=send_bulk,offset=0,lag=-1\r\n"
           "master_repl_offset:4049\r\n"));
  return replies;
}

TEST(SurveyFacts, OfAPrimaryWithReplicasAreThoseOfAVote) {
  EXPECT_EQ(fact_questions(3, milliseconds(60)).count(), answers_of_primary().size());
  EXPECT_FALSE(read(answers()).reign);
  const SurveyedNode node = read(answers_of_primary());
  ASSERT_TRUE(node.reign);
  EXPECT_EQ(node.reign->record, "reign1 abc xyz 17 4");
  EXPECT_EQ(node.reign->acknowledged, 1U);
  EXPECT_EQ(node.reign->attachments, 5U);
  EXPECT_EQ(node.reign->in_step, 1U);
  EXPECT_EQ(node.reign->refused, "");
  ASSERT_EQ(node.reign->seen.size(), 3U);
  EXPECT_EQ(node.reign->seen[0].address, "10.0.0.7:6379");
  EXPECT_TRUE(node.reign->seen[0].primary);
  EXPECT_EQ(node.reign->seen[1].address, "10.0.0.8:6379");
  EXPECT_EQ(node.reign->seen[1].behind, 12U);
  EXPECT_EQ(node.reign->seen[1].lag, seconds(1));
  EXPECT_EQ(node.reign->seen[2].address, "[fe80::9]:6380");
  EXPECT_EQ(node.reign->seen[2].state, "send_bulk");
  EXPECT_EQ(node.reign->seen[2].lag, std::nullopt);
}

TEST(SurveyFacts, NameTheCommandOfAVoteThatThePrimaryRefuses) {
  const std::size_t first = answers().size();
  const std::vector<std::string> commands{"SET redlock:node:beat", "GET redlock:node:reign", "WAIT",
                                          "INFO stats", "INFO replication"};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    auto replies = answers_of_primary();
    replies[first + i] = error("NOPERM");
    ASSERT_TRUE(read(replies).reign);
    EXPECT_EQ(read(replies).reign->refused, commands[i]);
    EXPECT_EQ(read(replies).reign->error, "NOPERM");
  }
  auto replies = answers_of_primary();
  replies[first + 3] = bulk("# Stats\r\n");
  EXPECT_EQ(read(replies).reign->refused, "INFO stats") << "as of a proxy";
}

TEST(SurveyFacts, SayWhetherAClusterMayMoveReplicas) {
  auto replies = answers();
  const std::size_t migration = replies.size() - 1;
  replies[migration] = pair("cluster-allow-replica-migration", "yes");
  EXPECT_FALSE(read(replies).migrates_replicas) << "it is no cluster";
  replies[0] = bulk("redis_mode:cluster\r\n" + info());
  EXPECT_TRUE(read(replies).migrates_replicas);
  replies[migration] = pair("cluster-allow-replica-migration", "no");
  EXPECT_FALSE(read(replies).migrates_replicas);
}

TEST(SurveyFacts, NameTheCommandsThatCanMakeANodeForget) {
  auto replies = answers();
  EXPECT_EQ(read(replies).forgetting, "");
  replies[10] = bulk(
      "# Commandstats\r\n"
      "cmdstat_swapdb:calls=1,usec=1,usec_per_call=1.00\r\n"
      "cmdstat_flushdb:calls=2,usec=1,usec_per_call=1.00,rejected_calls=7,failed_calls=2\r\n"
      "cmdstat_flushall:calls=3,usec=1,usec_per_call=1.00,rejected_calls=0,failed_calls=1\r\n"
      "cmdstat_debug:calls=0,usec=0,usec_per_call=0.00,rejected_calls=4,failed_calls=0\r\n");
  EXPECT_EQ(read(replies).forgetting, "FLUSHALL (2 times), SWAPDB (1 time)");
  replies[10] = error("NOPERM");
  EXPECT_EQ(read(replies).forgetting, "") << "no client needs to know";
}

TEST(SurveyFacts, HoldTheNumberOfClients) {
  auto replies = answers();
  replies[0] = bulk(info("connected_clients:17\r\n"));
  EXPECT_EQ(read(replies).clients, 17U);
  EXPECT_EQ(read(replies).most_clients, 10000U);
  replies[11] = error("NOPERM");
  EXPECT_EQ(read(replies).most_clients, 0U);
}

TEST(SurveyFacts, HoldTheFloorOfFencingNumbersAsATime) {
  auto replies = answers();
  EXPECT_EQ(read(replies).fencing_floor, std::nullopt);
  replies[6] = bulk("1781000000000000");
  EXPECT_EQ(read(replies).fencing_floor, seconds(1'781'000'000));
  replies[6] = bulk("inf");
  EXPECT_GT(read(replies).fencing_floor, std::chrono::hours(24 * 365 * 200));
}

TEST(SurveyFacts, TellWhatCanRunWithoutScripts) {
  auto replies = answers();
  EXPECT_TRUE(read(replies).runs_scripts);
  EXPECT_FALSE(read(replies).can_compare);
  replies[7] = error("ERR unknown command 'EVAL', with args beginning with: 'return 1' '0' ");
  EXPECT_FALSE(read(replies).runs_scripts);
  EXPECT_EQ(read(replies).denied, "") << "nobody may";
  replies[7] = error("NOPERM this user has no permissions to run the 'eval' command");
  EXPECT_FALSE(read(replies).runs_scripts);
  EXPECT_EQ(read(replies).denied, replies[7].text);
  replies[9] = OwnedValue{Value::Type::array, 0, {}, {bulk("key")}};
  EXPECT_FALSE(read(replies).runs_scripts);
  EXPECT_TRUE(read(replies).can_compare);
  EXPECT_EQ(read(replies).denied, "") << "locks need none then";
  replies[7] = error("LOADING Redis is loading the dataset in memory");
  EXPECT_TRUE(read(replies).runs_scripts) << "not known yet";
}

TEST(SurveyFacts, CountTheTrackedKeys) {
  auto replies = answers();
  EXPECT_EQ(read(replies).tracked, 0U);
  replies.front() = bulk(info() + "tracking_total_items:5000000\r\n");
  EXPECT_EQ(read(replies).tracked, 5'000'000U);
}

TEST(SurveyFacts, OfAHealthyServerAreReadFromItsInfo) {
  const SurveyedNode node = read(answers());
  EXPECT_TRUE(node.seen.reachable);
  EXPECT_EQ(node.seen.version, "7.0.15");
  EXPECT_EQ(node.seen.server, "Redis");
  EXPECT_EQ(node.seen.server_version, "7.0.15");
  EXPECT_EQ(node.seen.role, admin::NodeCheck::Role::master);
  EXPECT_EQ(node.memory.history, "xyz");
  EXPECT_EQ(node.seen.replicas, 2U);
  EXPECT_EQ(node.seen.run_id, "abc");
  EXPECT_EQ(node.seen.uptime, seconds(42));
  EXPECT_EQ(node.seen.persistence, admin::NodeCheck::Persistence::none);
  EXPECT_FALSE(node.seen.durable);
  EXPECT_EQ(node.seen.maxmemory_policy, "noeviction");
  EXPECT_EQ(node.seen.used_memory, 1048576U);
  EXPECT_EQ(node.seen.max_memory, 0U);
  EXPECT_FALSE(node.seen.cluster);
  EXPECT_FALSE(node.seen.loading);
  EXPECT_FALSE(node.seen.marked);
  EXPECT_EQ(node.seen.quarantine, seconds(0));
  EXPECT_EQ(node.denied, "");
}

TEST(SurveyFacts, CallAServerDurableOnlyWhenItWritesEveryCommandFirst) {
  auto replies = answers();
  replies[1] = pair("appendfsync", "always");
  EXPECT_FALSE(read(replies).seen.durable) << "the append-only file is off";
  std::string text = replies[0].text;
  replies[0].text = text.replace(text.find("aof_enabled:0"), 13, "aof_enabled:1");
  EXPECT_TRUE(read(replies).seen.durable);
  EXPECT_EQ(read(replies).seen.persistence, admin::NodeCheck::Persistence::aof_always);
  replies[1] = pair("appendfsync", "everysec");
  EXPECT_FALSE(read(replies).seen.durable);
  replies[1] = error("ERR unknown command `CONFIG`, with args beginning with: `GET`, ");
  EXPECT_FALSE(read(replies).seen.durable);
  EXPECT_EQ(read(replies).seen.persistence, admin::NodeCheck::Persistence::aof);
}

TEST(SurveyFacts, OfASentinelSurviveThatItKnowsFewCommands) {
  std::vector<OwnedValue> replies(answers().size(), error("ERR unknown command 'GET'"));
  replies[0] = bulk("redis_version:7.0.15\r\nredis_mode:sentinel\r\nrun_id:abc\r\n");
  const SurveyedNode node = read(replies);
  EXPECT_TRUE(node.seen.reachable);
  EXPECT_EQ(node.seen.role, admin::NodeCheck::Role::sentinel);
  EXPECT_EQ(node.denied, "");
}

TEST(SurveyFacts, OfAForkNameItAndKnowItsSentinels) {
  auto replies = answers();
  replies[0] = bulk(
      "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\n"
      "server_mode:sentinel\r\nrun_id:abc\r\n");
  const SurveyedNode node = read(replies);
  EXPECT_EQ(node.seen.role, admin::NodeCheck::Role::sentinel);
  EXPECT_EQ(node.seen.version, "7.2.4");
  EXPECT_EQ(node.seen.server, "Valkey");
  EXPECT_EQ(node.seen.server_version, "9.1.2");
  replies[0] = bulk("run_id:abc\r\n");
  EXPECT_EQ(read(replies).seen.server, "");
}

TEST(SurveyFacts, OfALoadingServerSaySoWhateverItAnswers) {
  auto replies = answers();
  replies[3] = replies[4] = error("LOADING Redis is loading the dataset in memory");
  EXPECT_TRUE(read(replies).seen.loading);
  EXPECT_TRUE(read(replies).seen.reachable);
  replies[0] = replies[4];
  EXPECT_TRUE(read(replies).seen.loading);
  EXPECT_TRUE(read(replies).seen.reachable);
}

TEST(SurveyFacts, TellADeniedUserFromABrokenServer) {
  auto replies = answers();
  replies[0] = error("NOAUTH Authentication required.");
  EXPECT_TRUE(read(replies).seen.reachable);
  EXPECT_EQ(read(replies).denied, "NOAUTH Authentication required.");
  replies[0] = error("BUSY Redis is busy running a script.");
  EXPECT_FALSE(read(replies).seen.reachable);
  EXPECT_EQ(read(replies).denied, "");
  replies = answers();
  replies[1] = error("NOPERM no CONFIG for you");
  EXPECT_EQ(read(replies).denied, "") << "no client needs CONFIG";
  replies[3] = error("NOPERM No permissions to access a key");
  EXPECT_EQ(read(replies).denied, "NOPERM No permissions to access a key");
}

TEST(SurveyFacts, ReadMarkerAndQuarantine) {
  auto replies = answers();
  replies[3] = bulk("redlock3 active i1 D abc xyz 30000 volatile a a,b,c,d,e - 1");
  replies[4] = integer(1500);
  SurveyedNode node = read(replies);
  EXPECT_TRUE(node.seen.marked);
  EXPECT_FALSE(node.seen.restarted);
  ASSERT_TRUE(node.marker);
  EXPECT_EQ(node.marker->members.size(), 5U);
  EXPECT_EQ(node.marker->max_ttl, seconds(30));
  EXPECT_EQ(node.seen.quarantine, milliseconds(1500));

  replies[3] = bulk("redlock3 active i1 D another xyz 30000 volatile a a,b,c,d,e - 1");
  replies[4] = integer(-1);
  node = read(replies);
  EXPECT_TRUE(node.seen.restarted);
  EXPECT_EQ(node.seen.quarantine, forever);
}

TEST(SurveyFacts, ABlankMarkerIsOfNoDeployment) {
  auto replies = answers();
  replies[3] = bulk("redlock3 blank i1 - abc xyz 30000 volatile - - - 1");
  EXPECT_TRUE(read(replies).marker);
  EXPECT_FALSE(read(replies).seen.marked);
}

TEST(SurveyFacts, KeepTheMarkerAsItIsEvenIfItIsNoneOfOurs) {
  auto replies = answers();
  replies[3] = bulk("abc 5 30000");
  EXPECT_FALSE(read(replies).marker) << "of an earlier version";
  EXPECT_EQ(read(replies).marker_text, "abc 5 30000");
}

TEST(SurveyFacts, ANodeThatChangedItsRoleSinceItWasMarkedCountsAsRestarted) {
  auto replies = answers();
  replies[3] = bulk("redlock3 active i1 D abc another 30000 volatile a a,b,c - 1");
  EXPECT_TRUE(read(replies).seen.restarted);
}

TEST(SurveyFacts, ReadTheServersClock) {
  EXPECT_EQ(server_time(pair("1700000000", "000042")),
            seconds(1700000000) + std::chrono::microseconds(42));
  EXPECT_FALSE(server_time(pair("soon", "0")));
  EXPECT_FALSE(server_time(error("ERR unknown command 'TIME'")));
}

TEST(SurveyFacts, SayWhetherTheServerTakesWritesAndItsMarkerCanBeRead) {
  auto replies = answers();
  EXPECT_EQ(read(replies).refuses_writes, "");
  EXPECT_EQ(read(replies).marker_problem, "") << "there is none";
  replies[12] = error("OOM command not allowed");
  replies[3] = error("WRONGTYPE Operation against a key");
  const SurveyedNode node = read(replies);
  EXPECT_EQ(node.refuses_writes, "OOM command not allowed");
  EXPECT_EQ(node.marker_problem, "WRONGTYPE Operation against a key");
  EXPECT_EQ(node.denied, "");
  replies[12] = error("NOPERM this user has no permissions");
  replies[3] = bulk("garbage");
  EXPECT_EQ(read(replies).refuses_writes, "");
  EXPECT_EQ(read(replies).denied, "NOPERM this user has no permissions");
  EXPECT_EQ(read(replies).marker_problem, "it is no membership record");
}

}  // namespace
}  // namespace redlock::runtime
