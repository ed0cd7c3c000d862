// The asynchronous client on a thread of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

class AsyncOnOwnThread : public testing::Test {
 protected:
  AsyncClient client_ = make_async_client(patient(shared_urls(3)));
  std::string resource_ = fresh_resource();
};

TEST_F(AsyncOnOwnThread, AnswersOnItsThreadExactlyOnce) {
  constexpr int count = 500;
  std::atomic<int> answers{0};
  const auto caller = std::this_thread::get_id();
  for (int i = 0; i < count; ++i) {
    client_.try_acquire(resource_ + std::to_string(i % 100), {}, [&](Result<Lease> lease) {
      EXPECT_NE(std::this_thread::get_id(), caller);
      if (!lease) {
        EXPECT_THAT(lease.error().code, testing::AnyOf(Errc::held, Errc::split));
      }
      ++answers;
    });
  }
  EXPECT_TRUE(eventually([&] { return answers == count; }, seconds(30)));
}

TEST_F(AsyncOnOwnThread, AnswersThatComeAfterCloseSayClosedFromManyThreads) {
  std::promise<void> closed;
  client_.close([&](const CloseReport&) { closed.set_value(); });
  closed.get_future().wait();
  std::atomic<int> answers{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) {
          client_.try_acquire(resource_, {}, [&](Result<Lease> lease) {
            EXPECT_TRUE(failed_with(lease, Errc::closed));
            ++answers;
          });
          client_.inspect(resource_, [&](Result<Inspection> inspection) {
            EXPECT_TRUE(failed_with(inspection, Errc::closed));
            ++answers;
          });
        }
      });
    }
  }
  EXPECT_EQ(answers, 1600);
}

TEST_F(AsyncOnOwnThread, ClosingWhileManyThreadsCallAnswersEveryCall) {
  std::atomic<int> calls{0};
  std::atomic<int> answers{0};
  std::atomic<bool> done{false};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        while (!done) {
          if (calls - answers > 100) continue;
          ++calls;
          client_.try_acquire(resource_ + std::to_string(t), {}, [&](Result<Lease> lease) {
            if (!lease && lease.error().code == Errc::closed) done = true;
            ++answers;
          });
        }
      });
    }
    ASSERT_TRUE(eventually([&] { return answers > 20; }));
    client_.close(nullptr);
  }
  EXPECT_TRUE(eventually([&] { return answers == calls; }, seconds(30)));
}

TEST_F(AsyncOnOwnThread, AClientMayBeDestroyedInItsOwnCallback) {
  auto client = std::make_unique<AsyncClient>(make_async_client(patient(shared_urls(3))));
  std::promise<void> destroyed;
  client->try_acquire(resource_, {}, [&](Result<Lease> lease) {
    EXPECT_TRUE(succeeded(lease));
    client.reset();
    destroyed.set_value();
  });
  destroyed.get_future().wait();
  EXPECT_TRUE(eventually([&] { return shared_nodes().count_held(resource_) == 0; }));
}

TEST_F(AsyncOnOwnThread, AnExtendByHandWithRenewalKeepsTheLater) {
  AcquireOptions options{.ttl = seconds(2)};
  std::promise<Lease> promise;
  client_.try_acquire(resource_, std::move(options),
                      [&](Result<Lease> lease) { promise.set_value(*std::move(lease)); });
  Lease lease = promise.get_future().get();
  std::promise<void> extended;
  client_.extend(lease, seconds(30), [&](Result<Round> report) {
    EXPECT_TRUE(succeeded(report));
    extended.set_value();
  });
  extended.get_future().wait();
  EXPECT_GT(lease.remaining(), seconds(20));
}

}  // namespace
}  // namespace redlock::test
