// The verdict on each resource from the nodes' stored locks: by votes, with permits put together.

#include "api/deployment/lock_verdicts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace redlock::api {
namespace {

using runtime::NodeLocks;
using runtime::StoredLock;
using std::chrono::milliseconds;
using State = admin::ListedLock::State;
using Form = StoredLock::Form;

constexpr std::size_t quorum = 3;

StoredLock token(std::string text, int left = 1000, std::uint32_t waiters = 0) {
  return {Form::token, std::move(text), milliseconds(left), 0, waiters};
}
StoredLock holds(std::string group, std::uint32_t count, int left = 1000) {
  return {Form::holds, std::move(group), milliseconds(left), count, 0};
}
StoredLock reserved(int left = 50) { return {Form::reserved, {}, milliseconds(left), 0, 1}; }
StoredLock nothing(std::uint32_t waiters = 0) {
  return {Form::none, {}, milliseconds(0), 0, waiters};
}
StoredLock unreadable() { return {Form::unreadable, {}, milliseconds(0), 0, 0}; }

/// Five nodes, each with one of `stored` for `resource`.
std::vector<NodeLocks> nodes_with(const std::vector<StoredLock>& stored,
                                  const std::string& resource = "r") {
  std::vector<NodeLocks> nodes(5);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].url = "redis://" + std::to_string(i);
    if (i < stored.size()) nodes[i].locks[resource] = stored[i];
  }
  return nodes;
}

admin::ListedLock only(const std::vector<NodeLocks>& nodes) {
  const admin::LockList list = judge_locks(nodes, quorum);
  EXPECT_EQ(list.locks.size(), 1U);
  return list.locks.empty() ? admin::ListedLock() : list.locks.front();
}

TEST(LockVerdicts, HeldIsATokenOnAQuorum) {
  const admin::ListedLock lock =
      only(nodes_with({token("a", 900), token("a", 700), token("a", 800), nothing(), token("b")}));
  EXPECT_EQ(lock.resource, "r");
  EXPECT_EQ(lock.state, State::held);
  EXPECT_EQ(lock.kind, LockKind::exclusive);
  EXPECT_EQ(lock.holder, Token::parse("a"));
  EXPECT_EQ(lock.nodes, 3U);
  EXPECT_EQ(lock.remaining, milliseconds(700)) << "the quorum ends with its shortest";
}

TEST(LockVerdicts, HeldLastsAsLongAsAQuorumDoes) {
  const admin::ListedLock lock = only(nodes_with(
      {token("a", 100), token("a", 900), token("a", 800), token("a", 200), token("a", 700)}));
  EXPECT_EQ(lock.remaining, milliseconds(700));
}

TEST(LockVerdicts, SplitIsWhereNobodyHasAQuorumOrCanGetOne) {
  const admin::ListedLock lock = only(nodes_with({token("a"), token("a"), token("b"), nothing()}));
  EXPECT_EQ(lock.state, State::split);
  EXPECT_EQ(lock.holder, Token::parse("a")) << "the one on most nodes";
  EXPECT_EQ(lock.nodes, 2U);
}

TEST(LockVerdicts, MinorityIsWhereOthersCanStillGetAQuorum) {
  const admin::ListedLock lock = only(nodes_with({token("a", 300), token("a", 500)}));
  EXPECT_EQ(lock.state, State::minority);
  EXPECT_EQ(lock.nodes, 2U);
  EXPECT_EQ(lock.remaining, milliseconds(500));
}

TEST(LockVerdicts, NodesThatDoNotAnswerLeaveItOpen) {
  auto nodes = nodes_with({token("a"), token("a")});
  nodes[4].problem = "down";
  EXPECT_EQ(only(nodes).state, State::indeterminate);
  nodes = nodes_with({token("a"), token("a"), token("a")});
  nodes[3].problem = nodes[4].problem = "down";
  EXPECT_EQ(only(nodes).state, State::held);
  nodes = nodes_with({token("a")});
  nodes[4].problem = "down";
  EXPECT_EQ(only(nodes).state, State::minority) << "two are no quorum";
  EXPECT_EQ(only(nodes_with({token("a"), token("a"), unreadable()})).state, State::indeterminate);
}

