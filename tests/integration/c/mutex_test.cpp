// Mutexes and asynchronous elections by redlock.h.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/c/helpers.hpp"
#include "integration/library.hpp"
#include "redlock.h"

namespace redlock::test {
namespace {

using CMutex = std::unique_ptr<redlock_mutex, CFree<redlock_mutex_free>>;
using CSharedMutex = std::unique_ptr<redlock_shared_mutex, CFree<redlock_shared_mutex_free>>;
using CGuard = std::unique_ptr<redlock_guard, CFree<redlock_guard_free>>;

/// The answer to an asynchronous call, which comes once.
template <typename Result>
class CPromise {
 public:
  using Answered = std::pair<Result*, redlock_error*>;

  static void done(void* context, Result* result, redlock_error* error) {
    const std::unique_ptr<std::promise<Answered>> promise(
        static_cast<std::promise<Answered>*>(context));
    promise->set_value({result, error});
  }
  [[nodiscard]] void* context() { return owned_.release(); }
  [[nodiscard]] std::pair<Result*, redlock_status> get() {
    const auto [result, error] = answered_.get();
    const CError owned(error);
    EXPECT_TRUE(result == nullptr || error == nullptr);
    return {result, error == nullptr ? REDLOCK_OK : error->status};
  }

 private:
  std::unique_ptr<std::promise<Answered>> owned_ = std::make_unique<std::promise<Answered>>();
  std::future<Answered> answered_ = owned_->get_future();
};

class CMutexes : public testing::Test {
 protected:
  using Async = std::unique_ptr<redlock_async, CFree<redlock_async_free>>;

  [[nodiscard]] static Async async_client() {
    const COptions options(shared_urls(3));
    redlock_async* client = nullptr;
    EXPECT_EQ(redlock_async_create(&options.options, nullptr, &client, nullptr), REDLOCK_OK);
    return Async(client);
  }

