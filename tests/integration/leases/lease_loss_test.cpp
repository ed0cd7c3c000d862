// How a holder learns that its lease is lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <thread>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Counts calls of on_lost.
struct Losses {
  std::atomic<int> count{0};
  std::mutex mutex;
  std::string message;
  [[nodiscard]] SharedCallback<void(const Error&)> listener() {
    return [this](const Error& error) {
      const std::lock_guard lock(mutex);
      message = error.message;
      EXPECT_EQ(error.code, Errc::not_holder);
      ++count;
    };
  }
};

[[nodiscard]] AcquireOptions renewed(std::chrono::nanoseconds ttl, Losses& losses) {
  AcquireOptions options{.ttl = ttl};
  options.on_lost = losses.listener();
  return options;
}

/// Blocks a client's loop, as a pause of its process does.
class StalledLoop {
 public:
  explicit StalledLoop(Client& client) {
    AcquireOptions options{.ttl = milliseconds(100), .renew = false};
    options.on_lost = [this](const Error&) {
      stalled_.set_value();
      goes_on_.get_future().wait();
    };
    auto lease = client.try_acquire(fresh_resource(), std::move(options));
    EXPECT_TRUE(succeeded(lease));
    if (!lease) return;
    lease_ = *std::move(lease);
    stalled_.get_future().wait();
  }
  ~StalledLoop() { goes_on_.set_value(); }
  StalledLoop(const StalledLoop&) = delete;
  StalledLoop& operator=(const StalledLoop&) = delete;

 private:
  std::promise<void> stalled_;
  std::promise<void> goes_on_;
  Lease lease_;
};

class LeaseLoss : public testing::Test {
 protected:
  [[nodiscard]] static Client client() { return make_client(patient(shared_urls(3))); }
  std::string resource_ = fresh_resource();
  Losses losses_;
};

TEST_F(LeaseLoss, WithoutAMajorityIsReportedOnce) {
  Nodes nodes(3);
  {
    Client client = make_client(patient(nodes.urls()));
    auto lease = client.try_acquire(resource_, renewed(milliseconds(1500), losses_));
    ASSERT_TRUE(succeeded(lease));
    const std::stop_token lost = lease->lost();
    std::atomic<int> stopped{0};
    const std::stop_callback on_stop(lost, [&] { ++stopped; });
    nodes[0].kill();
    nodes[1].kill();
    ASSERT_TRUE(eventually([&] { return losses_.count > 0; }, seconds(30)));
    EXPECT_GE(BootClock::now(), lease->valid_until());
    EXPECT_FALSE(lease->valid());
    EXPECT_EQ(lease->remaining(), std::chrono::nanoseconds::zero());
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_TRUE(lease->lost().stop_requested());
    EXPECT_EQ(stopped, 1);
    ASSERT_TRUE(lease->loss());
    EXPECT_EQ(lease->loss()->message, losses_.message);
    EXPECT_TRUE(failed_with(lease->extend(seconds(1)), Errc::not_holder));
    EXPECT_TRUE(failed_with(lease->release(), Errc::not_holder));
    EXPECT_THAT(losses_.message, testing::HasSubstr("lost the lease on '" + resource_ + "'"));
    EXPECT_THAT(losses_.message, testing::HasSubstr("the last renewal failed"));
  }
  EXPECT_EQ(losses_.count, 1);
  EXPECT_EQ(nodes.count_held(resource_), 0U);
}

TEST_F(LeaseLoss, DoesNotHappenAfterARelease) {
  {
    Client client = LeaseLoss::client();
    auto lease = client.try_acquire(resource_, renewed(milliseconds(300), losses_));
    ASSERT_TRUE(succeeded(lease));
    const std::stop_token lost = lease->lost();
    const auto deadline = lease->valid_until();
    static_cast<void>(lease->release());
    { auto second = client.try_acquire(resource_ + ":2", renewed(milliseconds(300), losses_)); }
    {
      static_cast<void>(client.try_acquire(resource_ + ":3", renewed(milliseconds(300), losses_)));
    }
    auto third = client.try_acquire(resource_ + ":4", renewed(milliseconds(300), losses_));
    if (third) static_cast<void>(third->detach());
    ASSERT_TRUE(eventually([&] { return BootClock::now() > deadline + milliseconds(400); }));
    EXPECT_FALSE(lost.stop_requested());
    EXPECT_FALSE(lease->loss());
  }
  EXPECT_EQ(losses_.count, 0);
}