TEST(LockVerdicts, ReservationsAreNobodysVotes) {
  admin::ListedLock lock = only(nodes_with({reserved(), reserved(), reserved(), token("a")}));
  EXPECT_EQ(lock.state, State::reserved);
  EXPECT_EQ(lock.kind, LockKind::none);
  EXPECT_EQ(lock.holder, std::nullopt);
  EXPECT_EQ(lock.nodes, 3U);
  EXPECT_EQ(lock.waiters, 1U);
  lock = only(nodes_with({reserved(), token("a"), token("a"), token("a")}));
  EXPECT_EQ(lock.state, State::held);
}

TEST(LockVerdicts, FreeResourcesAreListedWhileClientsAreQueued) {
  const admin::ListedLock lock = only(nodes_with({nothing(2), nothing(3), nothing(1)}));
  EXPECT_EQ(lock.state, State::free);
  EXPECT_EQ(lock.waiters, 3U);
  EXPECT_EQ(lock.nodes, 0U);
  EXPECT_TRUE(judge_locks(nodes_with({nothing(), nothing()}), quorum).locks.empty());
}

TEST(LockVerdicts, ReadersAndOwnersAreCountedByTheirHolds) {
  admin::ListedLock lock =
      only(nodes_with({holds("shared", 2), holds("shared", 3), holds("shared", 2)}));
  EXPECT_EQ(lock.state, State::held);
  EXPECT_EQ(lock.kind, LockKind::shared);
  EXPECT_EQ(lock.holder, std::nullopt);
  EXPECT_EQ(lock.holds, 2U);
  lock = only(nodes_with({holds("owner me", 1), holds("owner me", 1), holds("owner me", 1)}));
  EXPECT_EQ(lock.kind, LockKind::owned);
  EXPECT_EQ(lock.owner, "me");
  EXPECT_EQ(lock.holder, std::nullopt);
  lock = only(nodes_with({holds("owner a", 1), holds("owner b", 1), holds("shared", 1)}));
  EXPECT_EQ(lock.state, State::split);
}

TEST(LockVerdicts, ATokenMayBeAWordOfHolds) {
  const admin::ListedLock lock =
      only(nodes_with({token("shared"), token("shared"), token("shared")}));
  EXPECT_EQ(lock.kind, LockKind::exclusive);
  EXPECT_EQ(lock.holder, Token::parse("shared"));
}

TEST(LockVerdicts, AnIntervalHasNoHolder) {
  const std::string text(interval_token);
  const admin::ListedLock lock = only(nodes_with({token(text), token(text), token(text)}));
  EXPECT_EQ(lock.state, State::held);
  EXPECT_EQ(lock.kind, LockKind::interval);
  EXPECT_EQ(lock.holder, std::nullopt);
}

TEST(LockVerdicts, PermitsOfASemaphoreAreOneLine) {
  auto nodes = nodes_with({token("a", 500), token("a", 500), token("a", 500)}, "s#0");
  for (std::size_t i = 0; i < 4; ++i) nodes[i].locks["s#12"] = token("b", 300, 2);
  nodes[0].locks["s#3"] = token("c", 100);
  nodes[1].locks["s#4"] = nothing(2);
  nodes[1].locks["s#"] = nothing(3);  // the queue for any permit
  const admin::ListedLock lock = only(nodes);
  EXPECT_EQ(lock.resource, "s");
  EXPECT_EQ(lock.permits, 2U);
  EXPECT_EQ(lock.state, State::held);
  EXPECT_EQ(lock.kind, LockKind::exclusive);
  EXPECT_EQ(lock.holder, std::nullopt);
  EXPECT_EQ(lock.remaining, milliseconds(300)) << "of the next one to be free";
  EXPECT_EQ(lock.nodes, 3U);
  EXPECT_EQ(lock.waiters, 3U);
}

TEST(LockVerdicts, ASemaphoreOfWhichNoPermitIsHeldSaysWhy) {
  const admin::ListedLock lock = only(nodes_with({token("a"), token("b"), token("c")}, "s#0"));
  EXPECT_EQ(lock.permits, 0U);
  EXPECT_EQ(lock.state, State::split);
  EXPECT_EQ(lock.nodes, 1U);
}

