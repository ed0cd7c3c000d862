// Nodes that forgot what they had promised, and those that nobody has met yet.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <ostream>

#include "integration/deployment.hpp"
#include "integration/guarded.hpp"
#include "redlock/listing.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ContainsRegex;
using testing::HasSubstr;

class RestartGuard : public testing::Test {
 protected:
  [[nodiscard]] ClientOptions options() const { return guarded(nodes_.urls()); }
  [[nodiscard]] Client client() const { return make_client(options()); }

  NewNodes nodes_{3, {.arguments = {"--repl-diskless-sync-delay", "0"}}};
};

TEST_F(RestartGuard, NodesThatNobodyHasMetHaveNoVoteAndSayHowToOpenThem) {
  auto options = RestartGuard::options();
  EventLog log;
  options.on_node_event = log.listener();
  Client client = make_client(options);
  auto refused = client.try_acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(failed_with(refused, Errc::excluded));
  const std::string& message = refused.error().message;
  EXPECT_THAT(message, HasSubstr("bootstrap"));
  EXPECT_THAT(message, ContainsRegex("[0-9] m?s"));
  ASSERT_GE(votes(refused.error().round, Vote::excluded), 2U);
  for (std::size_t i = 0; i < 3; ++i) {
    // The call has them marked, and then the end of the quarantine is known.
    EXPECT_TRUE(eventually([&] {
      return testing::Matches(ContainsRegex("[0-9] m?s"))(
          log.last_message(NodeEvent::Kind::excluded, i));
    }));
    const NodeReport& node = refused.error().round.nodes.at(i);
    if (node.vote != Vote::excluded) continue;
    EXPECT_THAT(message, HasSubstr(node.url));
    EXPECT_NE(node.message, "");
    EXPECT_THAT(message, HasSubstr(node.message));
  }
  // Known to all by now: nobody is asked, and every vote is reported.
  refused = client.try_acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(failed_with(refused, Errc::excluded));
  EXPECT_EQ(votes(refused.error().round, Vote::excluded), 3U);
  EXPECT_EQ(nodes_.count_held("r"), 0U);

  const auto inspection = client.inspect("r");
  ASSERT_TRUE(succeeded(inspection));
  for (const NodeInspection& node : inspection->nodes) {
    EXPECT_GT(node.quarantine, seconds(0));
    EXPECT_LE(node.quarantine, 2 * short_max_ttl);
  }
}

TEST_F(RestartGuard, NoBootstrapIsAdvisedThatWouldShortenNothing) {
  // A third node remembers the deployment, so the two that forgot are not taken for new ones.
  ClientOptions options = RestartGuard::options();
  options.max_ttl = minutes(10);
  open_deployment(options);
  nodes_[1].restart(Data::wipe);
  nodes_[2].restart(Data::wipe);
  Client client = make_client(options);
  for (int i = 0; i < 3; ++i) {
    const auto refused = client.try_acquire("r");
    ASSERT_TRUE(failed_with(refused, Errc::excluded));
    EXPECT_THAT(refused.error().message, HasSubstr("; wait "));
    EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("open the deployment")));
  }
  const auto check = admin::check(options);
  ASSERT_TRUE(succeeded(check));
  for (const admin::Finding& finding : check->findings) {
    if (finding.kind != admin::Finding::Kind::quarantined) continue;
    EXPECT_THAT(finding.remedy, testing::Not(HasSubstr("bootstrap"))) << finding.node;
  }
}

TEST_F(RestartGuard, AWaitingAcquireGetsTheLockWhenTheQuarantineEnds) {
  Client client = RestartGuard::client();
  ASSERT_TRUE(failed_with(client.try_acquire("r", {.ttl = short_max_ttl}), Errc::excluded));
  const auto lease = client.acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  // On two of the three, and most of it has passed; to the millisecond, clocks may disagree.
  const auto ended = std::count_if(nodes_.begin(), nodes_.end(), [](const RedisServer& node) {
    return node.pttl(std::string(redis::keys::quarantine)) < 1000;
  });
  EXPECT_GE(ended, 2);
}

TEST_F(RestartGuard, AnOpenedDeploymentWorksAtOnceForEverybody) {
  open_deployment(options());
  for (int i = 0; i < 3; ++i) {
    Client client = RestartGuard::client();
    EXPECT_TRUE(succeeded(client.try_acquire(fresh_resource(), {.ttl = short_max_ttl})));
  }
}

