// The facades of a client, mutexes and elections: they continue when the Client object is moved,
// end when it is destroyed, and take all terms of a lease.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "integration/library.hpp"
#include "redlock/async_election.hpp"
#include "redlock/async_mutex.hpp"
#include "redlock/election.hpp"
#include "redlock/recursive_mutex.hpp"
#include "redlock/shared_mutex.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::error_code locking_throws(const auto& lock) {
  try {
    lock();
  } catch (const std::system_error& error) {
    return error.code();
  }
  return {};
}

class Facades : public testing::Test {
 protected:
  Facades() : client_(std::make_unique<Client>(make_client(patient(shared_urls(3))))) {}

  /// Moves the client, as a service does that keeps its client in an object of its own.
  void move_client() { client_ = std::make_unique<Client>(std::move(*client_)); }
  void destroy_client() { client_.reset(); }

  std::unique_ptr<Client> client_;
  const std::string resource_ = fresh_resource();
};

TEST_F(Facades, GoOnWhenTheClientIsMoved) {
  Mutex mutex(*client_, resource_);
  SharedMutex shared_mutex(*client_, resource_ + ":shared");
  RecursiveMutex recursive(*client_, resource_ + ":recursive");
  Election election(*client_, resource_ + ":election", {.candidate = "me"});
  move_client();
  EXPECT_TRUE(succeeded(mutex.try_acquire_for(seconds(30))));
  EXPECT_TRUE(succeeded(shared_mutex.try_acquire_for(seconds(30))));
  EXPECT_TRUE(succeeded(shared_mutex.try_acquire_shared_for(seconds(30))));
  EXPECT_TRUE(succeeded(recursive.try_acquire_for(seconds(30))));
  const auto leads = election.try_campaign_for(seconds(30));
  ASSERT_TRUE(succeeded(leads));
  const auto leader = election.leader();
  ASSERT_TRUE(succeeded(leader));
  EXPECT_EQ(leader->value_or(Leader{}).candidate, "me");
}

TEST_F(Facades, EndWithTheirClient) {
  Mutex mutex(*client_, resource_);
  SharedMutex shared_mutex(*client_, resource_ + ":shared");
  RecursiveMutex recursive(*client_, resource_ + ":recursive");
  Election election(*client_, resource_ + ":election");
  mutex.lock();
  shared_mutex.lock_shared();
  recursive.lock();
  auto leads = election.try_campaign_for(seconds(30));
  ASSERT_TRUE(succeeded(leads));
  destroy_client();
  EXPECT_FALSE(mutex.valid());
  EXPECT_FALSE(shared_mutex.valid());
  EXPECT_FALSE(recursive.valid());
  EXPECT_FALSE(leads->valid());
  mutex.unlock();
  shared_mutex.unlock_shared();
  recursive.unlock();
  EXPECT_EQ(locking_throws([&] { mutex.lock(); }), Errc::closed);
  EXPECT_EQ(locking_throws([&] { shared_mutex.lock(); }), Errc::closed);
  EXPECT_EQ(locking_throws([&] { shared_mutex.lock_shared(); }), Errc::closed);
  EXPECT_EQ(locking_throws([&] { recursive.lock(); }), Errc::closed);
  EXPECT_TRUE(failed_with(mutex.try_acquire_for(seconds(1)), Errc::closed));
  EXPECT_TRUE(failed_with(election.campaign(), Errc::closed));
  EXPECT_TRUE(failed_with(election.leader(), Errc::closed));
  EXPECT_TRUE(failed_with(election.observe([](const auto&) {}, {}), Errc::closed));
}

