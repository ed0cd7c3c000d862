// Nodes that lose an acknowledged lock, in each possible way.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "integration/guards/restart_guard.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

/// A way to lose a lock that was acknowledged.
struct Oblivion {
  const char* name;
  std::function<void(RedisServer& node, std::optional<RedisServer>& replica)> before;
  std::function<void(RedisServer& node, std::optional<RedisServer>& replica)> forget;
};

void PrintTo(const Oblivion& oblivion, std::ostream* stream) { *stream << oblivion.name; }

const Oblivion killed_and_started_empty{
    "KilledAndStartedEmpty", [](RedisServer&, std::optional<RedisServer>&) {},
    [](RedisServer& node, std::optional<RedisServer>&) { node.restart(Data::wipe); }};

const Oblivion started_from_an_older_snapshot{
    "StartedFromAnOlderSnapshot",
    [](RedisServer& node, std::optional<RedisServer>&) {
      // SAVE fails while the node still serves its first replica.
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

/// The node keeps its process and its connections, and nothing else.
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

/// The node keeps its process, its connections and its marker.
const Oblivion given_its_role_back_by_a_promoted_replica{"GivenItsRoleBackByAPromotedReplica",
                                                         cut_off_a_replica, give_its_role_back};

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

}  // namespace
}  // namespace redlock::test