TEST_F(LeaseLoss, IsReportedIfTheHolderIsTheFirstToSeeIt) {
  // Ends a lease after a pause, before the loop has run.
  const auto end_late = [this](const std::function<void(Lease &&)>& end) {
    Client client = LeaseLoss::client();
    const auto granted = losses_.count.load();
    auto lease = client.try_acquire(
        fresh_resource(),
        {.ttl = milliseconds(300), .renew = false, .on_lost = losses_.listener()});
    ASSERT_TRUE(succeeded(lease));
    const std::stop_token lost = lease->lost();
    {
      const StalledLoop stalled(client);
      ASSERT_TRUE(eventually([&] { return !lease->valid(); }));
      end(*std::move(lease));
    }
    EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
    EXPECT_TRUE(eventually([&] { return losses_.count > granted; }));
    const auto metrics = client.metrics();
    ASSERT_TRUE(succeeded(metrics));
    EXPECT_EQ(metrics->leases_lost, 2U) << "this one, and the one that stalled the loop";
  };
  end_late([](Lease&& lease) { const Lease dropped = std::move(lease); });
  end_late([](Lease&& lease) { static_cast<void>(lease.detach()); });
  EXPECT_EQ(losses_.count, 2);
}

TEST_F(LeaseLoss, IsReportedIfAnUnlockIsTheFirstToSeeIt) {
  Client client = LeaseLoss::client();
  Mutex mutex(client, resource_,
              {.ttl = milliseconds(300), .renew = false, .on_lost = losses_.listener()});
  mutex.lock();
  const std::stop_token lost = mutex.lost();
  {
    const StalledLoop stalled(client);
    ASSERT_TRUE(eventually([&] { return !mutex.valid(); }));
    mutex.unlock();
  }
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_TRUE(eventually([&] { return losses_.count == 1; }));
}

TEST_F(LeaseLoss, IsSignalledByTheEndOfTheClientAndNotReported) {
  // The objects that on_lost refers to may have been destroyed; a stop_callback unregisters itself
  // in time.
  Lease lease;
  std::stop_token lost;
  std::atomic<int> stopped{0};
  {
    Client client = LeaseLoss::client();
    auto granted = client.try_acquire(resource_, renewed(seconds(30), losses_));
    ASSERT_TRUE(succeeded(granted));
    lease = *std::move(granted);
    lost = lease.lost();
  }
  const std::stop_callback on_stop(lost, [&] { ++stopped; });
  EXPECT_FALSE(lease.valid());
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_TRUE(lease.lost().stop_requested());
  EXPECT_EQ(stopped, 1);
  EXPECT_EQ(losses_.count, 0);
  EXPECT_EQ(shared_nodes().count_held(resource_), 0U);
}

TEST_F(LeaseLoss, OfAMutexIsSignalledByTheEndOfTheClient) {
  auto client = std::make_unique<Client>(LeaseLoss::client());
  Mutex mutex(*client, resource_, renewed(seconds(30), losses_));
  mutex.lock();
  const std::stop_token lost = mutex.lost();
  client.reset();
  EXPECT_FALSE(mutex.valid());
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_TRUE(mutex.lost().stop_requested());
  mutex.unlock();
  EXPECT_EQ(losses_.count, 0);
}

TEST_F(LeaseLoss, IsSignalledBeforeACloseAnswers) {
  AsyncClient client = make_async_client(patient(shared_urls(3)));
  std::promise<Result<Lease>> answered;
  client.try_acquire(resource_, renewed(seconds(30), losses_),
                     [&](Result<Lease> lease) { answered.set_value(std::move(lease)); });
  const auto lease = answered.get_future().get();
  ASSERT_TRUE(succeeded(lease));
  const std::stop_token lost = lease->lost();
  std::promise<bool> closed;
  client.close([&](const CloseReport&) { closed.set_value(lost.stop_requested()); });
  EXPECT_TRUE(closed.get_future().get());
  EXPECT_EQ(losses_.count, 0);
}