TEST(LockVerdicts, NamesThatAreNoPermitsStayAsTheyAre) {
  for (const char* name : {"s#", "#1", "s#x", "s#01", "s#256", "s#-1", "s#1 "}) {
    const admin::ListedLock lock = only(nodes_with({token("a"), token("a"), token("a")}, name));
    EXPECT_EQ(lock.resource, name);
    EXPECT_EQ(lock.permits, std::nullopt) << name;
  }
  const admin::ListedLock readers =
      only(nodes_with({holds("shared", 1), holds("shared", 1), holds("shared", 1)}, "s#1"));
  EXPECT_EQ(readers.resource, "s#1");
}

TEST(LockVerdicts, AreSortedByResource) {
  auto nodes = nodes_with({token("a")}, "b#1");
  nodes[0].locks["c"] = token("a");
  nodes[0].locks["a"] = token("a");
  nodes[0].locks["b"] = token("a");
  std::vector<std::string> names;
  for (const admin::ListedLock& lock : judge_locks(nodes, quorum).locks)
    names.push_back(lock.resource);
  EXPECT_THAT(names, testing::ElementsAre("a", "b", "b", "c"));
}

/// Three listed nodes of a deployment of five; the second one has another URL as a member.
std::vector<NodeLocks> three_of_five() {
  auto nodes = nodes_with({nothing(), nothing(), token("a")});
  nodes.resize(3);
  core::Marker marker;
  marker.state = core::Marker::State::active;
  marker.deployment = "d";
  marker.members = {"redis://0", "redis://2", "redis://3", "redis://4", "redis://one"};
  for (NodeLocks& node : nodes) {
    node.marker = marker;
    node.marker->self = node.url == "redis://1" ? "redis://one" : node.url;
  }
  return nodes;
}

TEST(LockVerdicts, CountTheMembersThatTheListLacksAsSilent) {
  auto nodes = three_of_five();
  const std::size_t needed = add_unlisted_members(nodes, 2);
  EXPECT_EQ(needed, 3U);
  const admin::LockList list = judge_locks(nodes, needed);
  ASSERT_EQ(list.nodes.size(), 5U);
  EXPECT_EQ(list.nodes[3].url, "redis://3");
  EXPECT_EQ(list.nodes[4].url, "redis://4");
  EXPECT_EQ(list.nodes[4].error,
            "it is one of the 5 members, and the list of nodes does not name it: the list is out "
            "of date");
  EXPECT_EQ(list.answered, 3U);
  ASSERT_EQ(list.locks.size(), 1U);
  EXPECT_EQ(list.locks[0].state, State::indeterminate) << "the others can have it too";
}

TEST(LockVerdicts, AddNobodyWithoutADeployment) {
  auto nodes = three_of_five();
  for (NodeLocks& node : nodes) node.marker->state = core::Marker::State::blank;
  EXPECT_EQ(add_unlisted_members(nodes, 2), 2U);
  EXPECT_EQ(nodes.size(), 3U);
}

TEST(LockVerdicts, AreCompleteOnlyIfNoNodeThatAnswersKeepsSomethingBack) {
  auto nodes = nodes_with({});
  EXPECT_TRUE(judge_locks(nodes, quorum).complete);
  nodes[0].problem = nodes[1].problem = "down";
  EXPECT_TRUE(judge_locks(nodes, quorum).complete) << "a quorum answers";
  nodes[2].problem = "down";
  EXPECT_FALSE(judge_locks(nodes, quorum).complete);
  nodes = nodes_with({});
  nodes[0].stopped_early = true;
  EXPECT_FALSE(judge_locks(nodes, quorum).complete);
  nodes = nodes_with({});
  nodes[0].unread = 1;
  const admin::LockList list = judge_locks(nodes, quorum);
  EXPECT_FALSE(list.complete);
  EXPECT_EQ(list.nodes[0].unread, 1U);
  EXPECT_EQ(list.answered, 5U);
  EXPECT_EQ(list.quorum, quorum);
}

}  // namespace
}  // namespace redlock::api
