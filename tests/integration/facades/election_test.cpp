// P8: campaign, observe, resign; loss of leadership, or its risk, is reported at once.

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class P8 : public testing::Test {
 protected:
  [[nodiscard]] static ElectionOptions candidate(std::string name) {
    ElectionOptions options;
    options.candidate = std::move(name);
    options.ttl = seconds(20);
    options.poll_interval = milliseconds(5);
    return options;
  }

  Client client_ = make_client(patient(shared_urls(5)));
  Client other_ = make_client(patient(shared_urls(5)));
  std::string name_ = fresh_resource();
};

TEST_F(P8, OneLeadsAndATermIsLargerThanTheOneBefore) {
  Election a(client_, name_, candidate("a"));
  Election b(other_, name_, candidate("b"));
  auto first = a.campaign();
  ASSERT_TRUE(succeeded(first));
  EXPECT_TRUE(first->valid());
  const auto refused = b.try_campaign();
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_EQ(who_refused(refused).value().token.value().name(), "a");
  const auto seen = b.leader();
  ASSERT_TRUE(succeeded(seen));
  ASSERT_TRUE(*seen);
  EXPECT_EQ((*seen)->candidate, "a");
  EXPECT_EQ((*seen)->token, first->lease().token());
  ASSERT_TRUE(succeeded(first->resign()));
  EXPECT_FALSE(first->lost().stop_requested()) << "to resign is no loss";
  auto second = b.campaign();
  ASSERT_TRUE(succeeded(second));
  EXPECT_GT(second->term(), first->term());
}

TEST_F(P8, WhatIsHeldByNoTokenHasNoLeader) {
  const auto reader = other_.try_acquire(shared(name_));
  ASSERT_TRUE(succeeded(reader));
  const auto seen = Election(client_, name_, candidate("a")).leader();
  ASSERT_TRUE(succeeded(seen));
  EXPECT_EQ(*seen, std::nullopt);
}

TEST_F(P8, WhoCampaignsFollowsOneThatResigns) {
  Election a(client_, name_, candidate("a"));
  Election b(other_, name_, candidate("b"));
  auto leader = a.campaign();
  ASSERT_TRUE(succeeded(leader));
  std::jthread follower([&] {
    auto next = b.campaign();
    EXPECT_TRUE(succeeded(next));
    EXPECT_GT(next->term(), leader->term());
  });
  ASSERT_TRUE(succeeded(leader->resign()));
}

TEST_F(P8, ACampaignIsStopped) {
  Election a(client_, name_, candidate("a"));
  Election b(other_, name_, candidate("b"));
  const auto leader = a.campaign();
  ASSERT_TRUE(succeeded(leader));
  std::stop_source stop;
  std::jthread stopping([&] { stop.request_stop(); });
  EXPECT_TRUE(failed_with(b.campaign(stop.get_token()), Errc::cancelled));
}

TEST_F(P8, ObserversAreNotifiedOfEveryChange) {
  Election election(client_, name_, candidate("a"));
  Election observer(other_, name_, candidate(""));
  std::mutex mutex;
  std::vector<std::string> seen;
  const auto last = [&] {
    const std::lock_guard lock(mutex);
    return seen.empty() ? std::string() : seen.back();
  };
  std::stop_source stop;
  std::jthread observing([&] {
    const auto observed = observer.observe(
        [&](const std::optional<Leader>& leader) {
          const std::lock_guard lock(mutex);
          seen.push_back(leader ? leader->candidate : "nobody");
        },
        stop.get_token());
    EXPECT_TRUE(succeeded(observed));
  });
  EXPECT_TRUE(eventually([&] { return last() == "nobody"; }));
  auto leader = election.campaign();
  ASSERT_TRUE(succeeded(leader));
  EXPECT_TRUE(eventually([&] { return last() == "a"; }));
  ASSERT_TRUE(succeeded(leader->resign()));
  EXPECT_TRUE(eventually([&] { return last() == "nobody"; }));
  stop.request_stop();
  observing.join();
  EXPECT_EQ(seen, (std::vector<std::string>{"nobody", "a", "nobody"}));
}

TEST(P8OverTheLoss, ALeaderIsWarnedAndNotifiedAndReplaced) {
  Nodes nodes(3);
  Client client = make_client(impatient(nodes.urls()));
  std::atomic<int> warnings{0};
  ElectionOptions options;
  options.candidate = "a";
  options.ttl = seconds(2);
  options.on_at_risk = [&](std::chrono::nanoseconds) { ++warnings; };
  Election election(client, "leader", options);
  auto leader = election.campaign();
  ASSERT_TRUE(succeeded(leader));
  const auto term = leader->term();
  nodes[0].stop();
  nodes[1].stop();
  EXPECT_TRUE(eventually([&] { return leader->lost().stop_requested(); }, seconds(30)));
  EXPECT_EQ(warnings.load(), 1);
  EXPECT_FALSE(leader->valid());
  EXPECT_TRUE(failed_with(election.leader(), Errc::unavailable));
  nodes[0].resume();
  nodes[1].resume();
  auto next = election.campaign();
  ASSERT_TRUE(succeeded(next));
  EXPECT_GT(next->term(), term);
}

}  // namespace
}  // namespace redlock::test