TEST_F(LeaseLoss, ComesAtTheDeadlineWhereNobodyRenews) {
  Client client = LeaseLoss::client();
  auto lease = client.try_acquire(
      resource_, {.ttl = milliseconds(300), .renew = false, .on_lost = losses_.listener()});
  ASSERT_TRUE(succeeded(lease));
  const auto deadline = lease->valid_until();
  ASSERT_TRUE(eventually([&] { return losses_.count == 1; }, seconds(30)));
  EXPECT_EQ(lease->valid_until(), deadline);
  EXPECT_GE(BootClock::now(), deadline);
  EXPECT_FALSE(lease->valid());
  EXPECT_TRUE(eventually([&] { return shared_nodes().count_held(resource_) == 0; }));
}

TEST_F(LeaseLoss, IsReportedForEveryLeaseOfOptionsThatAreUsedAgain) {
  Client client = LeaseLoss::client();
  AcquireOptions options{.ttl = milliseconds(300), .renew = false};
  std::atomic<int> reported{0};
  options.on_lost = [&reported, owned = std::make_unique<int>(1)](const Error&) {
    reported += *owned;
  };
  const auto first = client.try_acquire(resource_ + ":1", options);
  const auto second = client.try_acquire(resource_ + ":2", options);
  ASSERT_TRUE(succeeded(first));
  ASSERT_TRUE(succeeded(second));
  EXPECT_TRUE(eventually([&] { return reported == 2; }, seconds(30)));
}

TEST_F(LeaseLoss, WithAnEmptyCallbackIsReportedToNobody) {
  Client client = LeaseLoss::client();
  AcquireOptions options{.ttl = milliseconds(300), .renew = false};
  options.on_lost = std::function<void(const Error&)>();
  options.on_at_risk = std::function<void(std::chrono::nanoseconds)>();
  const auto lease = client.try_acquire(resource_, options);
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }, seconds(30)));
}

TEST_F(LeaseLoss, IsPutOffByRenewals) {
  Client client = LeaseLoss::client();
  auto lease = client.try_acquire(resource_, renewed(seconds(2), losses_));
  ASSERT_TRUE(succeeded(lease));
  const auto deadline = lease->valid_until();
  ASSERT_TRUE(eventually([&] { return BootClock::now() > deadline; }, seconds(30)));
  EXPECT_TRUE(lease->valid());
  EXPECT_GT(lease->valid_until(), deadline);
  EXPECT_EQ(losses_.count, 0);
}

TEST_F(LeaseLoss, ComesAfterTheLastRenewal) {
  Client client = LeaseLoss::client();
  auto options = renewed(milliseconds(600), losses_);
  options.max_renewals = 2;
  auto lease = client.try_acquire(resource_, std::move(options));
  ASSERT_TRUE(succeeded(lease));
  const auto first = lease->valid_until();
  ASSERT_TRUE(eventually([&] { return losses_.count == 1; }, seconds(30)));
  EXPECT_GE(lease->valid_until(), first + milliseconds(200)) << "there was no renewal";
  EXPECT_FALSE(lease->valid());
}

TEST_F(LeaseLoss, ComesAtTheMaximumHold) {
  Client client = LeaseLoss::client();
  auto options = renewed(milliseconds(600), losses_);
  options.max_hold = milliseconds(1500);
  const auto began = BootClock::now();
  auto lease = client.try_acquire(resource_, std::move(options));
  ASSERT_TRUE(succeeded(lease));
  const auto granted = BootClock::now();
  ASSERT_TRUE(eventually([&] { return losses_.count == 1; }, seconds(30)));
  EXPECT_GT(lease->valid_until(), began + milliseconds(600)) << "there was no renewal";
  EXPECT_LE(lease->valid_until(), granted + milliseconds(1500)) << "held longer than allowed";
}

TEST_F(LeaseLoss, IsSeenInsideItsOwnCallback) {
  Client client = LeaseLoss::client();
  auto shared = std::make_shared<Lease>();
  std::atomic<bool> reported{false};
  std::mutex mutex;
  std::unique_lock lock(mutex);
  AcquireOptions options{.ttl = milliseconds(200), .renew = false};
  options.on_lost = [&, shared](const Error&) {
    const std::lock_guard waited(mutex);
    EXPECT_FALSE(shared->valid());
    // Blocking calls from the loop's own thread are refused, not a deadlock.
    EXPECT_TRUE(failed_with(shared->extend(seconds(1)), Errc::would_block));
    EXPECT_TRUE(failed_with(client.try_acquire("x"), Errc::would_block));
    EXPECT_TRUE(failed_with(client.inspect("x"), Errc::would_block));
    *shared = Lease();
    reported = true;
  };
  auto lease = client.try_acquire(resource_, std::move(options));
  ASSERT_TRUE(succeeded(lease));
  *shared = *std::move(lease);
  lock.unlock();
  EXPECT_TRUE(eventually([&] { return reported.load(); }, seconds(30)));
}

