// A moved-from client answers every call with `closed`, as do the objects that were made with it.

#include <gtest/gtest.h>

#include <chrono>
#include <coroutine>
#include <exception>
#include <optional>
#include <stop_token>
#include <system_error>
#include <utility>

#include "redlock/redlock.hpp"

namespace redlock {
namespace {

using std::chrono::seconds;

[[nodiscard]] ClientOptions nobody_there() {
  ClientOptions options;
  options.nodes = {"127.0.0.1:1"};
  return options;
}

template <typename Value>
[[nodiscard]] testing::AssertionResult is_closed(const Result<Value>& result) {
  if (!result && result.error().code == Errc::closed) return testing::AssertionSuccess();
  return testing::AssertionFailure() << (result ? "succeeded" : result.error().message);
}

template <typename Call>
[[nodiscard]] testing::AssertionResult throws_cancelled(Call call) {
  try {
    call();
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::operation_canceled) return testing::AssertionSuccess();
    return testing::AssertionFailure() << error.what();
  }
  return testing::AssertionFailure() << "did not throw";
}

class MovedFrom : public testing::Test {
 protected:
  Client from_ = *Client::create(nobody_there());
  Client to_ = std::move(from_);
  AsyncClient async_from_ = *AsyncClient::create(nobody_there());
  AsyncClient async_to_ = std::move(async_from_);
  Token token_ = *Token::parse("t");
};

TEST_F(MovedFrom, AClientAnswersClosed) {
  EXPECT_TRUE(is_closed(from_.acquire("r")));
  EXPECT_TRUE(is_closed(from_.try_acquire("r")));
  EXPECT_TRUE(is_closed(from_.try_acquire_for("r", seconds(1))));
  EXPECT_TRUE(is_closed(from_.try_acquire_until("r", BootClock::time_point::max())));
  EXPECT_TRUE(is_closed(from_.extend("r", token_, seconds(1))));
  EXPECT_TRUE(is_closed(from_.downgrade("r", token_)));
  EXPECT_TRUE(is_closed(from_.release("r", token_)));
  EXPECT_TRUE(is_closed(from_.inspect("r")));
  EXPECT_TRUE(is_closed(from_.ownership("r", token_)));
  EXPECT_TRUE(is_closed(from_.metrics()));
  const Client again = std::move(from_);
}

TEST_F(MovedFrom, AClientCanBeAssignedTo) {
  from_ = std::move(to_);
  EXPECT_TRUE(is_closed(to_.try_acquire("r")));
  EXPECT_FALSE(is_closed(from_.try_acquire("r"))) << "its node is down, which is another error";
}

TEST_F(MovedFrom, AnAsynchronousClientAnswersClosedInsideTheCall) {
  int answers = 0;
  const auto expect_closed = [&](const auto& result) {
    EXPECT_TRUE(is_closed(result));
    ++answers;
  };
  EXPECT_EQ(async_from_.acquire("r", {}, expect_closed), RequestId{});
  EXPECT_EQ(async_from_.try_acquire("r", {}, expect_closed), RequestId{});
  EXPECT_EQ(async_from_.try_acquire_for("r", seconds(1), {}, expect_closed), RequestId{});
  EXPECT_EQ(async_from_.try_acquire_until("r", BootClock::now(), {}, expect_closed), RequestId{});
  async_from_.extend(Lease(), seconds(1), expect_closed);
  async_from_.release(Lease(), expect_closed);
  async_from_.extend("r", token_, seconds(1), expect_closed);
  async_from_.release("r", token_, expect_closed);
  async_from_.inspect("r", expect_closed);
  async_from_.ownership("r", token_, expect_closed);
  async_from_.close([&](const CloseReport&) { ++answers; });
  EXPECT_EQ(answers, 11);

  async_from_.cancel(RequestId{1});
  async_from_.inspect("r", nullptr);
  async_from_.release("r", token_, {});
  async_from_.close(nullptr);
}

struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Detached await_all(AsyncClient& client, Token token, std::stop_token stop, int& answers) {
  AcquireOptions options;
  Lease none;
  EXPECT_TRUE(is_closed(co_await client.acquire("r")));
  EXPECT_TRUE(is_closed(co_await client.acquire("r", options, stop)));
  EXPECT_TRUE(is_closed(co_await client.try_acquire("r")));
  EXPECT_TRUE(is_closed(co_await client.try_acquire("r", options)));
  EXPECT_TRUE(is_closed(co_await client.try_acquire_for("r", seconds(1))));
  EXPECT_TRUE(is_closed(co_await client.try_acquire_for("r", seconds(1), options, stop)));
  EXPECT_TRUE(is_closed(co_await client.try_acquire_until("r", BootClock::now())));
  EXPECT_TRUE(is_closed(co_await client.try_acquire_until("r", BootClock::now(), options, stop)));
#if !defined(REDLOCK_REFUSED)
  EXPECT_TRUE(is_closed(co_await client.try_acquire_for("r", seconds(2), {.ttl = seconds(5)})));
  EXPECT_TRUE(is_closed(co_await client.acquire("r", {.name = std::string(100, 'x')}, stop)));
#endif
  EXPECT_TRUE(is_closed(co_await client.adopt(none.detach())));
  EXPECT_TRUE(is_closed(co_await client.adopt(none.detach(), options)));
  EXPECT_TRUE(is_closed(co_await client.extend(none, seconds(1))));
  EXPECT_TRUE(is_closed(co_await client.release(std::move(none))));
  EXPECT_TRUE(is_closed(co_await client.extend("r", token, seconds(1))));
  EXPECT_TRUE(is_closed(co_await client.downgrade(Lease())));
  EXPECT_TRUE(is_closed(co_await client.downgrade("r", token)));
  EXPECT_TRUE(is_closed(co_await client.release("r", token)));
  EXPECT_TRUE(is_closed(co_await client.inspect("r")));
  EXPECT_TRUE(is_closed(co_await client.ownership("r", token)));
  ++answers;
}

TEST_F(MovedFrom, AnAsynchronousClientAnswersClosedToWhoAwaits) {
  std::stop_source stop;
  stop.request_stop();
  int answers = 0;
  await_all(async_from_, token_, stop.get_token(), answers);
  EXPECT_EQ(answers, 1);
}

TEST_F(MovedFrom, AMutexMadeWithTheClientThrowsAndAnElectionAnswersClosed) {
  Mutex mutex(from_, "r");
  EXPECT_TRUE(throws_cancelled([&] { mutex.lock(); }));
  EXPECT_TRUE(throws_cancelled([&] { static_cast<void>(mutex.try_lock()); }));
  RecursiveMutex recursive(from_, "r");
  EXPECT_TRUE(throws_cancelled([&] { recursive.lock(); }));
  SharedMutex shared(from_, "r");
  EXPECT_TRUE(throws_cancelled([&] { shared.lock(); }));
  EXPECT_TRUE(throws_cancelled([&] { shared.lock_shared(); }));
  EXPECT_FALSE(mutex.valid() || recursive.valid() || shared.valid());

  Election election(from_, "r", {.candidate = "c"});
  EXPECT_TRUE(is_closed(election.campaign()));
  EXPECT_TRUE(is_closed(election.try_campaign()));
  EXPECT_TRUE(is_closed(election.try_campaign_for(seconds(1))));
  EXPECT_TRUE(is_closed(election.try_campaign_until(BootClock::now())));
  EXPECT_TRUE(is_closed(election.leader()));
  EXPECT_TRUE(is_closed(election.observe([](const std::optional<Leader>&) {}, {})));
}

TEST_F(MovedFrom, ALeaseIsNone) {
  Lease from;
  Lease to = std::move(from);
  for (Lease* lease : {&from, &to}) {
    EXPECT_FALSE(lease->valid());
    EXPECT_EQ(lease->extend(seconds(1)).error().code, Errc::not_holder);
    EXPECT_EQ(lease->downgrade().error().code, Errc::not_holder);
    EXPECT_EQ(lease->release().error().code, Errc::not_holder);
    EXPECT_TRUE(lease->detach().resources.empty());
    EXPECT_TRUE(lease->round().nodes.empty());
    EXPECT_FALSE(lease->lost().stop_possible());
  }
  Leadership leadership{Lease()};
  const Leadership leader = std::move(leadership);
  EXPECT_EQ(leadership.term(), FencingToken());
  EXPECT_FALSE(leader.valid() || leadership.valid());
  EXPECT_EQ(leadership.resign().error().code, Errc::not_holder);
}

TEST_F(MovedFrom, AnObserverWithoutACallbackIsRefused) {
  Election election(to_, "r", {.candidate = "c"});
  const auto observed = election.observe({}, {});
  ASSERT_FALSE(observed);
  EXPECT_EQ(observed.error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace redlock
