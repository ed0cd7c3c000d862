// P9: co_await, on the client's loop or on the caller's executor, and with stop tokens.

#include <gtest/gtest.h>

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "integration/detached.hpp"
#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

/// An executor with one thread.
class Executor {
 public:
  Executor() : thread_([this](const std::stop_token& stop) { run(stop); }) {}
  void post(std::coroutine_handle<> coroutine) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(coroutine);
    }
    changed_.notify_one();
  }
  [[nodiscard]] std::thread::id id() const { return thread_.get_id(); }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !queue_.empty(); })) {
      const auto next = queue_.front();
      queue_.pop_front();
      lock.unlock();
      next.resume();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::coroutine_handle<>> queue_;
  std::jthread thread_;
};

class P9 : public testing::Test {
 protected:
  AsyncClient client_ = make_async_client(patient(shared_urls(3)));
  std::string resource_ = fresh_resource();
};

Detached all_calls(AsyncClient& client, std::string resource, std::promise<std::string>& done) {
  std::string said;
  AcquireOptions options{.ttl = seconds(20)};
  auto lease = co_await client.try_acquire(resource, options);
  said += lease ? "acquired" : lease.error().message;
  const auto extended = co_await client.extend(*lease, seconds(25));
  said += extended ? ", extended" : extended.error().message;
  const auto refused = co_await client.try_acquire(resource);
  said += refused ? "!" : ", " + std::string(to_string(refused.error().code));
  const auto late = co_await client.try_acquire_for(resource, std::chrono::milliseconds(250));
  said += late ? "!" : ", " + std::string(to_string(late.error().code));
  const auto too_late = co_await client.try_acquire_until(resource, BootClock::now());
  said += too_late ? "!" : ", " + std::string(to_string(too_late.error().code));
  const auto seen = co_await client.inspect(resource);
  said += seen && seen->state == Inspection::State::held ? ", seen" : "?";
  const Token token = lease->detach().token;
  const auto by_token = co_await client.extend(resource, token, seconds(26));
  said += by_token ? ", by token" : by_token.error().message;
  const auto released = co_await client.release(resource, token);
  said += released ? ", released" : released.error().message;
  auto again = co_await client.acquire(resource);
  const auto given_back = co_await client.release(*std::move(again));
  said += given_back ? ", and again" : given_back.error().message;
  auto broken = co_await client.acquire(resource);
  const auto is_held = co_await client.ownership(resource, broken->token());
  said += is_held == Ownership::held ? ", mine" : "?";
  const auto by_operator = co_await client.break_lock(resource, broken->token());
  said += by_operator ? ", broken" : by_operator.error().message;
  const auto is_gone = co_await client.ownership(resource, broken->token());
  said += is_gone == Ownership::not_held ? ", not mine" : "?";
  const auto metrics = co_await client.metrics();
  said += metrics && !metrics->nodes.empty() ? ", measured" : "?";
  const auto report = co_await client.close();
  said += report ? ", closed" : report.error().message;
  const auto after = co_await client.metrics();
  said += after ? "!" : ", " + std::string(to_string(after.error().code));
  done.set_value(said);
}

TEST_F(P9, EveryCallCanBeAwaited) {
  std::promise<std::string> done;
  all_calls(client_, resource_, done);
  EXPECT_EQ(done.get_future().get(),
            "acquired, extended, held, held, held, seen, by token, released, and again, mine, "
            "broken, not mine, measured, closed, closed");
}

TEST_F(P9, WhatChangesALockIsDoneEvenIfNobodyAwaitsIt) {
  std::promise<Result<Lease>> granted;
  client_.acquire(resource_, {.ttl = seconds(5), .renew = false},
                  [&granted](Result<Lease> lease) { granted.set_value(std::move(lease)); });
  const Result<Lease> lease = granted.get_future().get();
  ASSERT_TRUE(succeeded(lease));
  const auto deadline = lease->valid_until();
  static_cast<void>(client_.extend(*lease, seconds(25)));
  EXPECT_TRUE(eventually([&] { return lease->valid_until() > deadline + seconds(1); }));
}

