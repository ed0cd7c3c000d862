// P5, its first half: a release notifies the waiters, and a waiter does not poll again.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "integration/guarded.hpp"
#include "redis/values/keys.hpp"
#include "support/certificates.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

class Notifications : public testing::Test {
 protected:
  [[nodiscard]] auto in_background(std::chrono::nanoseconds wait) {
    return std::async(std::launch::async,
                      [this, wait] { return waiter_.try_acquire_for(resource_, wait); });
  }
  [[nodiscard]] bool one_is_queued() { return are_queued(nodes_, resource_, 1); }
  /// A waiting client makes its attempts by a script.
  [[nodiscard]] int attempts() { return calls(nodes_[0], "evalsha"); }

  Nodes nodes_{3};
  Client holder_ = make_client(patient(nodes_.urls()));
  Client waiter_ = make_client(patient(nodes_.urls()));
  std::string resource_ = "r";
};

TEST_F(Notifications, LetAWaiterSleep) {
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  auto waiting = in_background(forever);
  ASSERT_TRUE(eventually([&] { return one_is_queued(); }));
  // A waiter retries once in more than two seconds.
  EXPECT_TRUE(eventually([&] {
    const auto before = attempts();
    std::this_thread::sleep_for(seconds(1));
    return attempts() - before <= 1;
  }));
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
  // A node that has granted the lock by then has no waiter to notify.
  EXPECT_TRUE(eventually([&] {
    return calls(nodes_[0], "publish") + calls(nodes_[1], "publish") +
               calls(nodes_[2], "publish") >=
           1;
  }));
}

/// A minority may lack the holder's key: it was down, or lost the key. It grants what the others
/// refuse, and takes it back, and that must wake nobody again and again.
TEST_F(Notifications, LetWaitersSleepBesideANodeThatLacksTheHoldersKey) {
  struct Case {
    Target held, wanted;
  };
  const std::vector<Case> cases = {
      {Target("exclusive"), Target("exclusive")},
      {Target("written"), shared("written")},
      {shared("read"), Target("read")},
      {owned("owned", "she"), owned("owned", "he")},
      {permit("single", 1), permit("single", 1)},
      {all_of({"one", "two"}), all_of({"one", "three"})},
  };
  std::vector<Lease> leases;
  std::vector<std::future<testing::AssertionResult>> waiting;
  for (const auto& [held, wanted] : cases) {
    auto lease = holder_.try_acquire(held, {.ttl = seconds(30), .renew = false});
    ASSERT_TRUE(succeeded(lease));
    const std::string key(lease->resource());
    ASSERT_TRUE(eventually([&] { return nodes_[2].command({"DEL", key}).integer == 1; })) << key;
    leases.push_back(*std::move(lease));
    for (int i = 0; i < 2; ++i) {
      waiting.push_back(std::async(std::launch::async, [this, to = wanted] {
        auto mine = waiter_.try_acquire_for(to, seconds(60), {.ttl = seconds(30)});
        return mine ? succeeded(mine->release()) : succeeded(mine);
      }));
    }
  }
  // One waiter that polls makes more than 24 calls in a second.
  EXPECT_TRUE(eventually([&] {
    const auto before = calls(nodes_[2], "evalsha");
    std::this_thread::sleep_for(seconds(1));
    return calls(nodes_[2], "evalsha") - before <= 24;
  }));
  for (Lease& lease : leases) ASSERT_TRUE(succeeded(lease.release()));
  for (auto& one : waiting) EXPECT_TRUE(one.get());
}

TEST_F(Notifications, ServeAllWaitersOfOneProcess) {
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  constexpr int waiters = 8;
  std::vector<std::future<Result<Lease>>> waiting;
  for (int i = 0; i < waiters; ++i) waiting.push_back(in_background(forever));
  ASSERT_TRUE(eventually([&] { return one_is_queued(); }));
  ASSERT_TRUE(succeeded(lease->release()));
  int served = 0;
  while (served < waiters) {
    for (auto& one : waiting) {
      if (!one.valid() || one.wait_for(seconds(0)) != std::future_status::ready) continue;
      auto mine = one.get();
      ASSERT_TRUE(succeeded(mine));
      ++served;
      ASSERT_TRUE(succeeded(mine->release()));
    }
    std::this_thread::yield();
  }
}

