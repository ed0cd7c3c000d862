// Calls that share an AsyncMutex queue in the process, and pass its lease on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "integration/detached.hpp"
#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Granted = Result<AsyncMutexGuard>;

class AsyncMutexCalls : public testing::Test {
 protected:
  [[nodiscard]] static Granted take(AsyncMutex& mutex) {
    std::promise<Granted> held;
    mutex.lock([&](Granted guard) { held.set_value(std::move(guard)); });
    return held.get_future().get();
  }
  [[nodiscard]] static std::future<Granted> ask(AsyncMutex& mutex, RequestId* request = nullptr) {
    const auto held = std::make_shared<std::promise<Granted>>();
    const auto name = mutex.lock([held](Granted guard) { held->set_value(std::move(guard)); });
    if (request != nullptr) *request = name;
    return held->get_future();
  }
  [[nodiscard]] bool is_free() { return succeeded(acquire_patiently(other_, resource_)); }

  AsyncClient client_ = make_async_client(patient(shared_urls(3)));
  Client other_ = make_client(patient(shared_urls(3)));
  std::string resource_ = fresh_resource();
};

TEST_F(AsyncMutexCalls, TheQueueOfAProcessSharesALease) {
  AsyncMutex mutex(client_, resource_, {.ttl = seconds(30)});
  constexpr int calls = 400;
  std::map<std::string, int> holders_of;  // by the lease's token
  int inside = 0;
  std::atomic<int> served{0};
  for (int i = 0; i < calls; ++i) {
    mutex.lock([&](Granted guard) {
      ASSERT_TRUE(succeeded(guard));
      EXPECT_TRUE(guard->valid());
      EXPECT_EQ(++inside, 1);
      ++holders_of[guard->lease().token().str()];
      --inside;
      guard->unlock();
      EXPECT_FALSE(guard->valid());
      ++served;
    });
  }
  EXPECT_TRUE(eventually([&] { return served == calls; }, seconds(60)));
  EXPECT_LT(holders_of.size() * 4, static_cast<std::size_t>(calls));
  EXPECT_TRUE(is_free());
}

TEST_F(AsyncMutexCalls, ALimitedRenewalBelongsToOneHolder) {
  AsyncMutex mutex(client_, resource_, {.ttl = seconds(30), .max_renewals = 5});
  std::map<std::string, int> holders_of;
  std::atomic<int> served{0};
  for (int i = 0; i < 20; ++i) {
    mutex.lock([&](Granted guard) {
      ASSERT_TRUE(succeeded(guard));
      ++holders_of[guard->lease().token().str()];
      ++served;
    });
  }
  EXPECT_TRUE(eventually([&] { return served == 20; }, seconds(60)));
  EXPECT_EQ(holders_of.size(), 20U);
}

TEST_F(AsyncMutexCalls, OtherProcessesAreServedInBetween) {
  AsyncClient far = make_async_client(patient(shared_urls(3)));
  AsyncMutex here(client_, resource_, {.ttl = seconds(30)});
  AsyncMutex there(far, resource_, {.ttl = seconds(30)});
  std::atomic<bool> enough{false};
  std::atomic<int> running{8};
  std::function<void()> turn = [&] {
    here.lock([&](Granted guard) {
      EXPECT_TRUE(succeeded(guard));
      if (enough) {
        --running;
      } else {
        turn();  // in the queue before it unlocks
      }
    });
  };
  for (int i = 0; i < 8; ++i) turn();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(succeeded(take(there)));
  enough = true;
  EXPECT_TRUE(eventually([&] { return running == 0; }, seconds(60)));
}

TEST_F(AsyncMutexCalls, AnsweredLaterAndNotInside) {
  AsyncMutex mutex(client_, resource_, {.ttl = seconds(30)});
  std::promise<void> done;
  bool inside = true;
  mutex.lock([&](Granted guard) {
    ASSERT_TRUE(succeeded(guard));
    mutex.try_lock([&](Granted refused) {
      EXPECT_FALSE(inside);
      EXPECT_TRUE(failed_with(refused, Errc::held));
      EXPECT_EQ(refused.error().message,
                "'" + resource_ + "' is held by another call of this process");
      const RequestId waiting = mutex.lock([&](Granted cancelled) {
        EXPECT_FALSE(inside);
        EXPECT_TRUE(failed_with(cancelled, Errc::cancelled));
        done.set_value();
      });
      inside = true;
      mutex.cancel(waiting);
      inside = false;
    });
    inside = false;
    // The guard is held until the second call has answered.
    mutex.try_lock_for(milliseconds(1), [held = *std::move(guard)](Granted refused) {
      EXPECT_TRUE(failed_with(refused, Errc::held));
    });
  });
  done.get_future().get();
  EXPECT_TRUE(is_free());
}

