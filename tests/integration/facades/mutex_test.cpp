// Threads and processes that share one lock through a Mutex.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <future>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>

#include "integration/library.hpp"
#include "redlock/recursive_mutex.hpp"
#include "redlock/shared_mutex.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

/// A number in a file, incremented without a lock of its own: it loses updates unless something
/// else excludes others.
class FileCounter {
 public:
  explicit FileCounter(std::filesystem::path path) : path_(std::move(path)) {}
  void increment() const {
    const int before = value();
    std::this_thread::yield();
    std::ofstream(path_) << before + 1;
  }
  [[nodiscard]] int value() const {
    int number = 0;
    std::ifstream(path_) >> number;
    return number;
  }

 private:
  std::filesystem::path path_;
};

class MutexThreads : public testing::Test {
 protected:
  Client client_ = make_client(patient(shared_urls(3)));
  std::string resource_ = fresh_resource();
  TempDir directory_;
  FileCounter counter_{directory_.write("counter", "0")};
};

TEST_F(MutexThreads, SixtyFourWithLeasesLoseNoUpdate) {
  constexpr int threads = 64;
  constexpr int turns = 3;
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        for (int i = 0; i < turns; ++i) {
          auto lease = client_.acquire(resource_, {.ttl = seconds(30)});
          ASSERT_TRUE(succeeded(lease));
          counter_.increment();
          ASSERT_TRUE(lease->valid());
          ASSERT_TRUE(succeeded(lease->release()));
        }
      });
    }
  }
  EXPECT_EQ(counter_.value(), threads * turns);
}

TEST_F(MutexThreads, SixtyFourThroughOneMutexLoseNoUpdate) {
  constexpr int threads = 64;
  constexpr int turns = 10;
  Mutex mutex(client_, resource_, {.ttl = seconds(30)});
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        for (int i = 0; i < turns; ++i) {
          const std::unique_lock lock(mutex);
          counter_.increment();
          EXPECT_TRUE(mutex.valid());
        }
      });
    }
  }
  EXPECT_EQ(counter_.value(), threads * turns);
  EXPECT_FALSE(mutex.valid());
}

// A child process of the test below, not a test of its own.
TEST(MutexProcess, DISABLED_Worker) {
  const char* urls = std::getenv("REDLOCK_TEST_URLS");
  const char* path = std::getenv("REDLOCK_TEST_COUNTER");
  ASSERT_TRUE(urls != nullptr && path != nullptr);
  std::vector<std::string> nodes;
  std::istringstream list{urls};
  for (std::string url; std::getline(list, url, ',');) nodes.push_back(url);
  Client client = make_client(patient(nodes));
  Mutex mutex(client, "processes", {.ttl = seconds(30)});
  const FileCounter counter{path};
  for (int i = 0; i < 25; ++i) {
    const std::scoped_lock lock(mutex);
    counter.increment();
  }
}

TEST_F(MutexThreads, SeveralProcessesLoseNoUpdate) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").native();
  const auto path = directory_.write("shared", "0");
  Nodes nodes(3);
  ProcessOptions options;
  options.environment = {"REDLOCK_TEST_URLS=" + nodes.joined_urls(),
                         "REDLOCK_TEST_COUNTER=" + path.native()};
  std::vector<ChildProcess> children;
  for (int i = 0; i < 4; ++i) {
    children.emplace_back(
        std::vector<std::string>{program, "--gtest_filter=MutexProcess.DISABLED_Worker",
                                 "--gtest_also_run_disabled_tests"},
        options);
  }
  for (ChildProcess& child : children) {
    EXPECT_EQ(child.wait(seconds(120)), (ExitStatus{0, 0})) << child.output() << child.errors();
  }
  EXPECT_EQ(FileCounter(path).value(), 100);
  EXPECT_EQ(nodes.count_held("processes"), 0U);
}

TEST_F(MutexThreads, TwoMutexesInOppositeOrdersDoNotDeadlock) {
  Mutex first(client_, resource_ + ":1", {.ttl = seconds(30)});
  Mutex second(client_, resource_ + ":2", {.ttl = seconds(30)});
  {
    std::jthread one([&] {
      for (int i = 0; i < 15; ++i) {
        const std::scoped_lock both(first, second);
        counter_.increment();
      }
    });
    std::jthread other([&] {
      for (int i = 0; i < 15; ++i) {
        std::lock(second, first);
        const std::lock_guard one_of_them(second, std::adopt_lock);
        const std::lock_guard the_other(first, std::adopt_lock);
        counter_.increment();
      }
    });
  }
  EXPECT_EQ(counter_.value(), 30);
}

