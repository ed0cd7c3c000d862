// Locks of several resources (P6) on real servers.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <stop_token>
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
    // It keeps what is passed on to it for longer and longer; without that, it never has a turn.
    EXPECT_LE(turns - before, 400) << "turns of others";
    EXPECT_TRUE(succeeded(lease) && succeeded(lease->release()));
  }
  over = true;
}

std::vector<std::string> so_many_resources(std::size_t count) {
  const std::string prefix = fresh_resource();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(prefix + "/" + std::to_string(10 + i));
  return names;
}

/// A caller of so many resources waits, because somebody holds the last one.
class BlockedByOne : public Kinds, public testing::WithParamInterface<std::size_t> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(succeeded(held_));
    ASSERT_TRUE(eventually([&] { return count(names_.back()) == 5U; }));
    waiting_ = std::async(std::launch::async, [this] {
      return waiter_.try_acquire_for(all_of(names_), forever, {.ttl = seconds(20)},
                                     stop_.get_token());
    });
    ASSERT_TRUE(eventually([&] { return inspected(names_.back()).waiters == 1U; }));
    // As if it were its turn: so it asks as a client that waits, as it does every few seconds.
    const std::uint64_t before = waiter_.metrics().value().attempts;
    const std::string channel = std::string(redis::keys::wake_channel) +
                                inspected(names_.back()).next.value_or(NextClient()).id;
    for (RedisServer& node : shared_nodes(5)) {
      node.command({"PUBLISH", channel, "0" + names_.back()});
    }
    ASSERT_TRUE(eventually([&] { return waiter_.metrics().value().attempts > before; }));
  }
  [[nodiscard]] Inspection inspected(const std::string& name) {
    auto seen = waiter_.inspect(name);
    EXPECT_TRUE(succeeded(seen));
    return seen.value_or(Inspection());
  }

  const std::vector<std::string> names_ = so_many_resources(GetParam());
  Client waiter_ = make_client(patient(shared_urls(5)));
  Result<Lease> held_ = other_.try_acquire(names_.back(), {.ttl = seconds(30)});
  std::stop_source stop_;
  std::future<Result<Lease>> waiting_;
};

TEST_P(BlockedByOne, KeepsNobodyFromTheOthers) {
  for (std::size_t i = 0; i + 1 < names_.size(); ++i) {
    auto lease = client_.try_acquire_for(names_[i], seconds(20), {.ttl = seconds(20)});
    ASSERT_TRUE(succeeded(lease)) << names_[i];
    ASSERT_TRUE(succeeded(lease->release()));
  }
  EXPECT_EQ(waiting_.wait_for(seconds(0)), std::future_status::timeout) << "it still waits";
  ASSERT_TRUE(succeeded(held_->release()));
  EXPECT_TRUE(succeeded(waiting_.get()));
}

TEST_P(BlockedByOne, IsServedAmongCallersOfTheFirstWhoGoOnMeanwhile) {
  std::atomic<bool> over{false};
  std::atomic<int> turns{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      Client client = make_client(patient(shared_urls(5)));
      while (!over) {
        auto lease = client.try_acquire_for(names_[0], seconds(120), {.ttl = seconds(20)});
        ASSERT_TRUE(succeeded(lease));
        ++turns;
        ASSERT_TRUE(succeeded(lease->release()));
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return turns >= 50; }, seconds(60)));
  EXPECT_EQ(waiting_.wait_for(seconds(0)), std::future_status::timeout) << "it still waits";
  ASSERT_TRUE(succeeded(held_->release()));
  EXPECT_TRUE(succeeded(waiting_.get()));
  over = true;
}

TEST_P(BlockedByOne, LeavesAllOfThemWhenItGivesUp) {
  stop_.request_stop();
  EXPECT_TRUE(failed_with(waiting_.get(), Errc::cancelled));
  for (const std::string& name : names_) {
    // Asked on the connections on which the client left.
    const Inspection seen = inspected(name);
    EXPECT_EQ(seen.waiters, 0U) << name;
    EXPECT_EQ(seen.kind, name == names_.back() ? LockKind::exclusive : LockKind::none) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(P6, BlockedByOne, testing::Values(2, 10, 64));

}  // namespace
}  // namespace redlock::test