TEST_F(RestartGuard, AClientThatOpenedNewNodesItselfLearnsThatAnOperatorEndedTheQuarantine) {
  ClientOptions options = RestartGuard::options();
  options.max_ttl = minutes(10);
  Client client = make_client(options);
  ASSERT_TRUE(failed_with(client.try_acquire("r"), Errc::excluded));
  ASSERT_TRUE(eventually([&] { return std::all_of(nodes_.begin(), nodes_.end(), is_member); },
                         seconds(30)));
  const auto opened = admin::bootstrap(options);
  ASSERT_TRUE(succeeded(opened));
  EXPECT_EQ(opened->granted_in, std::chrono::nanoseconds(0));
  for (const RedisServer& node : nodes_) EXPECT_FALSE(quarantined(node));
  EXPECT_TRUE(
      eventually([&] { return client.try_acquire(fresh_resource()).has_value(); }, seconds(60)));
}

TEST_F(RestartGuard, ABootstrapThatIsRepeatedAfterARollingRestartEndsNoQuarantine) {
  ClientOptions options = RestartGuard::options();
  options.max_ttl = minutes(10);
  Client client = make_client(options);
  ASSERT_TRUE(failed_with(client.try_acquire("r"), Errc::excluded));
  ASSERT_TRUE(eventually([&] { return std::all_of(nodes_.begin(), nodes_.end(), is_member); },
                         seconds(30)));
  ASSERT_TRUE(succeeded(admin::bootstrap(options)));
  for (RedisServer& node : nodes_) {
    node.restart(Data::wipe);
    ASSERT_TRUE(eventually([&] { return is_member(node); }, seconds(30)));
  }
  const auto opened = admin::bootstrap(options);
  ASSERT_TRUE(succeeded(opened));
  EXPECT_GT(opened->granted_in, std::chrono::nanoseconds(0));
  for (const RedisServer& node : nodes_) EXPECT_TRUE(quarantined(node));
}

TEST_F(RestartGuard, WithoutItNewNodesVoteAtOnce) {
  Client client = make_client(unguarded(patient(nodes_.urls())));
  EXPECT_TRUE(succeeded(client.try_acquire("r")));
}

TEST_F(RestartGuard, ARenewedLeaseOutlivesANodeThatForgotIt) {
  open_deployment(options());
  Client client = RestartGuard::client();
  AcquireOptions acquire{.ttl = short_max_ttl};
  std::atomic<int> lost{0};
  acquire.on_lost = [&](const Error&) { ++lost; };
  const auto lease = client.try_acquire("r", std::move(acquire));
  ASSERT_TRUE(succeeded(lease));
  nodes_[0].restart(Data::wipe);
  EXPECT_TRUE(eventually([&] { return quarantined(nodes_[0]); }, seconds(30)));
  EXPECT_TRUE(eventually([&] { return nodes_[0].get("r") == lease->token().str(); }, seconds(30)))
      << "the node was not given the key again";
  EXPECT_TRUE(lease->valid());
  EXPECT_EQ(lost, 0);
}

