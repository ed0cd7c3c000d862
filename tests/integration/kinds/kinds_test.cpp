// All kinds of locks: with two of five nodes killed, when a deployment is opened, and with input
// that is refused.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "integration/kinds/kinds.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

TEST(KindsOverTheLoss, OfTwoOfFiveNodesGoOn) {
  Nodes nodes(5);
  Client client = make_client(impatient(nodes.urls()));
  const auto take = [&](const Target& target) {
    return acquire_patiently(client, target, {.ttl = seconds(20)});
  };
  auto reader = take(shared("r"));
  auto owner = take(owned("owned", "me"));
  ASSERT_TRUE(succeeded(reader));
  ASSERT_TRUE(succeeded(owner));
  // The last node may lag behind the quorum.
  for (RedisServer& node : nodes) {
    ASSERT_TRUE(eventually([&] { return node.command({"EXISTS", "r", "owned"}).integer == 2; }));
  }
  nodes[0].kill();
  nodes[3].kill();
  EXPECT_TRUE(succeeded(reader->extend(seconds(20))));
  auto second = take(shared("r"));
  ASSERT_TRUE(succeeded(second));
  EXPECT_TRUE(failed_with(client.try_acquire("r"), Errc::held));
  auto again = take(owned("owned", "me"));
  ASSERT_TRUE(succeeded(again));
  const auto left = owner->release();
  ASSERT_TRUE(succeeded(left));
  EXPECT_EQ(left->holds_left, 1U);
  EXPECT_TRUE(succeeded(take(all_of({"a", "b", "c"}))));
  std::vector<Lease> permits;
  for (int i = 0; i < 3; ++i) {
    auto lease = take(permit("s", 3));
    ASSERT_TRUE(succeeded(lease));
    permits.push_back(*std::move(lease));
  }
  EXPECT_TRUE(failed_with(client.try_acquire(permit("s", 3)), Errc::held));
}

TEST(KindsOverTheLoss, OfItsKeysAHoldIsGivenBackToANodeThatReturns) {
  Nodes nodes(3);
  Client client = make_client(impatient(nodes.urls()));
  auto reader = acquire_patiently(client, shared("r"), {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(reader));
  ASSERT_TRUE(eventually([&] { return nodes[1].command({"ZCARD", "r"}).integer == 2; }));
  nodes[1].kill();
  nodes[1].restart(Data::wipe);
  EXPECT_TRUE(eventually([&] {
    return reader->extend(seconds(20)) && nodes[1].command({"ZCARD", "r"}).integer == 2;
  }));
}

TEST(KindsAndBootstrap, HoldsAndIntervalsAreFoundAsLocksAre) {
  NewNodes nodes(3);
  const ClientOptions options = patient(nodes.urls());
  const auto refused_for = [&](const Target& target) {
    // A client that had locks before the deployment was opened.
    Client client = make_client(unguarded(options));
    const auto lease = client.try_acquire(target, {.ttl = seconds(20)});
    EXPECT_TRUE(succeeded(lease));
    const auto opened = admin::bootstrap(options);
    EXPECT_TRUE(failed_with(opened, Errc::held));
    return !opened && opened.error().message.find("'r'") != std::string::npos;
  };
  EXPECT_TRUE(refused_for(shared("r")));
  nodes.flush();
  EXPECT_TRUE(refused_for(owned("r", "me")));
  nodes.flush();
  EXPECT_TRUE(refused_for(interval("r", seconds(600))));
  // The rest of an interval has no holder, and still excludes every caller.
  const auto cooling_down = admin::bootstrap(options);
  EXPECT_TRUE(failed_with(cooling_down, Errc::held));
  nodes.flush();
  // A value that no Redlock client wrote is not a lock.
  nodes[0].command({"SET", "s", "somebody else's", "PX", "600000"});
  EXPECT_TRUE(succeeded(admin::bootstrap(options)));
}

TEST_F(Kinds, AnUnusableTargetIsRefusedInOneLine) {
  const auto why = [&](const Target& target, AcquireOptions options = {}) {
    const auto refused = client_.try_acquire(target, std::move(options));
    EXPECT_TRUE(failed_with(refused, Errc::invalid_argument));
    return refused ? std::string() : refused.error().message;
  };
  EXPECT_EQ(why(owned(resource_, std::string(81, 'x'))), "owner: 81 bytes; 1 to 80 are allowed");
  EXPECT_EQ(why(owned(resource_, "")), "owner: 0 bytes; 1 to 80 are allowed");
  EXPECT_EQ(why(permit(resource_, 0)), "permits: 0; 1 to 256 are allowed");
  EXPECT_EQ(why(permit(resource_, 257)), "permits: 257; 1 to 256 are allowed");
  EXPECT_EQ(why(interval(resource_, seconds(-1))).substr(0, 9), "interval:");
  EXPECT_EQ(why(permit(resource_, 2, seconds(-1))).substr(0, 9), "interval:");
  EXPECT_EQ(why(all_of(std::vector<std::string>(65, "x"))),
            "resources: 65; at most 64 are allowed");
  const std::string no_name = "resource: 0 bytes; 1 to 8192 are allowed";
  EXPECT_EQ(why(all_of({resource_, ""})), no_name);
  EXPECT_EQ(why(all_of({})), no_name);
  EXPECT_EQ(why(shared("")), no_name);
  Target moved = resource_;
  const Target kept = std::move(moved);
  EXPECT_EQ(why(moved), no_name);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(kept.resource(), resource_);
  EXPECT_EQ(why(all_of({resource_, "x"}), {.orphan_ttl = seconds(1)}),
            "orphan ttl: not for several resources");
  for (const Target& target : {shared(resource_), owned(resource_, "me"), permit(resource_, 2)}) {
    EXPECT_EQ(why(target, {.fencing = true}),
              "fencing: not for shared, owned and permit, which may have several holders");
  }
  EXPECT_EQ(why(resource_, {.name = std::string(81, 'x')}),
            "name: 81 bytes; at most 80 are allowed");
  EXPECT_EQ(count(resource_), 0U);
}

TEST_F(Kinds, AForeignSortedSetIsNeitherTakenNorTouched) {
  for (RedisServer& node : shared_nodes(5)) {
    ASSERT_EQ(node.command({"ZADD", resource_, "1", "one", "2", "two"}).integer, 2);
  }
  EXPECT_TRUE(failed_with(read(), Errc::held));
  EXPECT_TRUE(failed_with(own("me"), Errc::held));
  EXPECT_TRUE(failed_with(take(all_of({resource_, "x"})), Errc::held));
  EXPECT_TRUE(failed_with(client_.release(resource_, *Token::parse("one")), Errc::not_holder));
  for (RedisServer& node : shared_nodes(5)) {
    EXPECT_EQ(node.command({"ZCARD", resource_}).integer, 2);
    EXPECT_EQ(node.command({"PTTL", resource_}).integer, -1);
  }
}

}  // namespace
}  // namespace redlock::test
