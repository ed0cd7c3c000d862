#include "quorum-lock/locks/wait_notice.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "common/session/holder_text.hpp"

namespace redlock::cli {
namespace {

using std::chrono::seconds;

Inspection free_on_three_nodes() {
  Inspection inspection;
  inspection.state = Inspection::State::free;
  inspection.quorum = 2;
  inspection.nodes.resize(3);
  return inspection;
}

TEST(Obstacle, IsNoneWhereTheResourceIsFree) { EXPECT_FALSE(find_obstacle(free_on_three_nodes())); }

TEST(Obstacle, IsTheHolderUntilItsLeaseEndsEverywhere) {
  Inspection inspection = free_on_three_nodes();
  inspection.state = Inspection::State::held;
  inspection.kind = LockKind::owned;
  inspection.owner = "nightly";
  for (NodeInspection& node : inspection.nodes) {
    node.kind = LockKind::owned;
    node.owner = "nightly";
  }
  inspection.nodes[0].remaining = seconds(3);
  inspection.nodes[1].remaining = seconds(4);
  const auto obstacle = find_obstacle(inspection);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->what, "held by owner nightly");
  EXPECT_EQ(obstacle->left, seconds(4));
}

TEST(Obstacle, IsTheDelayOfALockThatWasBroken) {
  Inspection inspection = free_on_three_nodes();
  inspection.state = Inspection::State::held;
  inspection.kind = LockKind::exclusive;
  inspection.holder = Token::parse("0123456789abcdef" + std::string(24, '0') + ":on call");
  inspection.holder_name = "on call";
  for (NodeInspection& node : inspection.nodes) {
    node.kind = inspection.kind;
    node.holder = inspection.holder;
    node.remaining = seconds(4);
  }
  const auto obstacle = find_obstacle(inspection);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->what, "broken by on call");
  EXPECT_EQ(obstacle->left, seconds(4));
  EXPECT_EQ(holder_text(inspection), "broken by on call, free in 4.000 s");
  EXPECT_EQ(people_text(inspection), "") << "the operator is no holder";
}

Metrics three_voters() {
  Metrics metrics;
  metrics.quorum = 2;
  metrics.members = 3;
  metrics.nodes.resize(3);
  for (NodeMetrics& node : metrics.nodes) node.up = true;
  return metrics;
}

TEST(MissingVotes, AreOfNodesInQuarantine) {
  Metrics metrics = three_voters();
  metrics.nodes[0].quarantine = seconds(9);
  metrics.nodes[0].problem = "quarantined for 9 s more: it restarted";
  EXPECT_FALSE(find_missing_votes(metrics)) << "two are enough";
  metrics.nodes[1].quarantine = seconds(7);
  metrics.nodes[1].problem = "quarantined for 7 s more: it restarted";
  const auto obstacle = find_missing_votes(metrics);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->what, "2 of 3 nodes are in quarantine");
  EXPECT_EQ(obstacle->left, seconds(9));
}

TEST(MissingVotes, AreOfNodesThatAreDown) {
  Metrics metrics = three_voters();
  metrics.nodes[0].up = false;
  metrics.nodes[0].problem = "connection refused";
  EXPECT_FALSE(find_missing_votes(metrics)) << "two are enough";
  metrics.nodes[2].up = false;
  metrics.nodes[2].problem = "connection refused";
  const auto obstacle = find_missing_votes(metrics);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->what, "2 of 3 nodes are not connected: connection refused");
}

TEST(MissingVotes, AreOfNodesThatRefuse) {
  Metrics metrics = three_voters();
  metrics.nodes[0].problem = "OOM command not allowed.";
  metrics.nodes[1].quarantine = seconds(7);
  metrics.nodes[1].problem = "quarantined for 7 s more: it restarted";
  metrics.nodes[2].up = false;
  metrics.nodes[2].problem = "no answer";
  metrics.members = 4;
  const auto obstacle = find_missing_votes(metrics);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->what,
            "1 of 3 nodes is not connected: no answer; 1 of 3 nodes is in quarantine; 1 of 3 nodes "
            "gives no vote: OOM command not allowed; the list of nodes has 3 of 4 members");
  EXPECT_FALSE(obstacle->left) << "the end of the quarantine is not enough";
}

TEST(MissingVotes, AreOfTheOnlyNode) {
  Metrics metrics;
  metrics.quorum = 1;
  metrics.members = 1;
  metrics.nodes.resize(1);
  metrics.nodes[0].problem = "connection refused";
  EXPECT_EQ(find_missing_votes(metrics)->what, "the node is not connected: connection refused");
  metrics.nodes[0].up = true;
  EXPECT_EQ(find_missing_votes(metrics)->what, "the node gives no vote: connection refused");
  metrics.nodes[0].problem = "quarantined for 7 s more: it restarted";
  metrics.nodes[0].quarantine = seconds(7);
  EXPECT_EQ(find_missing_votes(metrics)->what, "the node is in quarantine");
}

TEST(Obstacle, IsAReservationForAnotherClient) {
  Inspection inspection = free_on_three_nodes();
  inspection.kind = LockKind::reserved;
  inspection.next = NextClient{"", "cron@db1:77 nightly"};
  const auto obstacle = find_obstacle(inspection);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->what, "reserved for cron@db1:77 nightly");
}

TEST(WaitText, SaysForWhatAndUntilWhen) {
  const Obstacle obstacle{"held by 2 readers", seconds(8)};
  EXPECT_EQ(wait_text({"r"}, obstacle, seconds(30), seconds(1)),
            "waiting for 'r': held by 2 readers, 8.0 s left; gives up in 29 s");
  EXPECT_EQ(wait_text({"r", "s"}, {"'s': held by me", {}}, seconds(1), seconds(2)),
            "waiting for 2 resources: 's': held by me; gives up in 0.0 s");
  EXPECT_EQ(wait_text({"r"}, obstacle, forever, seconds(1)),
            "waiting for 'r': held by 2 readers, 8.0 s left; waits for as long as it takes");
}

}  // namespace
}  // namespace redlock::cli
