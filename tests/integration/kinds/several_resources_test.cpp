// Locks of several resources (P6) on real servers.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "integration/kinds/kinds.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

class P6 : public Kinds {
 protected:
  const std::string second_ = fresh_resource();
  const std::string third_ = fresh_resource();
};

TEST_F(P6, AllOrNone) {
  auto other = client_.try_acquire(second_);
  ASSERT_TRUE(succeeded(other));
  const auto refused = take(all_of({resource_, second_, third_}));
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_EQ(who_refused(refused).value().token, other->token());
  EXPECT_EQ(count(resource_) + count(third_), 0U);
  ASSERT_TRUE(succeeded(other->release()));
  auto all = take(all_of({resource_, third_, second_, third_, resource_}), {.fencing = true});
  ASSERT_TRUE(succeeded(all));
  EXPECT_EQ(all->resources().size(), 3U) << "one named twice is taken once";
  EXPECT_TRUE(all->fencing_token());
  for (const std::string& name : {resource_, second_, third_}) {
    EXPECT_TRUE(
        eventually([&] { return shared_nodes(5).count_held_by(name, all->token().str()) == 5U; }));
  }
  ASSERT_TRUE(succeeded(all->extend(seconds(25))));
  ASSERT_TRUE(succeeded(all->release()));
  EXPECT_TRUE(eventually([&] { return count(resource_) + count(second_) + count(third_) == 0; }));
}

TEST_F(P6, AreExtendedAndReleasedByTheirToken) {
  auto all = take(all_of({resource_, second_}), {.ttl = seconds(5)});
  ASSERT_TRUE(succeeded(all));
  for (const std::string& name : {resource_, second_}) {
    ASSERT_TRUE(
        eventually([&] { return shared_nodes(5).count_held_by(name, all->token().str()) == 5U; }));
  }
  const Token token = all->detach().token;
  ASSERT_TRUE(succeeded(client_.extend(all_of({second_, resource_}), token, seconds(25))));
  const auto lives_on = [](const std::string& name) {
    return std::count_if(shared_nodes(5).begin(), shared_nodes(5).end(),
                         [&](RedisServer& node) { return node.pttl(name) > 5000; });
  };
  EXPECT_GE(lives_on(resource_), 3);
  EXPECT_GE(lives_on(second_), 3);

  ASSERT_TRUE(succeeded(client_.release(second_, token)));
  ASSERT_TRUE(eventually([&] { return count(second_) == 0; }));
  EXPECT_TRUE(failed_with(client_.extend(all_of({resource_, second_}), token, seconds(29)),
                          Errc::not_holder))
      << "all or none";
  EXPECT_TRUE(succeeded(client_.release(all_of({resource_, second_}), token)))
      << "what it still holds";
  EXPECT_TRUE(eventually([&] { return count(resource_) == 0; }));
  EXPECT_TRUE(failed_with(client_.release(permit(resource_, 2), token), Errc::invalid_argument));
}

TEST_F(P6, EachResourceHasATokenAboveItsOwn) {
  auto alone = client_.try_acquire(third_, {.fencing = true});
  ASSERT_TRUE(succeeded(alone));
  const auto number = *alone->fencing_token();
  ASSERT_TRUE(succeeded(alone->release()));
  auto all = take(all_of({resource_, third_}), {.fencing = true});
  ASSERT_TRUE(succeeded(all));
  EXPECT_GT(*all->fencing_token(), number);
  const auto together = *all->fencing_token();
  ASSERT_TRUE(succeeded(all->release()));
  auto again = client_.try_acquire(third_, {.fencing = true});
  ASSERT_TRUE(succeeded(again));
  EXPECT_GT(*again->fencing_token(), together);
}

TEST_F(P6, WhateverTheOrderNobodyWaitsForEver) {
  std::atomic<int> inside{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Client client = make_client(patient(shared_urls(5)));
      for (int i = 0; i < 5; ++i) {
        const Target all = t % 2 == 0 ? all_of({resource_, second_, third_})
                                      : all_of({second_, resource_, third_});
        auto lease = client.try_acquire_for(all, seconds(120), {.ttl = seconds(30)});
        ASSERT_TRUE(succeeded(lease));
        EXPECT_EQ(inside.fetch_add(1), 0);
        inside.fetch_sub(1);
        ASSERT_TRUE(succeeded(lease->release()));
      }
    });
  }
}

TEST_F(P6, WhoNeedsBothHasATurnWhereOthersLockEachAgainAndAgain) {
  std::atomic<bool> over{false};
  std::atomic<int> turns{0};
  std::vector<std::jthread> threads;
  for (const std::string& name : {resource_, second_}) {
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&, name] {
        Client client = make_client(patient(shared_urls(3)));
        while (!over) {
          auto lease = client.try_acquire_for(name, seconds(120), {.ttl = seconds(30)});
          ASSERT_TRUE(succeeded(lease));
          ++turns;
          ASSERT_TRUE(succeeded(lease->release()));
        }
      });
    }
  }
  EXPECT_TRUE(eventually([&] { return turns > 8; }));
  Client client = make_client(patient(shared_urls(3)));
  for (int i = 0; i < 5; ++i) {
    const int before = turns;
    auto lease =
        client.try_acquire_for(all_of({second_, resource_}), seconds(120), {.ttl = seconds(30)});
    EXPECT_LE(turns - before, 40) << "turns of others";
    EXPECT_TRUE(succeeded(lease) && succeeded(lease->release()));
  }
  over = true;
}

}  // namespace
}  // namespace redlock::test
