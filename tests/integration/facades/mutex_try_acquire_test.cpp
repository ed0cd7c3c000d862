// Mutexes report why they could not be locked.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr nanoseconds once{0};

class MutexTryAcquire : public testing::Test {
 protected:
  Client client_ = make_client(patient(shared_urls(3)));
  Client dead_ = make_client(patient(dead_urls(3)));
  std::string resource_ = fresh_resource();
};

TEST_F(MutexTryAcquire, LocksForAsLongAsTheAnswerLives) {
  Mutex mutex(client_, resource_);
  {
    const auto lock = mutex.try_acquire_for(seconds(30));
    ASSERT_TRUE(succeeded(lock));
    EXPECT_TRUE(lock->owns_lock());
    EXPECT_TRUE(mutex.valid());
  }
  EXPECT_FALSE(mutex.valid());
  EXPECT_TRUE(succeeded(mutex.try_acquire_for(forever)));
}

TEST_F(MutexTryAcquire, TellsAHolderFromAnOutage) {
  Mutex mutex(client_, resource_);
  Mutex nowhere(dead_, resource_);
  const auto outage = nowhere.try_acquire_for(once);
  ASSERT_TRUE(failed_with(outage, Errc::unavailable));
  EXPECT_EQ(outage.error().round.nodes.size(), 3U);
  EXPECT_FALSE(nowhere.try_lock());
  auto lease = client_.acquire(resource_);
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(failed_with(mutex.try_acquire_for(once), Errc::held));
  ASSERT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(mutex.try_acquire_for(seconds(30)))) << "and nobody queues in front of it";
}

TEST_F(MutexTryAcquire, NamesAThreadOfThisProcessAsTheHolder) {
  Mutex mutex(client_, resource_);
  const auto lock = mutex.try_acquire_for(seconds(30));
  ASSERT_TRUE(succeeded(lock));
  std::jthread([&] {
    const auto other = mutex.try_acquire_for(once);
    ASSERT_TRUE(failed_with(other, Errc::held));
    EXPECT_THAT(other.error().message, testing::EndsWith("by another thread of this process"));
    std::stop_source stop;
    stop.request_stop();
    EXPECT_TRUE(failed_with(mutex.try_acquire_for(forever, stop.get_token()), Errc::cancelled));
  }).join();
}

TEST_F(MutexTryAcquire, AnswersWhatTheOthersThrow) {
  Mutex unusable(client_, "");
  EXPECT_TRUE(failed_with(unusable.try_acquire_for(once), Errc::invalid_argument));
  Mutex mutex(client_, resource_);
  SharedMutex shared(client_, resource_);
  static_cast<void>(client_.close());
  EXPECT_TRUE(failed_with(mutex.try_acquire_for(forever), Errc::closed));
  EXPECT_TRUE(failed_with(shared.try_acquire_shared_for(forever), Errc::closed));
}

TEST_F(MutexTryAcquire, KnowsReadersAndWriters) {
  SharedMutex mutex(client_, resource_);
  SharedMutex nowhere(dead_, resource_);
  EXPECT_TRUE(failed_with(nowhere.try_acquire_for(once), Errc::unavailable));
  EXPECT_TRUE(failed_with(nowhere.try_acquire_shared_for(once), Errc::unavailable));
  {
    const auto reader = mutex.try_acquire_shared_for(seconds(30));
    ASSERT_TRUE(succeeded(reader));
    EXPECT_TRUE(mutex.valid());
    std::jthread([&] { EXPECT_TRUE(failed_with(mutex.try_acquire_for(once), Errc::held)); }).join();
  }
  const auto writer = mutex.try_acquire_for(seconds(30));
  ASSERT_TRUE(succeeded(writer));
  EXPECT_TRUE(mutex.valid());
}

TEST_F(MutexTryAcquire, IsReenteredByARecursiveMutex) {
  RecursiveMutex mutex(client_, resource_);
  RecursiveMutex nowhere(dead_, resource_);
  EXPECT_TRUE(failed_with(nowhere.try_acquire_for(once), Errc::unavailable));
  EXPECT_EQ(nowhere.holds(), 0U);
  {
    const auto first = mutex.try_acquire_for(seconds(30));
    const auto second = mutex.try_acquire_for(once);
    ASSERT_TRUE(succeeded(first));
    ASSERT_TRUE(succeeded(second));
    EXPECT_EQ(mutex.holds(), 2U);
    std::jthread([&] { EXPECT_TRUE(failed_with(mutex.try_acquire_for(once), Errc::held)); }).join();
  }
  EXPECT_EQ(mutex.holds(), 0U);
  EXPECT_FALSE(mutex.valid());
}

}  // namespace
}  // namespace redlock::test