TEST_F(AsyncMutexCalls, ATimeLimitEndsTheWaitInTheQueue) {
  AsyncMutex mutex(client_, resource_, {.ttl = seconds(30)});
  auto guard = take(mutex);
  ASSERT_TRUE(succeeded(guard));
  std::promise<Granted> late;
  mutex.try_lock_for(milliseconds(20),
                     [&](Granted refused) { late.set_value(std::move(refused)); });
  std::promise<Granted> too_late;
  mutex.try_lock_until(BootClock::now(), [&](Granted r) { too_late.set_value(std::move(r)); });
  EXPECT_TRUE(failed_with(too_late.get_future().get(), Errc::held));
  EXPECT_TRUE(failed_with(late.get_future().get(), Errc::held));
  std::promise<Granted> patient;
  mutex.try_lock_for(seconds(60), [&](Granted next) { patient.set_value(std::move(next)); });
  const std::string token = guard->lease().token().str();
  guard->unlock();
  const auto next = patient.get_future().get();
  ASSERT_TRUE(succeeded(next));
  EXPECT_EQ(next->lease().token().str(), token) << "passed on";
}

TEST_F(AsyncMutexCalls, ACancelledCallLosesNoLease) {
  AsyncMutex mutex(client_, resource_, {.ttl = seconds(30)});
  auto guard = take(mutex);
  ASSERT_TRUE(succeeded(guard));
  for (int i = 0; i < 50; ++i) {
    RequestId request{};
    auto given_up = ask(mutex, &request);
    auto next = ask(mutex);
    guard->unlock();
    mutex.cancel(request);  // it waits, is being woken, or has the lock
    auto one = given_up.get();
    if (one) one->unlock();
    guard = next.get();
    ASSERT_TRUE(succeeded(guard));
  }
}

TEST_F(AsyncMutexCalls, ACallThatAsksTheNodesIsCancelled) {
  const auto held = other_.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(held));
  AsyncMutex mutex(client_, resource_, {.ttl = seconds(30)});
  RequestId first{};
  auto asking = ask(mutex, &first);
  RequestId second{};
  auto queued = ask(mutex, &second);
  mutex.cancel(second);
  EXPECT_TRUE(failed_with(queued.get(), Errc::cancelled));
  mutex.cancel(first);
  EXPECT_TRUE(failed_with(asking.get(), Errc::cancelled));
  mutex.cancel(first);
  mutex.cancel(RequestId{});
}

TEST_F(AsyncMutexCalls, AClosedClientEndsAllThatWait) {
  AsyncMutex mutex(client_, resource_, {.ttl = seconds(30)});
  auto guard = take(mutex);
  ASSERT_TRUE(succeeded(guard));
  std::vector<std::future<Granted>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(ask(mutex));
  std::promise<void> closed;
  client_.close([&](const CloseReport&) { closed.set_value(); });
  closed.get_future().get();
  // The waiting calls end although no holder unlocked.
  for (auto& call : waiting) EXPECT_TRUE(failed_with(call.get(), Errc::closed));
  EXPECT_FALSE(guard->valid());
  EXPECT_TRUE(failed_with(take(mutex), Errc::closed));
  guard->unlock();
  EXPECT_TRUE(failed_with(take(mutex), Errc::closed));
}

TEST_F(AsyncMutexCalls, ADestroyedMutexEndsAllThatWaitAndNoGuard) {
  auto mutex = std::make_unique<AsyncMutex>(client_, resource_, AcquireOptions{.ttl = seconds(30)});
  auto guard = take(*mutex);
  ASSERT_TRUE(succeeded(guard));
  std::vector<std::future<Granted>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(ask(*mutex));
  mutex.reset();
  for (auto& call : waiting) EXPECT_TRUE(failed_with(call.get(), Errc::cancelled));
  EXPECT_TRUE(guard->valid());
  EXPECT_TRUE(failed_with(other_.try_acquire(resource_), Errc::held));
  guard->unlock();
  EXPECT_TRUE(is_free());
}

TEST_F(AsyncMutexCalls, AGuardOutlivesItsClient) {
  std::optional<AsyncMutexGuard> guard;
  {
    AsyncClient client = make_async_client(patient(shared_urls(3)));
    AsyncMutex mutex(client, resource_, {.ttl = seconds(30)});
    auto granted = take(mutex);
    ASSERT_TRUE(succeeded(granted));
    guard = *std::move(granted);
  }
  EXPECT_FALSE(guard->valid());
  guard.reset();
  EXPECT_TRUE(is_free());
}

