// What the former owner of a lease that is handed on does to its new owner: nothing.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "integration/library.hpp"
#include "redis/scripts_embedded.hpp"
#include "redlock/detached_lease.hpp"
#include "support/tcp_proxy.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(HandingOn, ALostLeaseHandsOutNothing) {
  Client client = make_client(patient(shared_urls(3)));
  const std::string resource = fresh_resource();
  const std::vector<Target> targets = {Target(resource), shared(resource + ":r"),
                                       owned(resource + ":o", "nightly"),
                                       all_of({resource + ":1", resource + ":2"})};
  for (const Target& target : targets) {
    auto lease = client.try_acquire(target, {.ttl = milliseconds(300), .renew = false});
    ASSERT_TRUE(succeeded(lease));
    ASSERT_TRUE(eventually([&] { return !lease->valid(); }));
    EXPECT_EQ(lease->detach(), DetachedLease()) << target.resource();
  }
}

TEST(HandingOn, ALeaseOfAClientThatClosedHandsOutNothing) {
  auto client = std::make_unique<Client>(make_client(patient(shared_urls(3))));
  auto lease = client->try_acquire(fresh_resource(), {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(lease));
  client.reset();
  EXPECT_EQ(lease->detach(), DetachedLease());
}

/// The giver reaches its nodes through proxies, which can hold back its requests; others reach them
/// at once. Without the restart guard, which would take the proxies for other members.
class LateRequests : public testing::Test {
 protected:
  LateRequests() {
    for (const RedisServer& node : nodes_) {
      // A request whose script the node does not know is not repeated after the hand-over.
      for (const auto& script : {redis::scripts::extend, redis::scripts::extends}) {
        node.command({"SCRIPT", "LOAD", std::string(script.text)});
      }
      proxies_.push_back(std::make_unique<TcpProxy>(node.port()));
      giver_urls_.push_back(proxies_.back()->url());
    }
    giver_.emplace(make_async_client(unguarded(patient(giver_urls_))));
  }

  [[nodiscard]] Lease acquire(AcquireOptions options) {
    std::promise<Result<Lease>> granted;
    giver_->try_acquire_for(resource_, seconds(30), std::move(options),
                            [&](Result<Lease> lease) { granted.set_value(std::move(lease)); });
    auto lease = granted.get_future().get();
    EXPECT_TRUE(succeeded(lease));
    EXPECT_TRUE(eventually([&] { return nodes_.count_held(resource_) == 3; }));
    return lease ? *std::move(lease) : Lease();
  }

  /// Begins an extend whose requests to these nodes do not arrive.
  void begin_extend(const Lease& lease, const std::vector<std::size_t>& held_back) {
    for (const std::size_t node : held_back) proxies_[node]->set(Direction::requests, Flow::hold);
    std::vector<std::size_t> before;
    for (const auto& proxy : proxies_) before.push_back(proxy->request_bytes_received());
    giver_->extend(lease, seconds(20), [](const Result<Round>&) {});
    for (std::size_t node = 0; node < proxies_.size(); ++node) {
      EXPECT_TRUE(eventually(
          [&] { return proxies_[node]->request_bytes_received() > before[node]; }, seconds(30)));
    }
  }

  /// The requests arrive, and the giver ends when all are answered.
  void deliver() {
    for (const auto& proxy : proxies_) proxy->pass();
    giver_.reset();
  }

  Nodes nodes_{3};
  std::vector<std::unique_ptr<TcpProxy>> proxies_;
  std::vector<std::string> giver_urls_;
  std::optional<AsyncClient> giver_;
  Client taker_ = make_client(unguarded(patient(nodes_.urls())));
  Client other_ = make_client(unguarded(patient(nodes_.urls())));
  const std::string resource_ = "r";
};

TEST_F(LateRequests, DoNotBringBackALockThatSomebodyElseHadSince) {
  Lease lease = acquire({.ttl = seconds(5), .renew = false, .fencing = true});
  begin_extend(lease, {0, 1, 2});
  const DetachedLease detached = lease.detach();
  ASSERT_TRUE(detached.fencing_token);
  ASSERT_TRUE(eventually([&] { return nodes_.count_held(resource_) == 0; }, seconds(30)))
      << "it expires";
  {
    auto next = acquire_patiently(other_, resource_, {.fencing = true});
    ASSERT_TRUE(succeeded(next));
    ASSERT_GT(next->fencing_token(), detached.fencing_token);
    ASSERT_TRUE(succeeded(next->release()));
  }
  ASSERT_TRUE(eventually([&] { return nodes_.count_held(resource_) == 0; }));
  deliver();
  EXPECT_EQ(nodes_.count_held(resource_), 0U);
  const auto adopted = taker_.adopt(detached);
  EXPECT_TRUE(failed_with(adopted, Errc::not_holder)) << "its fencing number is too small";
}

TEST_F(LateRequests, DoNotBringBackALockThatItsNewOwnerReleased) {
  Lease lease = acquire({.ttl = seconds(20), .renew = false});
  begin_extend(lease, {1, 2});
  const DetachedLease detached = lease.detach();
  auto adopted = taker_.adopt(detached, {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(adopted));
  ASSERT_TRUE(succeeded(adopted->release()));
  ASSERT_TRUE(eventually([&] { return nodes_.count_held(resource_) == 0; }));
  deliver();
  EXPECT_EQ(nodes_.count_held(resource_), 0U);
  EXPECT_TRUE(succeeded(other_.try_acquire(resource_)));
}

}  // namespace
}  // namespace redlock::test