TEST_F(Facades, OfAnAsynchronousClientDoTheSame) {
  auto created = AsyncClient::create(patient(shared_urls(3)));
  ASSERT_TRUE(created);
  auto client = std::make_unique<AsyncClient>(*std::move(created));
  AsyncMutex mutex(*client, resource_, {.fencing = true});
  AsyncElection election(*client, resource_ + ":election");
  client = std::make_unique<AsyncClient>(std::move(*client));
  std::promise<Result<AsyncMutexGuard>> locked;
  mutex.lock([&](Result<AsyncMutexGuard> guard) { locked.set_value(std::move(guard)); });
  auto guard = locked.get_future().get();
  ASSERT_TRUE(succeeded(guard));
  EXPECT_TRUE(guard->lease().fencing_token());
  client.reset();
  EXPECT_FALSE(guard->valid());
  guard->unlock();
  std::optional<Errc> why;
  mutex.lock([&](const Result<AsyncMutexGuard>& after) { why = after.error().code; });
  EXPECT_EQ(why, Errc::closed);
  election.campaign([&](const Result<Leadership>& after) { why = after.error().code; });
  EXPECT_EQ(why, Errc::closed);
}

TEST_F(Facades, AMutexFences) {
  Mutex mutex(*client_, resource_, {.ttl = seconds(20), .fencing = true, .name = "the writer"});
  FencingToken last;
  for (int i = 0; i < 3; ++i) {
    const std::unique_lock lock(mutex);
    ASSERT_TRUE(mutex.lease().fencing_token());
    EXPECT_GT(*mutex.lease().fencing_token(), last);
    last = *mutex.lease().fencing_token();
    EXPECT_EQ(mutex.lease().token().name(), "the writer");
  }
  // Only the writer's lease is numbered, since there may be several readers.
  SharedMutex shared_mutex(*client_, resource_, {.ttl = seconds(20), .fencing = true});
  {
    const std::shared_lock lock(shared_mutex);
    EXPECT_TRUE(shared_mutex.lease().valid());
    EXPECT_FALSE(shared_mutex.lease().fencing_token());
  }
  const std::unique_lock lock(shared_mutex);
  EXPECT_GT(shared_mutex.lease().fencing_token().value_or(FencingToken()), last);
}

TEST_F(Facades, ThreadsThatPassALeaseOnShareItsNumber) {
  Mutex mutex(*client_, resource_, {.ttl = seconds(20), .fencing = true});
  std::vector<std::pair<Token, FencingToken>> seen;
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < 8; ++t) {
      workers.emplace_back([&] {
        for (int i = 0; i < 10; ++i) {
          const std::unique_lock lock(mutex);
          seen.emplace_back(mutex.lease().token(),
                            mutex.lease().fencing_token().value_or(FencingToken()));
        }
      });
    }
  }
  ASSERT_EQ(seen.size(), 80U);
  // A storage that refuses smaller numbers would accept all of these, and equal numbers are from
  // one lease.
  for (std::size_t i = 1; i < seen.size(); ++i) {
    EXPECT_GE(seen[i].second, seen[i - 1].second);
    EXPECT_EQ(seen[i].second == seen[i - 1].second, seen[i].first == seen[i - 1].first);
  }
}

TEST_F(Facades, TellOfALoss) {
  std::atomic<int> lost{0};
  std::atomic<int> at_risk{0};
  AcquireOptions options{.ttl = milliseconds(300), .max_renewals = 1};
  options.on_lost = [&](const Error&) { ++lost; };
  options.on_at_risk = [&](std::chrono::nanoseconds) { ++at_risk; };
  Mutex mutex(*client_, resource_, options);
  const std::unique_lock lock(mutex);
  EXPECT_TRUE(eventually([&] { return lost == 1; }, seconds(30)));
  EXPECT_EQ(at_risk, 1);
  EXPECT_FALSE(mutex.valid());

  Election election(*client_, resource_ + ":election",
                    {.ttl = milliseconds(300), .on_lost = [&](const Error&) { ++lost; }});
  const auto leads = election.try_campaign_for(seconds(30));
  ASSERT_TRUE(succeeded(leads));
  for (std::size_t i = 0; i < 3; ++i) {
    shared_nodes(3)[i].command({"SET", resource_ + ":election", "somebody-else"});
  }
  EXPECT_TRUE(eventually([&] { return lost == 2; }, seconds(30)));
  shared_nodes(3).clear();
}

}  // namespace
}  // namespace redlock::test