TEST_F(AsyncMutexCalls, ALostLeaseIsNotPassedOn) {
  Nodes nodes(3);
  AsyncClient client = make_async_client(patient(nodes.urls()));
  AsyncMutex mutex(client, resource_, {.ttl = milliseconds(1500)});
  auto guard = take(mutex);
  ASSERT_TRUE(succeeded(guard));
  const std::string token = guard->lease().token().str();
  std::vector<std::future<Granted>> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(ask(mutex));
  const std::stop_token lost = guard->lost();
  nodes[0].stop();
  nodes[1].stop();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }, seconds(30)));
  EXPECT_FALSE(guard->valid());
  guard->unlock();
  nodes[0].resume();
  nodes[1].resume();
  for (auto& call : waiting) {
    const auto next = call.get();
    ASSERT_TRUE(succeeded(next));
    EXPECT_NE(next->lease().token().str(), token);
  }
}

TEST_F(AsyncMutexCalls, RefusalsOfTheClientAreAnswers) {
  AsyncMutex nothing(client_, "");
  EXPECT_TRUE(failed_with(take(nothing), Errc::invalid_argument));
  AsyncClient gone = make_async_client(patient(shared_urls(3)));
  const AsyncClient taken = std::move(gone);
  AsyncMutex orphan(gone, resource_);
  EXPECT_TRUE(failed_with(take(orphan), Errc::closed));
  orphan.cancel(RequestId{1});
  AsyncMutex mutex(client_, resource_);
  mutex.lock(nullptr);  // granted to nobody: unlocked at once
  EXPECT_TRUE(succeeded(take(mutex)));
  EXPECT_TRUE(AsyncMutexGuard().lease().resource().empty());
}

TEST_F(AsyncMutexCalls, NothingIsLostWithCallsThatGiveUp) {
  AsyncMutex mutex(client_, resource_, {.ttl = seconds(30)});
  std::atomic<int> inside{0};
  std::atomic<int> answered{0};
  constexpr int each = 150;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < each; ++i) {
          const auto done = [&](Granted guard) {
            if (guard) {
              EXPECT_EQ(++inside, 1);
              --inside;
            } else {
              const Errc why = guard.error().code;
              // Unavailable: its time ended before the client was connected.
              EXPECT_TRUE(why == Errc::held || why == Errc::cancelled || why == Errc::unavailable)
                  << guard.error().message;
            }
            ++answered;
          };
          switch ((i + t) % 4) {
            case 0:
              mutex.lock(done);
              break;
            case 1:
              mutex.cancel(mutex.lock(done));
              break;
            case 2:
              mutex.try_lock_for(microseconds(i * 20), done);
              break;
            default:
              auto held = ask(mutex).get();
              EXPECT_TRUE(succeeded(held));
              EXPECT_EQ(++inside, 1);
              --inside;
              ++answered;
          }
        }
      });
    }
  }
  EXPECT_TRUE(eventually([&] { return answered == 4 * each; }, seconds(60)));
  EXPECT_TRUE(succeeded(take(mutex)));
  EXPECT_TRUE(is_free());
}

Detached use(AsyncMutex& mutex, std::stop_token stop, std::promise<std::string>& done) {
  std::string said;
  {
    auto guard = co_await mutex.lock();
    said += guard && guard->valid() ? "held" : guard.error().message;
    const auto refused = co_await mutex.try_lock();
    said += refused ? "!" : ", " + std::string(to_string(refused.error().code));
    const auto late = co_await mutex.try_lock_for(milliseconds(1));
    said += late ? "!" : ", " + std::string(to_string(late.error().code));
    const auto too_late = co_await mutex.try_lock_until(BootClock::now() + milliseconds(1));
    said += too_late ? "!" : ", " + std::string(to_string(too_late.error().code));
    const auto stopped = co_await mutex.lock(std::move(stop));
    said += stopped ? "!" : ", " + std::string(to_string(stopped.error().code));
  }
  const auto again = co_await mutex.try_lock();
  said += again ? ", again" : again.error().message;
  done.set_value(said);
}

TEST_F(AsyncMutexCalls, EveryCallCanBeAwaited) {
  AsyncMutex mutex(client_, resource_, {.ttl = seconds(30)});
  std::stop_source stop;
  stop.request_stop();
  std::promise<std::string> done;
  use(mutex, stop.get_token(), done);
  EXPECT_EQ(done.get_future().get(), "held, held, held, held, cancelled, again");
}

}  // namespace
}  // namespace redlock::test
