// Threads of one process that share a Mutex pass its lease on, without passing over other clients.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <future>
#include <map>
#include <semaphore>
#include <set>
#include <shared_mutex>
#include <stop_token>
#include <thread>

#include "api/leases/lease_cell.hpp"
#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// The records of the holders, each written under the lock: nothing else guards them.
struct Story {
  std::map<std::string, int> holders_of;  // by the lease's token
  std::size_t turns = 0;

  void note(const Mutex& mutex) {
    ++holders_of[std::string(mutex.lease().token().view())];
    ++turns;
  }
  [[nodiscard]] std::size_t leases() const { return holders_of.size(); }
  [[nodiscard]] int most_holders() const {
    int most = 0;
    for (const auto& [token, holders] : holders_of) most = std::max(most, holders);
    return most;
  }
};

class MutexCohort : public testing::Test {
 protected:
  /// Runs `turn` in 64 threads at once until each has had `least` turns.
  template <typename Turn>
  void run_threads(int least, Turn turn) {
    constexpr int threads = 64;
    std::barrier together(threads);
    std::atomic<int> unserved{threads};
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        together.arrive_and_wait();
        for (int turns = 0; unserved > 0;) {
          turn();
          if (++turns == least) --unserved;
        }
      });
    }
  }

  void hold_once(Mutex& mutex) {
    const std::scoped_lock lock(mutex);
    EXPECT_TRUE(mutex.valid());
    story_.note(mutex);
  }

  [[nodiscard]] bool is_free() { return succeeded(acquire_patiently(other_, resource_)); }

  Client client_ = make_client(patient(shared_urls(3)));
  Client other_ = make_client(patient(shared_urls(3)));
  std::string resource_ = fresh_resource();
  Story story_;
};

TEST_F(MutexCohort, MostThreadsAskNoNode) {
  Mutex mutex(client_, resource_, {.ttl = seconds(30)});
  run_threads(10, [&] { hold_once(mutex); });
  EXPECT_GE(story_.turns, 640U);
  EXPECT_LT(story_.leases() * 4, story_.turns);
  EXPECT_FALSE(mutex.valid());
  EXPECT_TRUE(is_free());
}

TEST_F(MutexCohort, PassesAreCountedWhereNobodyTellsWhetherOtherClientsWait) {
  // Nodes report waiters only to clients with the restart guard.
  NewNodes nodes(3);
  Client client = make_client(unguarded(patient(nodes.urls())));
  Mutex mutex(client, resource_, {.ttl = seconds(30)});
  run_threads(10, [&] { hold_once(mutex); });
  EXPECT_LT(story_.leases() * 4, story_.turns);
  EXPECT_LE(story_.most_holders(), 17);
}

TEST_F(MutexCohort, ALeaseIsPassedOnAsLongAsNoOtherClientIsKnownToWait) {
  Mutex mutex(client_, resource_, {.ttl = seconds(30)});
  run_threads(50, [&] {
    const std::scoped_lock lock(mutex);
    api::LeaseCell::of(mutex.lease())->set_others(core::OtherClients::none);
    story_.note(mutex);
  });
  EXPECT_GE(story_.turns, 3200U);
  EXPECT_GT(story_.most_holders(), 17);
  EXPECT_LT(story_.leases() * 40, story_.turns);
  EXPECT_TRUE(is_free());
}

TEST_F(MutexCohort, ALimitedRenewalBelongsToOneHolder) {
  const std::vector<AcquireOptions> limited = {
      {.renew = false}, {.max_hold = seconds(60)}, {.max_renewals = 5}};
  for (AcquireOptions options : limited) {
    story_ = {};
    options.ttl = seconds(30);
    Mutex mutex(client_, resource_, options);
    run_threads(2, [&] { hold_once(mutex); });
    EXPECT_EQ(story_.leases(), story_.turns);
  }
}