Detached on_executor(AsyncClient& client, std::string resource, Executor& executor,
                     std::promise<std::thread::id>& done) {
  const auto shared = std::make_shared<Executor*>(&executor);
  const auto post = [shared](std::coroutine_handle<> coroutine) { (*shared)->post(coroutine); };
  auto lease = co_await client.acquire(resource).via(post);
  if (!lease) std::terminate();
  done.set_value(std::this_thread::get_id());
}

TEST_F(P9, TheCoroutineGoesOnWhereItsExecutorTakesIt) {
  Executor executor;
  std::promise<std::thread::id> done;
  on_executor(client_, resource_, executor, done);
  EXPECT_EQ(done.get_future().get(), executor.id());
}

Detached waiting(AsyncClient& client, std::string resource, std::stop_token stop,
                 std::promise<Errc>& done) {
  AcquireOptions options{};
  const auto lease = co_await client.acquire(resource, options, std::move(stop));
  done.set_value(lease ? Errc::would_block : lease.error().code);
}

TEST_F(P9, AStopRequestEndsTheWaiting) {
  Client other = make_client(patient(shared_urls(3)));
  const auto held = other.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(held));
  std::stop_source stop;
  std::promise<Errc> done;
  waiting(client_, resource_, stop.get_token(), done);
  stop.request_stop();
  EXPECT_EQ(done.get_future().get(), Errc::cancelled);
}

TEST_F(P9, AStopThatCameBeforeIsSeen) {
  Client other = make_client(patient(shared_urls(3)));
  const auto held = other.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(held));
  std::stop_source stop;
  stop.request_stop();
  std::promise<Errc> done;
  waiting(client_, resource_, stop.get_token(), done);
  EXPECT_EQ(done.get_future().get(), Errc::cancelled);
}

TEST_F(P9, AnAwaitedCallFailsWhenTheClientIsClosed) {
  Client other = make_client(patient(shared_urls(3)));
  const auto held = other.try_acquire(resource_, {.ttl = seconds(30)});
  ASSERT_TRUE(succeeded(held));
  std::promise<Errc> done;
  std::stop_source never;
  {
    AsyncClient closing = make_async_client(patient(shared_urls(3)));
    waiting(closing, resource_, never.get_token(), done);
  }
  EXPECT_EQ(done.get_future().get(), Errc::closed);
}

Detached watch_until(AsyncClient& client, std::string resource, std::stop_token stop,
                     std::function<void(const Inspection&)> changed,
                     std::promise<Result<std::uint64_t>>& done) {
  auto changes = co_await client.watch(resource, std::move(changed), std::move(stop));
  done.set_value(std::move(changes));
}

TEST_F(P9, AWatchCanBeAwaitedUntilItIsStopped) {
  std::stop_source stop;
  std::promise<void> seen;
  std::promise<Result<std::uint64_t>> done;
  const auto changed = [&](const Inspection& inspection) {
    EXPECT_EQ(inspection.state, Inspection::State::free);
    seen.set_value();
  };
  watch_until(client_, resource_, stop.get_token(), changed, done);
  seen.get_future().get();
  stop.request_stop();
  const auto changes = done.get_future().get();
  ASSERT_TRUE(succeeded(changes));
  EXPECT_EQ(*changes, 1U);

  std::promise<Result<std::uint64_t>> refused;
  watch_until(client_, resource_, stop.get_token(), nullptr, refused);
  const auto mistake = refused.get_future().get();
  ASSERT_TRUE(failed_with(mistake, Errc::invalid_argument));
  EXPECT_EQ(mistake.error().message, "changed: empty; a callback is needed");
}

}  // namespace
}  // namespace redlock::test
