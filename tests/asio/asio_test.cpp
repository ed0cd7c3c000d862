// Completion tokens: callbacks, futures, coroutines of Asio, and cancellation. Compiled once with
// Boost.Asio and once with standalone Asio.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#if defined(REDLOCK_STANDALONE_ASIO)
#include <asio.hpp>
namespace net = asio;
#define REDLOCK_HAS_SLOTS (ASIO_VERSION >= 102100)
#else
#include <boost/asio.hpp>
namespace net = boost::asio;
#define REDLOCK_HAS_SLOTS (BOOST_ASIO_VERSION >= 102100)
#endif

#include "integration/library.hpp"
#include "redlock/asio.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ASIO_SUITE : public testing::Test {
 protected:
  /// The loop of the program: ends when nothing is outstanding.
  net::io_context io_;
  AsyncClient client_ = make_async_client(patient(shared_urls(3)));
  std::string resource_ = fresh_resource();
};

TEST_F(ASIO_SUITE, AHandlerRunsOnItsExecutorWhichWaitsForIt) {
  int answers = 0;
  Lease held;
  const auto thread = std::this_thread::get_id();
  bool inside = true;
  redlock::async_acquire(
      client_, resource_, {}, net::bind_executor(io_, [&](Result<Lease> lease) {
        EXPECT_FALSE(inside);
        EXPECT_EQ(std::this_thread::get_id(), thread);
        ASSERT_TRUE(succeeded(lease));
        redlock::async_inspect(client_, resource_,
                               net::bind_executor(io_, [&](const Result<Inspection>& seen) {
                                 EXPECT_TRUE(succeeded(seen));
                                 ++answers;
                               }));
        held = *std::move(lease);
        redlock::async_extend(
            client_, held, seconds(20), net::bind_executor(io_, [&](const Result<Round>& extended) {
              EXPECT_TRUE(succeeded(extended));
              ++answers;
              redlock::async_downgrade(
                  client_, held, net::bind_executor(io_, [&](const Result<Round>& downgraded) {
                    EXPECT_TRUE(succeeded(downgraded));
                    ++answers;
                    redlock::async_release(
                        client_, std::move(held),
                        net::bind_executor(io_, [&](const Result<Round>& released) {
                          EXPECT_TRUE(succeeded(released));
                          ++answers;
                        }));
                  }));
            }));
      }));
  inside = false;
  io_.run();
  EXPECT_EQ(answers, 4);
}

TEST_F(ASIO_SUITE, AHandlerOwnsWhatCannotBeCopied) {
  auto owned = std::make_unique<int>(7);
  int seen = 0;
  redlock::async_acquire(
      client_, resource_, {},
      net::bind_executor(io_, [&seen, owned = std::move(owned)](const Result<Lease>& lease) {
        EXPECT_TRUE(succeeded(lease));
        seen = *owned;
      }));
  io_.run();
  EXPECT_EQ(seen, 7);
}

TEST_F(ASIO_SUITE, AClosedClientAnswersByTheExecutorToo) {
  bool inside = true;
  int answers = 0;
  redlock::async_close(client_, net::bind_executor(io_, [&](Result<CloseReport> report) {
                         EXPECT_TRUE(succeeded(report));
                         ++answers;
                       }));
  io_.run();
  io_.restart();
  redlock::async_acquire(client_, resource_, {},
                         net::bind_executor(io_, [&](const Result<Lease>& refused) {
                           EXPECT_FALSE(inside);
                           EXPECT_TRUE(failed_with(refused, Errc::closed));
                           ++answers;
                         }));
  inside = false;
  io_.run();
  EXPECT_EQ(answers, 2);
}

TEST_F(ASIO_SUITE, AFuture) {
  auto lease = redlock::async_acquire(client_, resource_, {}, net::use_future).get();
  ASSERT_TRUE(succeeded(lease));
  AsyncMutex mutex(client_, resource_ + ":mutex");
  const auto guard = redlock::async_lock(mutex, net::use_future).get();
  EXPECT_TRUE(succeeded(guard));
  auto late = redlock::async_try_lock_for(mutex, milliseconds(1), net::use_future).get();
  EXPECT_TRUE(failed_with(late, Errc::held));
  auto owner = redlock::async_await(client_.ownership(resource_, lease->token()), net::use_future);
  EXPECT_EQ(owner.get(), Ownership::held);
  EXPECT_TRUE(succeeded(redlock::async_release(client_, *std::move(lease), net::use_future).get()));
}

#if defined(ASIO_HAS_CO_AWAIT) || defined(BOOST_ASIO_HAS_CO_AWAIT)
net::awaitable<void> work(AsyncClient& client, std::string resource, std::string& said) {
  AcquireOptions options{.ttl = seconds(10)};
  auto lease = co_await redlock::async_acquire(client, resource, options, net::use_awaitable);
  said += lease ? "acquired" : lease.error().message;
  const auto released =
      co_await redlock::async_release(client, *std::move(lease), net::use_awaitable);
  said += released ? ", released" : released.error().message;
  AsyncElection election(client, resource + ":election");
  const auto leader = co_await redlock::async_campaign(election, net::use_awaitable);
  said += leader ? ", elected" : leader.error().message;
  AsyncMutex mutex(client, resource + ":mutex");
  const auto guard = co_await redlock::async_lock(mutex, net::use_awaitable);
  said += guard ? ", locked" : guard.error().message;
}

TEST_F(ASIO_SUITE, ACoroutine) {
  std::string said;
  net::co_spawn(io_, work(client_, resource_, said), net::detached);
  io_.run();
  EXPECT_EQ(said, "acquired, released, elected, locked");
}

#endif

#if REDLOCK_HAS_SLOTS
TEST_F(ASIO_SUITE, ASlotCancelsACallThatWaits) {
  AsyncMutex mutex(client_, resource_);
  const auto guard = redlock::async_lock(mutex, net::use_future).get();
  ASSERT_TRUE(succeeded(guard));
  AsyncElection election(client_, resource_);
  std::vector<net::cancellation_signal> signals(3);
  std::vector<Errc> why;
  const auto bound = [&](std::size_t i, auto handler) {
    return net::bind_cancellation_slot(signals[i].slot(), net::bind_executor(io_, handler));
  };
  const auto failed = [&](const auto& result) {
    EXPECT_FALSE(result);
    why.push_back(result.error().code);
  };
  redlock::async_acquire(client_, resource_, {}, bound(0, failed));
  redlock::async_lock(mutex, bound(1, failed));
  redlock::async_campaign(election, bound(2, failed));
  for (auto& signal : signals) signal.emit(net::cancellation_type::terminal);
  io_.run();
  EXPECT_EQ(why, (std::vector<Errc>(3, Errc::cancelled)));
  // A late cancellation, when the client may be gone, does nothing.
  client_ = make_async_client(patient(shared_urls(3)));
  for (auto& signal : signals) signal.emit(net::cancellation_type::terminal);
}
#endif

}  // namespace
}  // namespace redlock::test