  const std::string resource_ = fresh_resource();
  const redlock_target target_ = redlock_exclusive(resource_.c_str());
};

TEST_F(CMutexes, ThreadsLockTryAndUnlock) {
  const CClient client = c_client();
  redlock_acquire_options options;
  redlock_acquire_options_init(&options, sizeof(options));
  EXPECT_EQ(options.max_hold_ns, REDLOCK_FOREVER);
  options.ttl_ns = 20 * one_second_ns;
  redlock_mutex* made = nullptr;
  ASSERT_EQ(redlock_mutex_create(client.get(), &target_, &options, &made, nullptr), REDLOCK_OK);
  const CMutex mutex(made);
  ASSERT_EQ(redlock_mutex_lock(mutex.get(), nullptr, nullptr), REDLOCK_OK);
  EXPECT_TRUE(redlock_mutex_valid(mutex.get()));
  EXPECT_FALSE(redlock_mutex_lost(mutex.get()));
  const CStop stop(redlock_stop_new());
  std::thread other([&] {
    redlock_error* error = nullptr;
    EXPECT_EQ(redlock_mutex_try_lock(mutex.get(), &error), REDLOCK_HELD);
    EXPECT_THAT(error->message, testing::EndsWith("by another thread of this process"));
    redlock_error_free(error);
    EXPECT_EQ(redlock_mutex_lock(mutex.get(), stop.get(), nullptr), REDLOCK_CANCELLED);
  });
  redlock_stop_request(stop.get());
  other.join();
  redlock_mutex_unlock(mutex.get());
  EXPECT_FALSE(redlock_mutex_valid(mutex.get()));
  EXPECT_EQ(redlock_mutex_try_lock_for(mutex.get(), 30 * one_second_ns, nullptr, nullptr),
            REDLOCK_OK);
  redlock_mutex_unlock(mutex.get());
}

TEST_F(CMutexes, ATryThatFailsSaysWhy) {
  const CClient client = c_client(COptions(dead_urls(3)));
  redlock_mutex* made = nullptr;
  ASSERT_EQ(redlock_mutex_create(client.get(), &target_, nullptr, &made, nullptr), REDLOCK_OK);
  const CMutex mutex(made);
  redlock_shared_mutex* made_shared = nullptr;
  ASSERT_EQ(
      redlock_shared_mutex_create(client.get(), resource_.c_str(), nullptr, &made_shared, nullptr),
      REDLOCK_OK);
  const CSharedMutex shared(made_shared);
  redlock_error* error = nullptr;
  EXPECT_EQ(redlock_mutex_try_lock(mutex.get(), &error), REDLOCK_UNAVAILABLE);
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(error->message, testing::HasSubstr(resource_));
  redlock_error_free(error);
  EXPECT_EQ(redlock_shared_mutex_try_lock_for(shared.get(), 1, nullptr, nullptr),
            REDLOCK_UNAVAILABLE);
  EXPECT_EQ(redlock_shared_mutex_try_lock_shared(shared.get(), nullptr), REDLOCK_UNAVAILABLE);
}

TEST_F(CMutexes, MistakesAreRefused) {
  const CClient client = c_client();
  redlock_mutex* made = nullptr;
  EXPECT_EQ(redlock_mutex_create(nullptr, &target_, nullptr, &made, nullptr),
            REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(redlock_mutex_create(client.get(), nullptr, nullptr, &made, nullptr),
            REDLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(redlock_mutex_lock(nullptr, nullptr, nullptr), REDLOCK_INVALID_ARGUMENT);
  redlock_mutex_unlock(nullptr);
  EXPECT_FALSE(redlock_mutex_lost(nullptr));
  const redlock_target nothing = redlock_exclusive("");
  ASSERT_EQ(redlock_mutex_create(client.get(), &nothing, nullptr, &made, nullptr), REDLOCK_OK);
  const CMutex unusable(made);
  EXPECT_EQ(redlock_mutex_lock(unusable.get(), nullptr, nullptr), REDLOCK_INVALID_ARGUMENT);
  ASSERT_EQ(redlock_mutex_create(client.get(), &target_, nullptr, &made, nullptr), REDLOCK_OK);
  const CMutex mutex(made);
  ASSERT_EQ(redlock_client_close(client.get(), nullptr, nullptr), REDLOCK_OK);
  EXPECT_EQ(redlock_mutex_try_lock(mutex.get(), nullptr), REDLOCK_CLOSED);
}

TEST_F(CMutexes, AClosedClientLosesWhatIsHeldAndCallsNobody) {
  const CClient client = c_client();
  redlock_acquire_options options;
  redlock_acquire_options_init(&options, sizeof options);
  int calls = 0;
  options.context = &calls;
  options.on_lost = [](void* context, const redlock_error*) { ++*static_cast<int*>(context); };
  redlock_mutex* made = nullptr;
  ASSERT_EQ(redlock_mutex_create(client.get(), &target_, &options, &made, nullptr), REDLOCK_OK);
  const CMutex mutex(made);
  ASSERT_EQ(redlock_mutex_lock(mutex.get(), nullptr, nullptr), REDLOCK_OK);
  EXPECT_FALSE(redlock_mutex_lost(mutex.get()));
  ASSERT_EQ(redlock_client_close(client.get(), nullptr, nullptr), REDLOCK_OK);
  EXPECT_FALSE(redlock_mutex_valid(mutex.get()));
  EXPECT_TRUE(redlock_mutex_lost(mutex.get()));
  redlock_mutex_unlock(mutex.get());
  EXPECT_EQ(calls, 0);
}

TEST_F(CMutexes, ReadersExcludeAWriter) {
  const CClient client = c_client();
  redlock_shared_mutex* made = nullptr;
  ASSERT_EQ(redlock_shared_mutex_create(client.get(), resource_.c_str(), nullptr, &made, nullptr),
            REDLOCK_OK);
  const CSharedMutex mutex(made);
  ASSERT_EQ(redlock_shared_mutex_lock_shared(mutex.get(), nullptr, nullptr), REDLOCK_OK);
  EXPECT_TRUE(redlock_shared_mutex_valid(mutex.get()));
  std::thread([&] {
    EXPECT_FALSE(redlock_shared_mutex_valid(mutex.get()));
    EXPECT_EQ(
        redlock_shared_mutex_try_lock_shared_for(mutex.get(), 30 * one_second_ns, nullptr, nullptr),
        REDLOCK_OK);
    redlock_shared_mutex_unlock_shared(mutex.get());
    EXPECT_EQ(redlock_shared_mutex_try_lock(mutex.get(), nullptr), REDLOCK_HELD);
  }).join();
  redlock_shared_mutex_unlock_shared(mutex.get());
  ASSERT_EQ(redlock_shared_mutex_lock(mutex.get(), nullptr, nullptr), REDLOCK_OK);
  EXPECT_TRUE(redlock_shared_mutex_valid(mutex.get()));
  EXPECT_FALSE(redlock_shared_mutex_lost(mutex.get()));
  redlock_shared_mutex_unlock(mutex.get());
}

TEST_F(CMutexes, AsynchronousCallsPassALeaseOn) {
  const Async client = async_client();
  redlock_async_mutex* mutex = nullptr;
  ASSERT_EQ(redlock_async_mutex_create(client.get(), &target_, nullptr, &mutex, nullptr),
            REDLOCK_OK);
  CPromise<redlock_guard> first;
  redlock_async_mutex_lock(mutex, first.done, first.context());
  CGuard guard(first.get().first);
  ASSERT_TRUE(redlock_guard_valid(guard.get()));
  EXPECT_FALSE(redlock_guard_lost(guard.get()));
  const std::string token = redlock_guard_token(guard.get());
  CPromise<redlock_guard> refused;
  redlock_async_mutex_try_lock(mutex, refused.done, refused.context());
  EXPECT_EQ(refused.get().second, REDLOCK_HELD);
  CPromise<redlock_guard> next;
  redlock_async_mutex_lock(mutex, next.done, next.context());
  CPromise<redlock_guard> cancelled;
  const redlock_request request =
      redlock_async_mutex_lock(mutex, cancelled.done, cancelled.context());
  redlock_async_mutex_cancel(mutex, request);
  EXPECT_EQ(cancelled.get().second, REDLOCK_CANCELLED);
  CPromise<redlock_round> broken;
  redlock_async_break(client.get(), resource_.c_str(), "nobody", 0, broken.done, broken.context());
  EXPECT_EQ(broken.get().second, REDLOCK_NOT_HOLDER);
  guard.reset();
  guard.reset(next.get().first);
  ASSERT_TRUE(guard);
  EXPECT_EQ(redlock_guard_token(guard.get()), token);
  CPromise<redlock_guard> abandoned;
  redlock_async_mutex_lock(mutex, abandoned.done, abandoned.context());
  redlock_async_mutex_free(mutex);
  EXPECT_EQ(abandoned.get().second, REDLOCK_CANCELLED);
  EXPECT_TRUE(redlock_guard_valid(guard.get()));
  EXPECT_EQ(redlock_async_mutex_lock(nullptr, nullptr, nullptr), 0U);
}

TEST_F(CMutexes, AnAsynchronousElection) {
  const Async client = async_client();
  redlock_election_options options;
  redlock_election_options_init(&options, sizeof(options));
  options.candidate = "me";
  options.poll_interval_ns = one_second_ns / 200;
  redlock_async_election* election = nullptr;
  ASSERT_EQ(
      redlock_async_election_create(client.get(), resource_.c_str(), &options, &election, nullptr),
      REDLOCK_OK);
  struct Seen {
    std::mutex mutex;
    std::string words;
    [[nodiscard]] bool soon(const std::string& expected) {
      return eventually([&] {
        const std::lock_guard lock(mutex);
        return words == expected;
      });
    }
  } seen;
  const redlock_request observation = redlock_async_election_observe(
      election,
      [](void* context, redlock_leader* leader, redlock_error* error) {
        auto& log = *static_cast<Seen*>(context);
        const std::lock_guard lock(log.mutex);
        log.words += error != nullptr    ? redlock_status_name(error->status)
                     : leader == nullptr ? "nobody "
                                         : std::string(leader->candidate) + " ";
        redlock_leader_free(leader);
        redlock_error_free(error);
      },
      &seen);
  EXPECT_TRUE(seen.soon("nobody "));
  CPromise<redlock_leadership> elected;
  redlock_async_election_campaign(election, elected.done, elected.context());
  redlock_leadership* leadership = elected.get().first;
  ASSERT_NE(leadership, nullptr);
  EXPECT_GT(redlock_leadership_term(leadership), 0U);
  EXPECT_TRUE(seen.soon("nobody me "));
  CPromise<redlock_leadership> refused;
  redlock_async_election_try_campaign(election, refused.done, refused.context());
  EXPECT_EQ(refused.get().second, REDLOCK_HELD);
  CPromise<redlock_leader> asked;
  redlock_async_election_leader(election, asked.done, asked.context());
  redlock_leader* leader = asked.get().first;
  ASSERT_NE(leader, nullptr);
  EXPECT_STREQ(leader->candidate, "me");
  redlock_leader_free(leader);
  CPromise<redlock_round> resigned;
  redlock_async_election_resign(election, leadership, resigned.done, resigned.context());
  const auto [round, status] = resigned.get();
  EXPECT_EQ(status, REDLOCK_OK);
  redlock_round_free(round);
  EXPECT_TRUE(seen.soon("nobody me nobody "));
  redlock_async_election_free(election);
  redlock_async_cancel(client.get(), observation);
  EXPECT_TRUE(seen.soon("nobody me nobody cancelled"));
}

}  // namespace
}  // namespace redlock::test