TEST_F(MutexCohort, ADowngradedLeaseIsNotPassedOn) {
  Mutex mutex(client_, resource_, {.ttl = seconds(30)});
  run_threads(2, [&] {
    const std::scoped_lock lock(mutex);
    story_.note(mutex);
    EXPECT_TRUE(succeeded(mutex.lease().downgrade()));
  });
  EXPECT_EQ(story_.leases(), story_.turns) << "the next thread asked for a writer's";
}

TEST_F(MutexCohort, AnIntervalIsGrantedToOneThread) {
  Mutex mutex(client_, interval(resource_, seconds(20)), {.ttl = seconds(25)});
  std::atomic<int> granted{0};
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < 4; ++t) {
      workers.emplace_back([&] {
        if (!mutex.try_lock_for(milliseconds(150))) return;
        ++granted;
        mutex.unlock();
      });
    }
  }
  EXPECT_EQ(granted, 1);
}

/// Threads that hold the lock one after the other, each until the test lets it go on.
class MutexPasses : public MutexCohort {
 protected:
  void start_threads(int count) {
    for (int t = 0; t < count; ++t) {
      threads_.emplace_back([this](const std::stop_token& stop) {
        while (mutex_.lock(stop)) {
          story_.note(mutex_);
          held_.release();
          go_on_.acquire();
          mutex_.unlock();
        }
      });
    }
    held_.acquire();
  }
  void stop_threads() {
    for (std::jthread& thread : threads_) thread.request_stop();
    // One thread may hold the lock now, and each may still get it once.
    go_on_.release(static_cast<std::ptrdiff_t>(threads_.size()) + 1);
    threads_.clear();
  }
  ~MutexPasses() override {
    if (!threads_.empty()) stop_threads();
  }
  [[nodiscard]] bool is_queued_everywhere() const {
    for (std::size_t i = 0; i < 3; ++i) {
      // The last member of the queue is '', which is not a client.
      if (shared_nodes()[i].command({"ZCARD", "redlock:node:queue:" + resource_}).integer < 2) {
        return false;
      }
    }
    return true;
  }

  Mutex mutex_{client_, resource_, {.ttl = seconds(30)}};
  std::counting_semaphore<> held_{0};
  std::counting_semaphore<> go_on_{0};
  std::future<Result<Lease>> waiting_;  // of another client: ends once the threads let it
  std::vector<std::jthread> threads_;
};

TEST_F(MutexPasses, AnotherClientThatWaitsIsPassedOverSixteenTimesAtMost) {
  for (int round = 0; round < 3; ++round) {
    start_threads(8);
    waiting_ = std::async(std::launch::async, [&] { return other_.acquire(resource_); });
    ASSERT_TRUE(eventually([&] { return is_queued_everywhere(); }, seconds(30)));
    const auto is_served = [&] {
      return waiting_.wait_for(seconds(0)) == std::future_status::ready;
    };
    for (bool served = false; !served;) {
      go_on_.release();
      bool next_holds = false;
      ASSERT_TRUE(eventually([&] { return (next_holds = held_.try_acquire()) || is_served(); },
                             seconds(60)));
      served = !next_holds;
    }
    ASSERT_TRUE(succeeded(waiting_.get()));  // and released at once
    stop_threads();
    // The limit is for one lease: the client's reservation may expire while the machine stalls.
    EXPECT_LE(story_.most_holders(), 17);
    while (held_.try_acquire()) {
    }
    while (go_on_.try_acquire()) {
    }
  }
  EXPECT_TRUE(is_free());
}

TEST_F(MutexPasses, AStopTokenWakesAThreadThatWaits) {
  start_threads(3);
  for (int i = 0; i < 20; ++i) {
    std::stop_source stop;
    auto locking = std::async(std::launch::async, [&] { return mutex_.lock(stop.get_token()); });
    stop.request_stop();
    EXPECT_FALSE(locking.get());
  }
  go_on_.release();
  EXPECT_TRUE(held_.try_acquire_for(seconds(60)));
}