TEST_F(Notifications, AreReplacedByPollingWhereTheyAreForbidden) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].command({"ACL", "SETUSER", "default", "-subscribe"});
  }
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  auto waiting = in_background(forever);
  // A poll is a SET, or the script for attempts on Redis 6.0.
  const char* const attempt = nodes_[0].is_since(7) ? "set" : "evalsha";
  EXPECT_TRUE(eventually([&] { return calls(nodes_[0], attempt) > 20; })) << "it polls instead";
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST_F(Notifications, HandOverAtOnceAndNotAtTheNextRetry) {
  std::atomic<int> turns{0};
  std::jthread taking_turns([&](const std::stop_token& stop) {
    while (turns < 20 && !stop.stop_requested()) {
      auto lease = holder_.try_acquire_for(resource_, seconds(30), {.ttl = seconds(30)});
      ASSERT_TRUE(succeeded(lease));
      auto waiting = in_background(seconds(30));
      ASSERT_TRUE(eventually([&] { return one_is_queued(); }));
      ASSERT_TRUE(succeeded(lease->release()));
      auto next = waiting.get();
      ASSERT_TRUE(succeeded(next));
      ASSERT_TRUE(succeeded(next->release()));
      ++turns;
    }
  });
  // A retry comes after 2.4 s at the earliest: 20 of them would take 48 s.
  EXPECT_TRUE(eventually([&] { return turns == 20; }, seconds(30)));
}

TEST_F(Notifications, WakeAWaiterOverADeadNode) {
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(eventually([&] { return nodes_.count_held_by("r", lease->token().str()) == 3; }));
  auto waiting = in_background(forever);
  ASSERT_TRUE(eventually([&] { return one_is_queued(); }));
  nodes_[0].kill();
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST_F(Notifications, FollowAWriterAndItsReaders) {
  auto writer = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(writer));
  // A reader that reached a node before the writer's SET would be no waiter there.
  ASSERT_TRUE(eventually([&] { return nodes_.count_held_by("r", writer->token().str()) == 3; }));
  const auto read = [&] {
    return waiter_.try_acquire_for(shared(resource_), seconds(60), {.ttl = seconds(30)});
  };
  auto first = std::async(std::launch::async, read);
  auto second = std::async(std::launch::async, read);
  ASSERT_TRUE(eventually([&] { return one_is_queued(); }));
  ASSERT_TRUE(succeeded(writer->release()));
  auto a = first.get();
  auto b = second.get();
  ASSERT_TRUE(succeeded(a));
  ASSERT_TRUE(succeeded(b));
  auto next = std::async(std::launch::async, [&] {
    return holder_.try_acquire_for(resource_, seconds(60), {.ttl = seconds(30)});
  });
  ASSERT_TRUE(succeeded(a->release()));
  ASSERT_TRUE(succeeded(b->release()));
  EXPECT_TRUE(succeeded(next.get()));
}

/// A kind of connection and of user. With each, a waiter is queued on the node.
struct Way {
  const char* name;
  std::function<std::string(const RedisServer&)> url;
  bool may_listen = true;
  friend void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
};

class NotificationsOver : public testing::TestWithParam<Way> {
 protected:
  [[nodiscard]] static RedisServerOptions server_options() {
    RedisServerOptions options;
    options.password = "s3cret";
    options.tls.emplace();
    options.tls->certificate = certificates().server.certificate;
    options.tls->key = certificates().server.key;
    options.tls->ca = certificates().ca;
    return options;
  }
  RedisServer server_{server_options()};
};

TEST_P(NotificationsOver, ReachAWaiter) {
  if (!GetParam().may_listen && !server_.is_since(6, 2)) {
    GTEST_SKIP() << "channels can be forbidden: row redis-7.0";
  }
  server_.command({"ACL", "SETUSER", "mute", "on", ">pw", "~*", "+@all", "resetchannels"});
  ClientOptions options = patient({GetParam().url(server_)});
  if (options.nodes.front().starts_with("rediss:")) options.tls.ca_file = certificates().ca;
  open_deployment(options);
  server_.command({"CONFIG", "RESETSTAT"});
  Client holder = make_client(options);
  Client waiter = make_client(options);
  auto lease = holder.try_acquire("r", {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  const auto before = calls(server_, "publish");
  auto waiting =
      std::async(std::launch::async, [&] { return waiter.acquire("r", {.ttl = seconds(30)}); });
  const auto queued = [&] { return calls(server_, "zadd") > 0; };
  if (GetParam().may_listen) {
    ASSERT_TRUE(eventually(queued));
  } else {
    ASSERT_TRUE(eventually([&] { return calls(server_, "set") > 20; }));
    EXPECT_FALSE(queued());
  }
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
  EXPECT_EQ(calls(server_, "publish") > before, GetParam().may_listen);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, NotificationsOver,
    testing::Values(Way{"TcpWithAPassword", [](const RedisServer& server) { return server.url(); }},
                    Way{"Tls", [](const RedisServer& server) { return server.tls_url(); }},
                    Way{"AnotherDatabase",
                        [](const RedisServer& server) { return server.url() + "/3"; }},
                    Way{"AUserWithoutChannels",
                        [](const RedisServer& server) {
                          return "redis://mute:pw@127.0.0.1:" + std::to_string(server.port());
                        },
                        false}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace redlock::test
