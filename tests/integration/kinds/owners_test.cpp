// Reentrant locks: on the servers, by owner (S5), and in the client, by thread (S7).

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "integration/kinds/kinds.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

class S5 : public Kinds {};

TEST_F(S5, TheSameOwnerEntersAgainFromAnotherProcessToo) {
  const auto first = own("import");
  const auto second = other_.try_acquire(owned(resource_, "import"), {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(first));
  ASSERT_TRUE(succeeded(second));
  EXPECT_NE(first->token(), second->token()) << "each hold has an id of its own";
  const auto stranger = own("export");
  ASSERT_TRUE(failed_with(stranger, Errc::held));
  const Holder owner{Holder::Kind::owned, std::nullopt, "import"};
  EXPECT_EQ(who_refused(stranger), owner);
  EXPECT_TRUE(failed_with(take(resource_), Errc::held));
  EXPECT_TRUE(failed_with(read(), Errc::held));
}

TEST_F(S5, EachLeaveAnswersTheHoldsThatRemain) {
  auto first = own("import");
  auto second = own("import");
  auto third = own("import");
  ASSERT_TRUE(succeeded(third));
  for (const auto& [lease, left] : {std::pair{&second, 2U}, {&first, 1U}, {&third, 0U}}) {
    const auto released = (*lease)->release();
    ASSERT_TRUE(succeeded(released));
    EXPECT_EQ(released->holds_left, left);
  }
  EXPECT_TRUE(succeeded(own("export")));
}

TEST_F(S5, HoldsThatOverlapDoNotKeepAStrangerOutForEver) {
  auto first = own("import");
  ASSERT_TRUE(succeeded(first));
  std::optional<Result<Lease>> stranger;
  std::jthread waiting(
      [&] { stranger = other_.try_acquire_for(resource_, seconds(60), {.ttl = seconds(20)}); });
  ASSERT_TRUE(eventually([&] {
    // On a quorum of the five nodes.
    return std::count_if(shared_nodes(5).begin(), shared_nodes(5).end(), [&](RedisServer& node) {
             return node.command({"ZSCORE", resource_, "writer"}).kind == Reply::Kind::string;
           }) >= 3;
  }));
  auto nested = own("import");
  ASSERT_TRUE(succeeded(nested)) << "the first hold is older than the wait";
  EXPECT_TRUE(succeeded(first->release()));
  EXPECT_TRUE(failed_with(own("import"), Errc::held)) << "no hold is";
  EXPECT_TRUE(succeeded(nested->release()));
  waiting.join();
  EXPECT_TRUE(succeeded(*stranger));
}

TEST_F(S5, ALeaveByAStrangerIsDistinguished) {
  auto lease = own("import");
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(
      failed_with(client_.release(resource_, *Token::parse(hex_token())), Errc::not_holder));
  const Token token = lease->detach().token;
  const auto released = client_.release(resource_, token);
  ASSERT_TRUE(succeeded(released));
  EXPECT_EQ(released->holds_left, 0U);
  // The release is repeated, as after a lost answer: it counted once.
  EXPECT_TRUE(failed_with(client_.release(resource_, token), Errc::not_holder));
}

TEST_F(S5, IsShownInWords) {
  const auto first = own("import");
  const auto second = own("import");
  ASSERT_TRUE(succeeded(second));
  const auto seen = client_.inspect(resource_);
  ASSERT_TRUE(succeeded(seen));
  EXPECT_EQ(seen->state, Inspection::State::held);
  EXPECT_EQ(seen->kind, LockKind::owned);
  EXPECT_EQ(seen->owner, "import");
  EXPECT_EQ(seen->holder, std::nullopt);
  EXPECT_TRUE(eventually([&] {
    const auto again = client_.inspect(resource_);
    return again && again->nodes.front().holds == 2U;
  }));
  EXPECT_EQ(client_.ownership(resource_, first->token()), Ownership::held);
  EXPECT_EQ(client_.ownership(resource_, *Token::parse(hex_token())), Ownership::not_held);
}

/// How many commands the servers have executed.
[[nodiscard]] std::int64_t commands_executed(NewNodes& nodes) {
  std::int64_t all = 0;
  for (RedisServer& node : nodes) {
    const std::string stats = node.command({"INFO", "commandstats"}).string;
    for (const std::string_view what : {"cmdstat_set:calls=", "cmdstat_evalsha:calls="}) {
      const std::size_t at = stats.find(what);
      if (at != std::string::npos) all += std::stoll(stats.substr(at + what.size()));
    }
  }
  return all;
}

TEST(S7, TheSecondLockOfAThreadCostsNoRoundTripAndOnlyTheLastUnlockReleases) {
  Nodes nodes(3);
  Client client = make_client(patient(nodes.urls()));
  RecursiveMutex mutex(client, "r", {.ttl = seconds(30)});
  mutex.lock();
  ASSERT_TRUE(eventually([&] { return nodes.count_held("r") == 3; }));
  const std::int64_t before = commands_executed(nodes);
  mutex.lock();
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_TRUE(mutex.try_lock_for(seconds(1)));
  EXPECT_EQ(mutex.holds(), 4U);
  std::jthread([&] {
    EXPECT_EQ(mutex.holds(), 0U);
    mutex.unlock();  // not this thread's: harmless
    EXPECT_FALSE(mutex.try_lock());
  }).join();
  mutex.unlock();
  mutex.unlock();
  mutex.unlock();
  EXPECT_TRUE(mutex.valid());
  EXPECT_EQ(commands_executed(nodes), before);
  mutex.unlock();
  EXPECT_TRUE(eventually([&] { return nodes.count_held("r") == 0; }));
}

}  // namespace
}  // namespace redlock::test