TEST_F(MutexCohort, NothingIsLostWithThreadsThatGiveUp) {
  Mutex mutex(client_, resource_, {.ttl = seconds(30)});
  std::atomic<int> gave_up{0};
  std::atomic<int> counter{0};
  int inside = 0;
  const auto hold = [&] {
    EXPECT_EQ(++inside, 1);
    story_.note(mutex);
    --inside;
    mutex.unlock();
  };
  run_threads(12, [&] {
    const int turn = ++counter;
    if (turn % 3 == 0) {
      mutex.lock();
      return hold();
    }
    if (turn % 3 == 1) {
      if (mutex.try_lock_for(microseconds(turn % 700))) return hold();
    } else {
      std::stop_source stop;
      std::promise<void> asks;
      std::jthread stopping([&] {
        asks.get_future().wait();
        stop.request_stop();
      });
      asks.set_value();
      if (mutex.lock(stop.get_token())) return hold();
    }
    ++gave_up;
  });
  EXPECT_GT(gave_up, 0);
  EXPECT_GT(story_.turns, 0U);
  EXPECT_TRUE(mutex.try_lock_for(seconds(30)));
  mutex.unlock();
  EXPECT_TRUE(is_free());
}

TEST_F(MutexCohort, ALostLeaseIsNotPassedOn) {
  Nodes nodes(3);
  Client client = make_client(patient(nodes.urls()));
  Mutex mutex(client, resource_, {.ttl = milliseconds(1500)});
  mutex.lock();
  const std::string token(mutex.lease().token().view());
  std::vector<std::future<std::string>> waiting;
  for (int t = 0; t < 4; ++t) {
    waiting.push_back(std::async(std::launch::async, [&] {
      const std::scoped_lock lock(mutex);
      // With a TTL this short, a machine that stalls may lose a lease that was just passed on.
      return std::string(mutex.lease().token().view());
    }));
  }
  const std::stop_token lost = mutex.lost();
  nodes[0].stop();
  nodes[1].stop();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }, seconds(30)));
  EXPECT_FALSE(mutex.valid());
  mutex.unlock();
  nodes[0].resume();
  nodes[1].resume();
  for (auto& thread : waiting) EXPECT_NE(thread.get(), token);
  EXPECT_TRUE(eventually([&] { return nodes.count_held(resource_) == 0; }, seconds(30)));
}

TEST_F(MutexCohort, AClosedClientEndsAllThatWait) {
  Mutex mutex(client_, resource_, {.ttl = seconds(30)});
  mutex.lock();
  std::vector<std::future<void>> waiting;
  for (int t = 0; t < 4; ++t) {
    waiting.push_back(std::async(std::launch::async, [&] { mutex.lock(); }));
  }
  EXPECT_TRUE(succeeded(client_.close()));
  mutex.unlock();
  for (auto& thread : waiting) EXPECT_THROW(thread.get(), std::system_error);
}

TEST_F(MutexCohort, ReadersAreServedBetweenTheWritersOfTheirProcess) {
  SharedMutex mutex(client_, resource_, {.ttl = seconds(30)});
  std::atomic<bool> done{false};
  std::vector<std::jthread> writers;
  for (int t = 0; t < 8; ++t) {
    writers.emplace_back([&] {
      while (!done) {
        const std::unique_lock lock(mutex);
        EXPECT_TRUE(mutex.valid());
      }
    });
  }
  for (int i = 0; i < 3; ++i) {
    const std::shared_lock here(mutex);
    EXPECT_TRUE(mutex.valid());
  }
  SharedMutex elsewhere(other_, resource_, {.ttl = seconds(30)});
  for (int i = 0; i < 3; ++i) {
    const std::shared_lock there(elsewhere);
    EXPECT_TRUE(elsewhere.valid());
  }
  done = true;
}

}  // namespace
}  // namespace redlock::test
