// The life of a lock over one to five real servers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class LockOverNodes : public testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] static std::size_t quorum() { return GetParam() / 2 + 1; }
  [[nodiscard]] static Client client() { return make_client(patient(shared_urls(GetParam()))); }
  [[nodiscard]] static std::size_t held_by(const std::string& resource, const Token& token) {
    return shared_nodes(GetParam()).count_held_by(resource, token.str());
  }
  // Calls return before the last node has answered, so the last node follows a moment later.
  [[nodiscard]] static bool soon_on_all(const std::string& resource, const Token& token) {
    return eventually([&] { return held_by(resource, token) == GetParam(); });
  }
  [[nodiscard]] static bool soon_gone(const std::string& resource) {
    return eventually([&] { return shared_nodes(GetParam()).count_held(resource) == 0; });
  }
};

TEST_P(LockOverNodes, AGrantedLeaseIsOnAQuorumAtOnceAndSoonOnAll) {
  Client client = LockOverNodes::client();
  const auto resource = fresh_resource();
  const auto before = BootClock::now();
  auto lease = client.try_acquire(resource, {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(lease->valid());
  EXPECT_EQ(lease->resource(), resource);
  EXPECT_EQ(lease->token().view().size(), 40U);
  EXPECT_GE(held_by(resource, lease->token()), quorum());
  EXPECT_TRUE(soon_on_all(resource, lease->token()));
  EXPECT_GE(lease->valid_until(), before + seconds(20) - milliseconds(202));
  EXPECT_LE(lease->valid_until(), BootClock::now() + seconds(20) - milliseconds(202));
  EXPECT_LE(lease->remaining(), seconds(20));

  const Round report = lease->round();
  EXPECT_EQ(report.quorum, quorum());
  EXPECT_EQ(report.ttl, seconds(20));
  EXPECT_EQ(report.nodes.size(), GetParam());
  EXPECT_GE(votes(report, Vote::granted), quorum());
  EXPECT_EQ(votes(report, Vote::granted) + votes(report, Vote::pending), GetParam());
  for (std::size_t i = 0; i < GetParam(); ++i) {
    EXPECT_EQ(report.nodes[i].url, shared_nodes(GetParam())[i].url());
  }
}

TEST_P(LockOverNodes, ALeaseThatIsResetIsReleasedWithoutAnAnswer) {
  Client client = LockOverNodes::client();
  const auto resource = fresh_resource();
  auto lease = client.try_acquire(resource, {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(lease));
  lease->reset();
  EXPECT_FALSE(lease->valid());
  EXPECT_TRUE(lease->token().view().empty());
  EXPECT_TRUE(soon_gone(resource));
}

TEST_P(LockOverNodes, ARefusalTellsWhoHoldsItAndForHowLong) {
  if (!shared_nodes(GetParam())[0].is_since(7))
    GTEST_SKIP() << "a refusal names no holder: row redis-7.0";
  Client holder = client();
  Client other = client();
  const auto resource = fresh_resource();
  auto lease = holder.try_acquire(resource, {.ttl = seconds(25)});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(soon_on_all(resource, lease->token()));
  // Only an attempt that waits learns for how long the lock is held. On a busy machine, the nodes
  // may need more than 10 ms to answer.
  auto refused = other.try_acquire(resource);
  ASSERT_TRUE(eventually([&] {
    refused = other.try_acquire_for(resource, milliseconds(10));
    return !refused && refused.error().code == Errc::held;
  })) << refused.error().message;
  const Error& error = refused.error();
  EXPECT_THAT(error.message, testing::StartsWith("'" + resource + "' is held by "));
  EXPECT_THAT(error.message, HasSubstr(" integration_tests (exclusive, "));
  EXPECT_THAT(error.message, testing::EndsWith(" s left)"));
  EXPECT_THAT(error.message, testing::Not(HasSubstr("\n")));
  ASSERT_GE(votes(error.round, Vote::refused), GetParam() - quorum() + 1);
  for (const NodeVote& node : error.round.nodes) {
    if (node.vote != Vote::refused) continue;
    EXPECT_EQ(node.holder.value().token, lease->token());
    ASSERT_TRUE(node.remaining);
    EXPECT_GT(*node.remaining, seconds(0));
    EXPECT_LE(*node.remaining, seconds(25));
  }
  EXPECT_EQ(held_by(resource, lease->token()), GetParam()) << "the refused attempt took something";
}

TEST_P(LockOverNodes, AReleasedLockIsFreeForTheNext) {
  Client first = client();
  Client second = client();
  const auto resource = fresh_resource();
  auto lease = first.try_acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  auto released = lease->release();
  ASSERT_TRUE(succeeded(released));
  EXPECT_GE(votes(*released, Vote::granted), 1U);
  EXPECT_FALSE(lease->valid());
  EXPECT_TRUE(failed_with(lease->release(), Errc::not_holder)) << "a second time";
  // A minority may still be deleting its keys.
  EXPECT_TRUE(succeeded(acquire_patiently(second, resource)));
  EXPECT_TRUE(soon_gone(resource));
}

TEST_P(LockOverNodes, TheDestructorReleases) {
  Client client = LockOverNodes::client();
  const auto resource = fresh_resource();
  { ASSERT_TRUE(succeeded(client.try_acquire(resource))); }
  EXPECT_TRUE(soon_gone(resource));
}

TEST_P(LockOverNodes, AnExtendRaisesTheExpiryOnTheNodesAndNeverLowersIt) {
  Client client = LockOverNodes::client();
  const auto resource = fresh_resource();
  auto lease = client.try_acquire(resource, {.ttl = seconds(15)});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(soon_on_all(resource, lease->token()));
  const auto deadline = lease->valid_until();
  auto extended = lease->extend(seconds(30));
  ASSERT_TRUE(succeeded(extended));
  EXPECT_GE(votes(*extended, Vote::granted), quorum());
  EXPECT_GT(lease->valid_until(), deadline + seconds(10));
  const auto longer = [&](const RedisServer& server) { return server.pttl(resource) > 15'000; };
  EXPECT_TRUE(eventually([&] {
    return std::count_if(shared_nodes(GetParam()).begin(), shared_nodes(GetParam()).end(),
                         longer) == static_cast<std::ptrdiff_t>(GetParam());
  }));

  const auto raised = lease->valid_until();
  ASSERT_TRUE(succeeded(lease->extend(seconds(1))));
  EXPECT_EQ(lease->valid_until(), raised);
  EXPECT_GT(shared_nodes(GetParam())[0].pttl(resource), 15'000);
}

TEST_P(LockOverNodes, ADetachedTokenIsExtendedAndReleasedByAnotherClient) {
  Client first = client();
  Client second = client();
  const auto resource = fresh_resource();
  auto lease = first.try_acquire(resource, {.ttl = seconds(15)});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(soon_on_all(resource, lease->token()));
  const Token token = lease->detach().token;
  EXPECT_FALSE(lease->valid());
  EXPECT_EQ(held_by(resource, token), GetParam());

  EXPECT_EQ(second.ownership(resource, token), Ownership::held);
  auto extended = second.extend(resource, token, seconds(30));
  ASSERT_TRUE(succeeded(extended));
  EXPECT_GT(extended->remaining, seconds(20));
  EXPECT_TRUE(failed_with(second.extend(resource, *Token::parse(hex_token()), seconds(30)),
                          Errc::not_holder));
  EXPECT_TRUE(failed_with(second.release(resource, *Token::parse(hex_token())), Errc::not_holder));
  EXPECT_EQ(held_by(resource, token), GetParam());
  EXPECT_TRUE(succeeded(second.release(resource, token)));
  EXPECT_TRUE(soon_gone(resource));
  EXPECT_TRUE(failed_with(second.release(resource, token), Errc::not_holder));
  EXPECT_TRUE(failed_with(second.extend(resource, token, seconds(30)), Errc::not_holder));
  EXPECT_EQ(shared_nodes(GetParam()).count_held(resource), 0U)
      << "an extend revived a released lock";
}

TEST_P(LockOverNodes, AnInspectionTellsWhatEveryNodeStores) {
  Client client = LockOverNodes::client();
  const auto resource = fresh_resource();
  auto free = client.inspect(resource);
  ASSERT_TRUE(succeeded(free));
  EXPECT_EQ(free->state, Inspection::State::free);
  EXPECT_EQ(free->quorum, quorum());
  EXPECT_FALSE(free->holder);
  ASSERT_EQ(free->nodes.size(), GetParam());
  for (const NodeInspection& node : free->nodes) {
    EXPECT_FALSE(node.holder);
    EXPECT_EQ(node.error, "");
  }

  auto lease = client.try_acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(soon_on_all(resource, lease->token()));
  auto held = client.inspect(resource);
  ASSERT_TRUE(succeeded(held));
  EXPECT_EQ(held->state, Inspection::State::held);
  EXPECT_EQ(held->holder, lease->token());
  for (const NodeInspection& node : held->nodes) {
    EXPECT_EQ(node.holder, lease->token());
    ASSERT_TRUE(node.remaining);
    EXPECT_LE(*node.remaining, limits::default_ttl);
  }
  EXPECT_EQ(client.ownership(resource, lease->token()), Ownership::held);
  EXPECT_EQ(client.ownership(resource, *Token::parse(hex_token())), Ownership::not_held);
}

TEST_P(LockOverNodes, WithoutATtlTheDefaultIsAskedFor) {
  Client client = LockOverNodes::client();
  const auto resource = fresh_resource();
  auto lease = client.try_acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(soon_on_all(resource, lease->token()));
  EXPECT_EQ(lease->round().ttl, limits::default_ttl);
  for (std::size_t i = 0; i < GetParam(); ++i) {
    EXPECT_GT(shared_nodes(GetParam())[i].pttl(resource), 0) << "a lock without an expiry";
    EXPECT_LE(shared_nodes(GetParam())[i].pttl(resource), 10'000);
  }
}

TEST_P(LockOverNodes, EveryAttemptHasATokenOfItsOwn) {
  Client client = LockOverNodes::client();
  const auto resource = fresh_resource();
  std::vector<std::string> tokens;
  for (int i = 0; i < 10; ++i) {
    auto lease = acquire_patiently(client, resource);
    ASSERT_TRUE(succeeded(lease));
    tokens.push_back(lease->token().str());
    ASSERT_TRUE(succeeded(lease->release()));
  }
  std::sort(tokens.begin(), tokens.end());
  EXPECT_EQ(std::adjacent_find(tokens.begin(), tokens.end()), tokens.end());
}

INSTANTIATE_TEST_SUITE_P(OneToFive, LockOverNodes, testing::Values(1, 2, 3, 4, 5));

class LockSplit : public testing::TestWithParam<std::size_t> {};

TEST_P(LockSplit, HalfOfAnEvenNumberIsNoMajorityAndLeavesNothingBehind) {
  const std::size_t count = GetParam();
  Client client = make_client(patient(shared_urls(count)));
  const auto resource = fresh_resource();
  for (std::size_t i = 0; i < count / 2; ++i) {
    ASSERT_TRUE(shared_nodes(GetParam())[i]
                    .command({"SET", resource, "foreign", "NX", "PX", "600000"})
                    .is_ok());
  }
  auto refused = client.try_acquire(resource);
  ASSERT_FALSE(refused);
  // The order of the answers decides between the two.
  EXPECT_TRUE(refused.error().code == Errc::split || refused.error().code == Errc::held)
      << refused.error().message;
  EXPECT_TRUE(
      eventually([&] { return shared_nodes(GetParam()).count_held(resource) == count / 2; }));
  EXPECT_EQ(shared_nodes(GetParam()).count_held_by(resource, "foreign"), count / 2);
  auto inspection = client.inspect(resource);
  ASSERT_TRUE(succeeded(inspection));
  EXPECT_EQ(inspection->state, Inspection::State::split);
  EXPECT_EQ(inspection->holder, Token::parse("foreign"));
}

INSTANTIATE_TEST_SUITE_P(TwoAndFour, LockSplit, testing::Values(2, 4));

TEST(LockQuorum, ALargerQuorumThanAMajorityIsHonoured) {
  auto options = patient(shared_urls(3));
  options.quorum = 3;
  Client all = make_client(options);
  const auto resource = fresh_resource();
  ASSERT_TRUE(shared_nodes()[1].command({"SET", resource, "foreign", "PX", "600000"}).is_ok());
  auto refused = all.try_acquire(resource);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().round.quorum, 3U);
  Client majority = make_client(patient(shared_urls(3)));
  EXPECT_TRUE(succeeded(acquire_patiently(majority, resource)));
}

}  // namespace
}  // namespace redlock::test