TEST_F(RestartGuard, TheOthersDoWithoutANodeThatForgot) {
  // Nothing here waits for the end of the quarantine, and a short one may end in between.
  ClientOptions options = RestartGuard::options();
  options.max_ttl = seconds(60);
  open_deployment(options);
  Client client = make_client(options);
  ASSERT_TRUE(succeeded(client.try_acquire("before", {.ttl = short_max_ttl})));
  nodes_[0].restart(Data::wipe);
  const auto lease = acquire_patiently(client, "r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_NE(lease->report().nodes.at(0).vote, Vote::granted);

  ASSERT_TRUE(eventually([&] { return quarantined(nodes_[0]); }, seconds(30)));
  Client stranger = make_client(options);
  // Its answers do not count while the first client writes its marker.
  Result<Inspection> inspection = stranger.inspect("r");
  ASSERT_TRUE(eventually(
      [&] {
        if (inspection && inspection->nodes.at(0).error.empty()) return true;
        inspection = stranger.inspect("r");
        return false;
      },
      seconds(30)));
  EXPECT_GT(inspection->nodes.at(0).quarantine, seconds(0));
  EXPECT_EQ(inspection->nodes.at(1).quarantine, seconds(0));
}

TEST_F(RestartGuard, ANodeThatForgotVotesAgainAfterItsQuarantine) {
  open_deployment(options());
  Client client = client_that_locks(options());
  nodes_[0].restart(Data::wipe);
  ASSERT_TRUE(eventually([&] { return quarantined(nodes_[0]); }, seconds(30)));
  ASSERT_TRUE(eventually([&] { return !quarantined(nodes_[0]); }, seconds(60)));
  // Its vote is needed from here on.
  nodes_[1].kill();
  const auto lease = acquire_patiently(client, "r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(lease->report().nodes.at(0).vote, Vote::granted);
}

/// A way to lose a lock that was acknowledged.
struct Oblivion {
  const char* name;
  std::function<void(RedisServer& node, std::optional<RedisServer>& replica)> before;
  std::function<void(RedisServer& node, std::optional<RedisServer>& replica)> forget;
};

void PrintTo(const Oblivion& oblivion, std::ostream* stream) { *stream << oblivion.name; }

/// The first replica gives a master another replication id, as a change of role does. Afterwards
/// others come and go.
void have_had_a_replica(RedisServer& master) {
  const RedisServer replica;
  master.command({"SET", "first", "1"});
  replica.command({"REPLICAOF", master.host(), std::to_string(master.port())});
  ASSERT_TRUE(eventually([&] { return replica.get("first") == "1"; }, seconds(30)));
}

void become_replica_of(const RedisServer& node, const RedisServer& master) {
  node.command({"REPLICAOF", master.host(), std::to_string(master.port())});
  ASSERT_TRUE(eventually(
      [&] {
        return node.command({"INFO", "replication"}).string.find("master_link_status:up") !=
               std::string::npos;
      },
      seconds(30)));
}

/// A replica that was cut off from its master and promoted: it knows the marker, not the lock.
void cut_off_a_replica(RedisServer& master, std::optional<RedisServer>& replica) {
  master.command({"SET", "replicated", "1"});
  replica.emplace(RedisServerOptions{.arguments = {"--repl-diskless-sync-delay", "0"}});
  replica->command({"REPLICAOF", master.host(), std::to_string(master.port())});
  ASSERT_TRUE(eventually([&] { return replica->get("replicated") == "1"; }, seconds(30)));
  ASSERT_TRUE(replica->command({"REPLICAOF", "NO", "ONE"}).is_ok());
}

const Oblivion killed_and_started_empty{
    "KilledAndStartedEmpty", [](RedisServer&, std::optional<RedisServer>&) {},
    [](RedisServer& node, std::optional<RedisServer>&) { node.restart(Data::wipe); }};

const Oblivion started_from_an_older_snapshot{
    "StartedFromAnOlderSnapshot",
    [](RedisServer& node, std::optional<RedisServer>&) {
      // Not while its first replica is still being served.
      ASSERT_TRUE(eventually([&] { return node.command({"SAVE"}).is_ok(); }, seconds(30)));
    },
    [](RedisServer& node, std::optional<RedisServer>&) { node.restart(Data::keep); }};

const Oblivion flushed_and_met_again{"FlushedAndMetAgain",
                                     [](RedisServer&, std::optional<RedisServer>&) {},
                                     [](RedisServer& node, std::optional<RedisServer>&) {
                                       node.command({"FLUSHALL"});
                                       node.command({"CLIENT", "KILL", "TYPE", "normal"});
                                     }};

const Oblivion flushed_on_a_connection_that_stays{
    "FlushedOnAConnectionThatStays", [](RedisServer&, std::optional<RedisServer>&) {},
    [](RedisServer& node, std::optional<RedisServer>&) { node.command({"FLUSHALL"}); }};

/// It keeps its process and its connections, and nothing else.
const Oblivion a_replica_of_an_empty_server_for_a_while{
    "AReplicaOfAnEmptyServerForAWhile",
    [](RedisServer&, std::optional<RedisServer>& other) {
      other.emplace(RedisServerOptions{.arguments = {"--repl-diskless-sync-delay", "0"}});
    },
    [](RedisServer& node, std::optional<RedisServer>& other) {
      ASSERT_NO_FATAL_FAILURE(become_replica_of(node, *other));
      ASSERT_TRUE(node.command({"REPLICAOF", "NO", "ONE"}).is_ok());
    }};

const Oblivion replaced_by_a_promoted_replica{
    "ReplacedByAPromotedReplica", cut_off_a_replica,
    [](RedisServer& node, std::optional<RedisServer>& replica) {
      node.kill();
      const auto port = std::to_string(node.port());
      ASSERT_TRUE(replica->command({"CONFIG", "SET", "port", port}).is_ok());
    }};

/// Process, connections and marker are the same as before.
const Oblivion given_its_role_back_by_a_promoted_replica{
    "GivenItsRoleBackByAPromotedReplica", cut_off_a_replica,
    [](RedisServer& node, std::optional<RedisServer>& replica) {
      const std::string marker(redis::keys::marker);
      ASSERT_EQ(replica->get(marker), node.get(marker));
      ASSERT_NO_FATAL_FAILURE(become_replica_of(node, *replica));
      ASSERT_EQ(replica->get(marker), node.get(marker));
      ASSERT_TRUE(node.command({"REPLICAOF", "NO", "ONE"}).is_ok());
    }};

class Forgetting : public RestartGuard, public testing::WithParamInterface<Oblivion> {
 protected:
  void before() { GetParam().before(nodes_[0], replica_); }
  void forget() { GetParam().forget(nodes_[0], replica_); }

  std::optional<RedisServer> replica_;
};

TEST_P(Forgetting, ALockLetsNobodyElseInUntilItsLeaseIsOver) {
  ASSERT_NO_FATAL_FAILURE(have_had_a_replica(nodes_[0]));
  open_deployment(options());
  ASSERT_NO_FATAL_FAILURE(before());
  Client holder = client();
  Client contender = client();
  const auto lease = acquire_on_first_two(holder, nodes_, "r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(contender.inspect("r")) << "it is to know the nodes before";
  ASSERT_NO_FATAL_FAILURE(forget());
  expect_refused_until_over(contender, *lease);
}

TEST_P(Forgetting, ALockIsNoReasonToLetAClientInThatHasNeverMetTheNode) {
  ASSERT_NO_FATAL_FAILURE(have_had_a_replica(nodes_[0]));
  open_deployment(options());
  ASSERT_NO_FATAL_FAILURE(before());
  Client holder = client();
  const auto lease = acquire_on_first_two(holder, nodes_, "r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_NO_FATAL_FAILURE(forget());
  Client contender = client();
  expect_refused_until_over(contender, *lease);
}

TEST_P(Forgetting, ALockWithoutTheGuardMakesTwoHolders) {
  ASSERT_NO_FATAL_FAILURE(before());
  Client holder = make_client(unguarded(patient(nodes_.urls())));
  Client contender = make_client(unguarded(patient(nodes_.urls())));
  const auto lease = acquire_on_first_two(holder, nodes_, "r", {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_NO_FATAL_FAILURE(forget());
  const auto second = acquire_patiently(contender, "r", {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(second));
  EXPECT_TRUE(lease->valid()) << "this way of forgetting shows nothing";
}

INSTANTIATE_TEST_SUITE_P(Ways, Forgetting,
                         testing::Values(killed_and_started_empty, started_from_an_older_snapshot,
                                         flushed_and_met_again, replaced_by_a_promoted_replica,
                                         flushed_on_a_connection_that_stays,
                                         a_replica_of_an_empty_server_for_a_while,
                                         given_its_role_back_by_a_promoted_replica),
                         [](const auto& way) { return std::string(way.param.name); });

TEST_F(RestartGuard, APromotedReplicaThatIsListedInsteadOfItsMasterHasNoVoteYet) {
  ASSERT_NO_FATAL_FAILURE(have_had_a_replica(nodes_[0]));
  open_deployment(options());
  std::optional<RedisServer> replica;
  ASSERT_NO_FATAL_FAILURE(cut_off_a_replica(nodes_[0], replica));
  Client holder = client();
  const auto lease = acquire_on_first_two(holder, nodes_, "r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  nodes_[0].kill();
  Client contender = make_client(guarded({replica->url(), nodes_[1].url(), nodes_[2].url()}));
  expect_refused_until_over(contender, *lease);
}

/// Nodes that write every command to disk before they answer.
class DurableNodes : public testing::Test {
 protected:
  [[nodiscard]] static std::vector<std::string> syncing(const std::string& when) {
    return {"--appendonly", "yes", "--appendfsync", when, "--repl-diskless-sync-delay", "0"};
  }
  /// The first node restarts with its data; then the others' votes do not suffice.
  void restart_first_and_kill_second() {
    nodes_[0].restart(Data::keep);
    nodes_[1].kill();
  }

  NewNodes nodes_{3, {.arguments = syncing("always")}};
};

TEST_F(DurableNodes, KeepTheirVoteWhereTheyAreTrusted) {
  auto options = guarded(nodes_.urls());
  options.guards.trust_durable = true;
  open_deployment(options);
  Client holder = make_client(options);
  auto lease = acquire_on_first_two(holder, nodes_, "r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  restart_first_and_kill_second();

  Client client = make_client(options);
  EXPECT_TRUE(succeeded(acquire_patiently(client, "other", {.ttl = short_max_ttl})));
  EXPECT_FALSE(quarantined(nodes_[0]));
  expect_refused_until_over(client, *lease);
}

TEST_F(DurableNodes, AreQuarantinedWhereTheyAreNotTrusted) {
  auto options = guarded(nodes_.urls());
  EventLog log;
  options.on_node_event = log.listener();
  open_deployment(options);
  Client client = client_that_locks(options);
  nodes_[0].restart(Data::keep);
  ASSERT_TRUE(eventually([&] { return is_member(nodes_[0]); }, seconds(30)))
      << "two others take it back";
  ASSERT_TRUE(log.wait_for(NodeEvent::Kind::excluded, 0));
  EXPECT_THAT(log.last_message(NodeEvent::Kind::excluded, 0), HasSubstr("quarantined"));
  nodes_[1].kill();
  ASSERT_TRUE(eventually([&] { return !quarantined(nodes_[0]); }, seconds(60)));
  EXPECT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = short_max_ttl})));
}

TEST_F(DurableNodes, AreNotTrustedWithTheDataOfAPromotedReplica) {
  auto options = guarded(nodes_.urls());
  options.guards.trust_durable = true;
  ASSERT_NO_FATAL_FAILURE(have_had_a_replica(nodes_[0]));
  open_deployment(options);
  std::optional<RedisServer> replica;
  ASSERT_NO_FATAL_FAILURE(cut_off_a_replica(nodes_[0], replica));
  Client holder = make_client(options);
  const auto lease = acquire_on_first_two(holder, nodes_, "r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_NO_FATAL_FAILURE(given_its_role_back_by_a_promoted_replica.forget(nodes_[0], replica));
  Client contender = make_client(options);
  expect_refused_until_over(contender, *lease);
}

TEST_F(DurableNodes, AreQuarantinedWithoutTheirData) {
  auto options = guarded(nodes_.urls());
  options.guards.trust_durable = true;
  open_deployment(options);
  const Client client = client_that_locks(options);
  nodes_[0].restart(Data::wipe);
  EXPECT_TRUE(eventually([&] { return quarantined(nodes_[0]); }, seconds(30)));
}

TEST_F(DurableNodes, AreQuarantinedWhereTheyWereMarkedAsOthers) {
  nodes_[0].options().arguments = syncing("everysec");
  nodes_[0].restart(Data::wipe);
  auto options = guarded(nodes_.urls());
  options.guards.trust_durable = true;
  open_deployment(options);
  nodes_[0].options().arguments = syncing("always");
  nodes_[0].terminate();
  nodes_[0].start(Data::keep);
  ASSERT_TRUE(nodes_[0].get(std::string(redis::keys::marker))) << "nothing is forgotten but locks";
  ASSERT_FALSE(quarantined(nodes_[0]));
  const Client client = client_that_locks(options);
  EXPECT_TRUE(eventually([&] { return quarantined(nodes_[0]); }, seconds(30)));
}

TEST_F(RestartGuard, TrustInDurableNodesDoesNotExtendToOthers) {
  auto options = RestartGuard::options();
  options.guards.trust_durable = true;
  open_deployment(options);
  const Client client = client_that_locks(options);
  // The marker survives.
  ASSERT_TRUE(nodes_[0].command({"SAVE"}).is_ok());
  nodes_[0].restart(Data::keep);
  EXPECT_TRUE(eventually([&] { return quarantined(nodes_[0]); }, seconds(30)));
}

TEST_F(RestartGuard, AClientWithAnotherMaxTtlIsToldWhatDiffers) {
  open_deployment(options());
  auto other = options();
  other.max_ttl = seconds(47);
  Client client = make_client(other);
  auto refused = client.try_acquire("r");
  ASSERT_TRUE(failed_with(refused, Errc::excluded));
  EXPECT_THAT(refused.error().message, HasSubstr("max TTL"));
  EXPECT_THAT(refused.error().message, ContainsRegex("[^0-9]47(000 m| )s"));
  EXPECT_THAT(refused.error().message, ContainsRegex("[^0-9]3(000 m| )s"));
  EXPECT_EQ(nodes_.count_held("r"), 0U);
  // It has not harmed those that do belong together.
  Client member = RestartGuard::client();
  EXPECT_TRUE(succeeded(member.try_acquire("r", {.ttl = short_max_ttl})));
}

TEST_F(RestartGuard, WhoOnlyLooksWritesNothing) {
  auto other = options();
  other.max_ttl = minutes(60);
  const auto look = [&](const ClientOptions& with) {
    Client client = make_client(with);
    static_cast<void>(client.inspect("r"));
    static_cast<void>(admin::check(with));
    static_cast<void>(admin::list_locks(with));
  };
  look(other);
  for (const RedisServer& node : nodes_) EXPECT_EQ(node.command({"DBSIZE"}).integer, 0);
  open_deployment(options());
  const auto marker = nodes_[0].get(std::string(redis::keys::marker));
  nodes_[0].restart(Data::wipe);
  look(other);
  look(options());
  EXPECT_EQ(nodes_[0].command({"DBSIZE"}).integer, 0);
  nodes_[0].command({"SET", std::string(redis::keys::marker), *marker});
  look(other);
  look(options());
  EXPECT_EQ(nodes_[0].get(std::string(redis::keys::marker)), marker) << "it is of before";
}

TEST_F(RestartGuard, AClientWithAnotherMaxTtlKeepsNoNodeAway) {
  open_deployment(options());
  auto other = options();
  other.max_ttl = minutes(60);
  Client client = make_client(other);
  ASSERT_TRUE(failed_with(client.try_acquire("r"), Errc::excluded));
  nodes_[0].restart(Data::wipe);
  Client stranger = make_client(other);
  EXPECT_FALSE(stranger.try_acquire("r", {.ttl = short_max_ttl}));
  EXPECT_EQ(nodes_[0].command({"DBSIZE"}).integer, 0);
  Client member = RestartGuard::client();
  ASSERT_TRUE(succeeded(acquire_patiently(member, "r", {.ttl = short_max_ttl})));
  ASSERT_TRUE(eventually([&] { return is_member(nodes_[0]); }, seconds(30)));
  EXPECT_LE(nodes_[0].pttl(std::string(redis::keys::quarantine)), 2 * 3000);
}

TEST_F(RestartGuard, ClientsThatDisagreeOnMaxTtlLeaveADeploymentClosedAndSaySo) {
  blank_by_hand(nodes_[0]);
  Client client = RestartGuard::client();
  const auto refused = client.try_acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(failed_with(refused, Errc::excluded));
  EXPECT_THAT(refused.error().message, HasSubstr("clients that disagree open none"));
  EXPECT_THAT(refused.error().message, ContainsRegex("max TTL of 30(000 m| )s"));
  EXPECT_FALSE(is_member(nodes_[0]));
  open_deployment(options());
  EXPECT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = short_max_ttl})));
}

TEST_F(RestartGuard, AClientWithFewerNodesIsToldWhatDiffers) {
  open_deployment(options());
  Client client = make_client(guarded({nodes_[0].url()}));
  auto refused = client.try_acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(failed_with(refused, Errc::excluded));
  EXPECT_THAT(refused.error().message, ContainsRegex("[^0-9]3 nodes"));
  EXPECT_THAT(refused.error().message, ContainsRegex("[^0-9]1 node"));
  EXPECT_EQ(nodes_.count_held("r"), 0U);
}

}  // namespace
}  // namespace redlock::test
