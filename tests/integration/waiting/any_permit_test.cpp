// Callers that wait for one of many permits, or for many resources, more than a caller joins the
// queues of one by one: they are notified, and do not poll.

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "integration/guarded.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

constexpr std::size_t permits = 20;

class AnyPermit : public testing::Test {
 protected:
  void SetUp() override { take_all(seconds(300)); }
  [[nodiscard]] ClientOptions options() {
    ClientOptions options = patient(nodes_.urls());
    options.max_ttl = seconds(300);
    return options;
  }
  void take_all(std::chrono::nanoseconds ttl) {
    while (leases_.size() < permits) {
      auto lease = acquire_patiently(holder_, jobs_, {.ttl = ttl});
      ASSERT_TRUE(succeeded(lease));
      leases_.push_back(*std::move(lease));
    }
  }
  [[nodiscard]] static auto in_background(Client& client, const Target& target) {
    return std::async(std::launch::async, [&client, target] {
      return client.try_acquire_for(target, seconds(120), {.ttl = seconds(300)});
    });
  }
  /// Waits until `clients` clients are in the queue of every node.
  [[nodiscard]] bool soon_queued(std::int64_t clients, const std::string& key = "jobs#") {
    return eventually([&] { return are_queued(nodes_, key, clients); });
  }
  /// The number of scripts that all nodes have run. Other calls return after a quorum's answers. An
  /// inspection waits for all nodes, and each node answers in order, so no earlier call is still
  /// under way.
  [[nodiscard]] int scripts_run() {
    EXPECT_TRUE(succeeded(holder_.inspect("jobs#0")));
    EXPECT_TRUE(succeeded(waiter_.inspect("jobs#0")));
    int all = 0;
    for (const RedisServer& node : nodes_) all += calls(node, "evalsha") + calls(node, "eval");
    return all;
  }
  /// The most scripts of one wait: on each of three nodes an attempt, joining the queue, another
  /// attempt, and leaving the queue; a script may have to be sent in full, a refused attempt is
  /// released, and each client inspects. A client that polls runs twenty scripts per second.
  static constexpr int scripts_of_a_wait = 3 * 18;

  Nodes nodes_{3, {}, seconds(300)};
  Client holder_ = make_client(options());
  Client waiter_ = make_client(options());
  Target jobs_ = permit("jobs", permits);
  std::vector<Lease> leases_;
};

TEST_F(AnyPermit, IsHandedOverByANotification) {
  auto waiting = in_background(waiter_, jobs_);
  ASSERT_TRUE(soon_queued(1));
  const int before = scripts_run();
  const std::string permit = leases_[7].resource();
  ASSERT_TRUE(succeeded(leases_[7].release()));
  const auto lease = waiting.get();
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(lease->resource(), permit);
  EXPECT_LE(scripts_run() - before, scripts_of_a_wait);
  EXPECT_TRUE(soon_queued(0)) << "it has left";
}

TEST_F(AnyPermit, IsNotPolledFor) {
  const int before = scripts_run();
  EXPECT_TRUE(failed_with(waiter_.try_acquire_for(jobs_, seconds(2)), Errc::held));
  EXPECT_LE(scripts_run() - before, scripts_of_a_wait);
  EXPECT_TRUE(soon_queued(0));
}

TEST_F(AnyPermit, IsHandedToEachOfThoseThatWait) {
  std::vector<Client> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(make_client(options()));
  std::vector<std::future<Result<Lease>>> waiting;
  for (Client& client : clients) waiting.push_back(in_background(client, jobs_));
  ASSERT_TRUE(soon_queued(5));
  // Two callers of one client, which asks for one at a time.
  waiting.push_back(in_background(clients[0], jobs_));
  for (std::size_t i = 0; i < waiting.size(); ++i) ASSERT_TRUE(succeeded(leases_[3 * i].release()));
  for (auto& call : waiting) EXPECT_TRUE(succeeded(call.get()));
  EXPECT_TRUE(soon_queued(0));
}

TEST_F(AnyPermit, IsTakenWhenItExpires) {
  auto waiting = in_background(waiter_, jobs_);
  ASSERT_TRUE(soon_queued(1));
  for (const RedisServer& node : nodes_) node.command({"PEXPIRE", leases_[11].resource(), "1500"});
  auto other = in_background(holder_, jobs_);
  ASSERT_TRUE(soon_queued(2));
  // No waiter is notified of an expiry. The first waiter to retry gets the permit.
  const auto is_over = [](const auto& call) {
    return call.wait_for(seconds(0)) == std::future_status::ready;
  };
  EXPECT_TRUE(eventually([&] { return is_over(waiting) || is_over(other); }));
  ASSERT_TRUE(succeeded(leases_[2].release()));
  EXPECT_TRUE(succeeded(waiting.get()));
  EXPECT_TRUE(succeeded(other.get()));
}

TEST_F(AnyPermit, ComesToWhoWaitsForSoManyResourcesAsWell) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < permits; ++i) names.emplace_back("r").append(std::to_string(i));
  auto blocking = acquire_patiently(holder_, "r17", {.ttl = seconds(300)});
  ASSERT_TRUE(succeeded(blocking));
  int before = scripts_run();
  EXPECT_TRUE(failed_with(waiter_.try_acquire_for(all_of(names), seconds(2)), Errc::held));
  EXPECT_LE(scripts_run() - before, scripts_of_a_wait) << "it does not poll";
  auto waiting = in_background(waiter_, all_of(names));
  ASSERT_TRUE(soon_queued(1, "r17"));
  before = scripts_run();
  ASSERT_TRUE(succeeded(blocking->release()));
  EXPECT_TRUE(succeeded(waiting.get()));
  EXPECT_LE(scripts_run() - before, scripts_of_a_wait);
}

}  // namespace
}  // namespace redlock::test
