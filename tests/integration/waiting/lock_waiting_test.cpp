// Waiting for a lock that somebody else has.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <numeric>
#include <thread>

#include "integration/library.hpp"
#include "support/process.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LockWaiting : public testing::Test {
 protected:
  [[nodiscard]] auto in_background(std::chrono::nanoseconds wait, std::stop_token stop = {}) {
    return std::async(std::launch::async, [this, wait, stop] {
      return client_.try_acquire_for(resource_, wait, {}, stop);
    });
  }
  Client holder_ = make_client(patient(shared_urls(3)));
  Client client_ = make_client(patient(shared_urls(3)));
  std::string resource_ = fresh_resource();
};

TEST_F(LockWaiting, EndsWithTheLockWhenItIsReleased) {
  auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  auto waiting = in_background(forever);
  EXPECT_EQ(waiting.wait_for(milliseconds(30)), std::future_status::timeout);
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST_F(LockWaiting, SleepsUntilThen) {
  const auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  std::stop_source stop;
  auto waiting = in_background(forever, stop.get_token());
  // A waiter retries once in three seconds. A thread that wakes up every millisecond would be seen
  // each time.
  EXPECT_TRUE(eventually([] {
    const auto before = sleeps_of_other_threads();
    std::this_thread::sleep_for(milliseconds(200));
    return sleeps_of_other_threads() - before < 20;
  }));
  EXPECT_EQ(waiting.wait_for(seconds(0)), std::future_status::timeout) << "it waits";
  stop.request_stop();
  EXPECT_TRUE(failed_with(waiting.get(), Errc::cancelled));
}

TEST_F(LockWaiting, EndsWithTheLockWhenItsHolderDied) {
  auto lease = holder_.try_acquire(resource_, {.ttl = milliseconds(400)});
  ASSERT_TRUE(succeeded(lease));
  const auto deadline = lease->valid_until();
  static_cast<void>(lease->detach());  // nobody will release it
  auto next = client_.acquire(resource_);
  ASSERT_TRUE(succeeded(next));
  EXPECT_GT(BootClock::now(), deadline) << "two leases at once";
}

TEST_F(LockWaiting, EndsWithoutTheLockNoEarlierThanAsked) {
  const auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  for (const auto wait : {milliseconds(1), milliseconds(50), milliseconds(150)}) {
    const auto began = BootClock::now();
    auto refused = client_.try_acquire_for(resource_, wait);
    EXPECT_GE(BootClock::now() - began, wait);
    // A wait this short may end before any node has answered.
    if (wait == milliseconds(1) && !refused && refused.error().code == Errc::unavailable) continue;
    ASSERT_TRUE(failed_with(refused, Errc::held));
    if (wait == milliseconds(1)) continue;
    EXPECT_GE(votes(refused.error().round, Vote::refused), 2U);
    for (const NodeVote& node : refused.error().round.nodes) {
      if (node.vote != Vote::refused) continue;
      EXPECT_EQ(node.holder.value().token, lease->token());
    }
    EXPECT_THAT(refused.error().message, testing::HasSubstr(" left"));
  }
  const auto deadline = BootClock::now() + milliseconds(50);
  EXPECT_TRUE(failed_with(client_.try_acquire_until(resource_, deadline), Errc::held));
  EXPECT_GE(BootClock::now(), deadline);
}

TEST_F(LockWaiting, EndsWhenItIsCancelled) {
  const auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  const auto held_everywhere = [&] {
    return shared_nodes().count_held_by(resource_, lease->token().str()) == 3;
  };
  ASSERT_TRUE(eventually(held_everywhere)) << "or the waiter could take the third node";
  std::stop_source stop;
  auto waiting = in_background(forever, stop.get_token());
  EXPECT_EQ(waiting.wait_for(milliseconds(30)), std::future_status::timeout);
  stop.request_stop();
  auto cancelled = waiting.get();
  EXPECT_TRUE(failed_with(cancelled, Errc::cancelled));
  EXPECT_TRUE(failed_with(in_background(forever, stop.get_token()).get(), Errc::cancelled))
      << "stopped before it began";
  EXPECT_TRUE(eventually(held_everywhere));
}

TEST_F(LockWaiting, CancelledAtAnyMomentLeavesNothingBehind) {
  for (int i = 0; i < 40; ++i) {
    std::stop_source stop;
    auto waiting = in_background(forever, stop.get_token());
    // The stop comes before, during and after the attempt.
    for (int spin = 0; spin < i * 200; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
    stop.request_stop();
    auto result = waiting.get();
    if (!result) {
      EXPECT_TRUE(failed_with(result, Errc::cancelled));
    }
  }
  EXPECT_TRUE(eventually([&] { return shared_nodes().count_held(resource_) == 0; }));
}

TEST_F(LockWaiting, ManyWaitersAllGetTheirTurn) {
  constexpr int waiters = 12;
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(make_client(patient(shared_urls(5))));
  std::atomic<int> inside{0};
  std::atomic<int> turns{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < waiters; ++i) {
      threads.emplace_back([&, i] {
        auto lease =
            clients[static_cast<std::size_t>(i % 4)].acquire(resource_, {.ttl = seconds(30)});
        ASSERT_TRUE(succeeded(lease));
        EXPECT_EQ(++inside, 1);
        ++turns;
        --inside;
        EXPECT_TRUE(succeeded(lease->release()));
      });
    }
  }
  EXPECT_EQ(turns, waiters);
}

TEST_F(LockWaiting, OfAWriterAndItsReadersLeavesNoFreeLockIdle) {
  std::array<std::atomic<int>, 8> turns{};  // the writer's first, then the readers'
  std::atomic<bool> enough = false;
  const auto total = [&] { return std::accumulate(turns.begin(), turns.end(), 0); };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      threads.emplace_back([&, i] {
        Client client = make_client(patient(shared_urls(3)));
        while (!enough) {
          auto lease =
              client.try_acquire_for(i > 0 ? shared(resource_) : Target(resource_), seconds(60));
          ASSERT_TRUE(succeeded(lease));
          std::this_thread::sleep_for(milliseconds(1));  // what the lock is for
          ASSERT_TRUE(succeeded(lease->release()));
          ++turns.at(i);
        }
      });
    }
    // Without notifications, the lock is idle until the next retry, which comes after 2.4 s at the
    // earliest: at most 500 turns in this time. A slow machine makes a thousand in a few seconds.
    EXPECT_TRUE(eventually([&] { return total() >= 1000 && turns.front() >= 20; }, seconds(60)))
        << total() << " turns, " << turns.front() << " of them the writer's";
    enough = true;
  }
}

TEST_F(LockWaiting, DisturbsNobodyOnOtherResources) {
  const auto lease = holder_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  std::stop_source stop;
  auto waiting = in_background(forever, stop.get_token());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(succeeded(client_.try_acquire(fresh_resource())));
  stop.request_stop();
  EXPECT_TRUE(failed_with(waiting.get(), Errc::cancelled));
}

}  // namespace
}  // namespace redlock::test