class MutexCalls : public testing::Test {
 protected:
  /// Another client's lease on the mutex's resource.
  [[nodiscard]] Lease taken_by_another() {
    return *acquire_patiently(other_, resource_, {.ttl = seconds(30)});
  }
  Client client_ = make_client(patient(shared_urls(3)));
  Client other_ = make_client(patient(shared_urls(3)));
  std::string resource_ = fresh_resource();
  Mutex mutex_{client_, resource_, {.ttl = seconds(30)}};
};

TEST_F(MutexCalls, AUniqueLockHoldsAndReleases) {
  {
    const std::unique_lock lock(mutex_);
    EXPECT_TRUE(mutex_.valid());
    EXPECT_EQ(mutex_.lease().resource(), resource_);
    EXPECT_TRUE(failed_with(other_.try_acquire(resource_), Errc::held));
    const std::unique_lock second(mutex_, std::try_to_lock);
    EXPECT_FALSE(second) << "not recursive, and known without asking the nodes";
  }
  EXPECT_FALSE(mutex_.valid());
  EXPECT_TRUE(succeeded(acquire_patiently(other_, resource_)));
}

TEST_F(MutexCalls, TryLockIsOneAttempt) {
  const Lease theirs = taken_by_another();
  EXPECT_FALSE(mutex_.try_lock());
  EXPECT_FALSE(mutex_.valid());
}

TEST_F(MutexCalls, TryLockForIsFalseOnlyAfterItsTime) {
  const Lease theirs = taken_by_another();
  for (const auto wait : {milliseconds(0), milliseconds(1), milliseconds(60), milliseconds(150)}) {
    const auto began = BootClock::now();
    EXPECT_FALSE(mutex_.try_lock_for(wait));
    EXPECT_GE(BootClock::now() - began, wait);
  }
  const auto deadline = std::chrono::steady_clock::now() + milliseconds(50);
  EXPECT_FALSE(mutex_.try_lock_until(deadline));
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
  const auto wall = std::chrono::system_clock::now() + milliseconds(50);
  EXPECT_FALSE(mutex_.try_lock_until(wall));
  EXPECT_FALSE(mutex_.try_lock_for(milliseconds(-5)));
  EXPECT_FALSE(mutex_.try_lock_for(nanoseconds::min()));
  EXPECT_FALSE(mutex_.try_lock_until(std::chrono::steady_clock::time_point::min()));
  EXPECT_FALSE(mutex_.try_lock_until(std::chrono::system_clock::time_point::min()));
}

TEST_F(MutexCalls, TryLockForIsFalseOnlyAfterItsTimeWhenAThreadHasIt) {
  ASSERT_TRUE(mutex_.try_lock());
  std::thread([&] {
    const auto began = BootClock::now();
    EXPECT_FALSE(mutex_.try_lock_for(milliseconds(60)));
    EXPECT_GE(BootClock::now() - began, milliseconds(60));
  }).join();
  mutex_.unlock();
}

TEST_F(MutexCalls, TheLongestWaitsAreWaited) {
  using std::chrono::steady_clock;
  const std::vector<std::function<bool()>> waits = {
      [&] { return mutex_.try_lock_for(nanoseconds::max()); },
      [&] { return mutex_.try_lock_for(nanoseconds::max() - nanoseconds(1)); },
      [&] { return mutex_.try_lock_for(std::chrono::hours::max()); },
      [&] { return mutex_.try_lock_for(std::chrono::duration<double>(1e300)); },
      [&] { return mutex_.try_lock_until(steady_clock::time_point::max()); },
      [&] { return mutex_.try_lock_until(std::chrono::system_clock::time_point::max()); },
      [&] { return mutex_.try_lock_until(BootClock::time_point::max()); },
  };
  for (const auto& wait : waits) {
    // First another thread holds the lock, then another client.
    ASSERT_TRUE(mutex_.try_lock());
    auto waiting = std::async(std::launch::async, [&] {
      const bool locked = wait();
      if (locked) mutex_.unlock();
      return locked;
    });
    EXPECT_EQ(waiting.wait_for(milliseconds(30)), std::future_status::timeout);
    mutex_.unlock();
    EXPECT_TRUE(waiting.get());

    Lease theirs = taken_by_another();
    auto contending = std::async(std::launch::async, [&] {
      const bool locked = wait();
      if (locked) mutex_.unlock();
      return locked;
    });
    EXPECT_EQ(contending.wait_for(milliseconds(10)), std::future_status::timeout);
    theirs = Lease();
    EXPECT_TRUE(contending.get());
  }
}

