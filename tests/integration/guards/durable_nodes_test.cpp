// Nodes that write every command to disk before they answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "integration/guards/restart_guard.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

/// Nodes that write every command to disk before they answer.
class DurableNodes : public testing::Test {
 protected:
  [[nodiscard]] static std::vector<std::string> syncing(const std::string& when) {
    return {"--appendonly", "yes", "--appendfsync", when, "--repl-diskless-sync-delay", "0"};
  }
  /// Restarts the first node with its data, and kills the second: the votes of the others do not
  /// suffice.
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
  ASSERT_NO_FATAL_FAILURE(give_its_role_back(nodes_[0], replica));
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

}  // namespace
}  // namespace redlock::test