TEST_F(LeaseLoss, IsReportedByAStopTokenThatIsObtainedAfterIt) {
  Client client = LeaseLoss::client();
  auto lease = client.try_acquire(resource_, {.ttl = milliseconds(100), .renew = false});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(eventually([&] { return lease->lost().stop_requested(); }, seconds(30)));
}

TEST_F(LeaseLoss, IsNotCausedByASuspectedMinority) {
  Nodes nodes(3);
  Client client = make_client(patient(nodes.urls()));
  auto lease = client.try_acquire(resource_, renewed(seconds(3), losses_));
  ASSERT_TRUE(succeeded(lease));
  nodes[2].stop();
  const auto deadline = lease->valid_until();
  EXPECT_TRUE(
      eventually([&] { return lease->valid_until() > deadline + seconds(1); }, seconds(30)));
  EXPECT_EQ(losses_.count, 0);
  nodes[2].resume();
}

TEST(LeaseObject, WithoutALeaseIsHarmless) {
  Lease none;
  EXPECT_FALSE(none.valid());
  EXPECT_EQ(none.resource(), "");
  EXPECT_TRUE(none.token().empty());
  EXPECT_TRUE(none.detach().resources.empty());
  EXPECT_TRUE(failed_with(none.extend(seconds(1)), Errc::not_holder));
  EXPECT_TRUE(failed_with(none.release(), Errc::not_holder));
  EXPECT_FALSE(none.lost().stop_requested());
  EXPECT_TRUE(none.round().nodes.empty());
}

TEST(LeaseObject, MovesAndReleasesWhatItReplaces) {
  Client client = make_client(patient(shared_urls(3)));
  const auto one = fresh_resource();
  const auto two = fresh_resource();
  auto first = client.try_acquire(one);
  auto second = client.try_acquire(two);
  ASSERT_TRUE(succeeded(first));
  ASSERT_TRUE(succeeded(second));
  Lease lease = *std::move(first);
  lease = *std::move(second);
  EXPECT_EQ(lease.resource(), two);
  EXPECT_TRUE(eventually([&] { return shared_nodes().count_held(one) == 0; }));
  EXPECT_TRUE(lease.valid());
  Lease& alias = lease;
  lease = std::move(alias);
  EXPECT_TRUE(lease.valid()) << "assigned to itself";
}

TEST(LeaseObject, IsExtendedFromManyThreadsAtOnce) {
  Client client = make_client(patient(shared_urls(3)));
  auto lease = client.try_acquire(fresh_resource());
  ASSERT_TRUE(succeeded(lease));
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          EXPECT_TRUE(succeeded(lease->extend(seconds(20 + i % 10))));
          EXPECT_TRUE(lease->valid());
          static_cast<void>(lease->round());
          static_cast<void>(lease->lost());
        }
      });
    }
  }
  EXPECT_GT(lease->remaining(), seconds(20));
}

TEST(S4, TheHolderIsWarnedAheadOfTheLossWhileRenewalsFail) {
  Nodes nodes(3);
  Client client = make_client(impatient(nodes.urls()));
  std::atomic<int> warnings{0};
  std::atomic<bool> lost{false};
  std::atomic<bool> warned_after_loss{false};
  AcquireOptions options{.ttl = seconds(3)};
  options.on_at_risk = [&](std::chrono::nanoseconds left) {
    EXPECT_GT(left, left.zero());
    EXPECT_LE(left, seconds(1));
    ++warnings;
    warned_after_loss = lost.load();
  };
  options.on_lost = [&](const Error&) { lost = true; };
  const auto lease = acquire_patiently(client, "r", std::move(options));
  ASSERT_TRUE(succeeded(lease));
  nodes[0].kill();
  nodes[1].kill();
  EXPECT_TRUE(eventually([&] { return lost.load(); }, seconds(30)));
  EXPECT_EQ(warnings.load(), 1);
  EXPECT_FALSE(warned_after_loss.load());
}

}  // namespace
}  // namespace redlock::test