TEST_F(MutexCalls, ALockIsCancelledByItsStopToken) {
  const Lease theirs = taken_by_another();
  std::stop_source stop;
  auto locking = std::async(std::launch::async, [&] { return mutex_.lock(stop.get_token()); });
  std::stop_source stop_behind;  // queued in the process after the first
  auto behind =
      std::async(std::launch::async, [&] { return mutex_.lock(stop_behind.get_token()); });
  stop_behind.request_stop();
  EXPECT_FALSE(behind.get());
  stop.request_stop();
  EXPECT_FALSE(locking.get());
  EXPECT_FALSE(mutex_.lock(stop.get_token())) << "stopped before it began";
  EXPECT_FALSE(mutex_.valid());
}

TEST_F(MutexCalls, UnlockingWhatWasLostIsHarmless) {
  ASSERT_TRUE(mutex_.try_lock());
  const std::stop_token lost = mutex_.lost();
  for (std::size_t i = 0; i < 3; ++i) shared_nodes()[i].command({"DEL", resource_});
  mutex_.unlock();
  EXPECT_FALSE(lost.stop_requested()) << "a release is no loss";
  EXPECT_TRUE(mutex_.try_lock_for(seconds(30)));
  mutex_.unlock();
}

TEST_F(MutexCalls, MayBeAskedForItsValidityFromAnyThread) {
  std::atomic<bool> done{false};
  std::jthread watcher([&] {
    while (!done) {
      static_cast<void>(mutex_.valid());
      static_cast<void>(mutex_.lost());
    }
  });
  for (int i = 0; i < 50; ++i) {
    const std::scoped_lock lock(mutex_);
    EXPECT_TRUE(mutex_.valid());
  }
  done = true;
}

TEST_F(MutexCalls, WhatWaitingCanNotMendIsThrown) {
  Mutex nameless(client_, "");
  EXPECT_THROW(nameless.lock(), std::system_error);
  EXPECT_THROW(static_cast<void>(nameless.try_lock()), std::system_error);
  Mutex endless(client_, resource_, {.ttl = std::chrono::hours(1)});
  try {
    endless.lock();
    FAIL() << "a TTL beyond the max TTL";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::invalid_argument);
    EXPECT_THAT(error.what(), testing::HasSubstr("ttl: "));
  }
  // The mutex can be used as before.
  EXPECT_THROW(endless.lock(), std::system_error);
}

/// Waiting without a limit ends with `excluded` when no waiting helps. A lock() that returned then
/// would let two threads into the critical section.
TEST_F(MutexCalls, LockingThrowsIfTheDeploymentHasAnotherMaxTtl) {
  ClientOptions options = patient(shared_urls(3));
  options.max_ttl = seconds(60);
  Client other = make_client(std::move(options));
  const auto expect_excluded = [](const auto& lock) {
    try {
      lock();
      FAIL() << "it returned without the lock";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), Errc::excluded);
    }
  };
  Mutex mutex(other, resource_);
  RecursiveMutex recursive(other, resource_);
  SharedMutex shared_mutex(other, resource_);
  std::stop_source never;
  expect_excluded([&] { mutex.lock(); });
  expect_excluded([&] { static_cast<void>(mutex.lock(never.get_token())); });
  expect_excluded([&] { recursive.lock(); });
  expect_excluded([&] { shared_mutex.lock(); });
  expect_excluded([&] { shared_mutex.lock_shared(); });
  EXPECT_FALSE(mutex.try_lock_for(milliseconds(1)));
}

}  // namespace
}  // namespace redlock::test
