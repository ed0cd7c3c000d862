// Semaphores (P7) on real servers.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/kinds/kinds.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;

class P7 : public Kinds {
 protected:
  [[nodiscard]] Result<Lease> enter(std::size_t permits) {
    return take(permit(resource_, permits));
  }
};

TEST_F(P7, AsManyAsThereArePermitsAndNoMore) {
  std::vector<Lease> leases;
  std::set<std::string> permits;
  for (int i = 0; i < 4; ++i) {
    auto lease = enter(4);
    ASSERT_TRUE(succeeded(lease)) << i;
    permits.insert(lease->resource());
    leases.push_back(*std::move(lease));
  }
  EXPECT_EQ(permits.size(), 4U);
  EXPECT_TRUE(permits.contains(resource_ + "#0"));
  EXPECT_TRUE(failed_with(enter(4), Errc::held));
  ASSERT_TRUE(succeeded(leases[1].release()));
  const auto next = enter(4);
  ASSERT_TRUE(succeeded(next)) << "one attempt finds the one permit that is free";
}

TEST_F(P7, AWaiterGetsAPermitThatIsGivenBack) {
  auto first = enter(1);
  ASSERT_TRUE(succeeded(first));
  std::jthread leaving([&] { static_cast<void>(first->release()); });
  EXPECT_TRUE(
      succeeded(other_.try_acquire_for(permit(resource_, 1), seconds(60), {.ttl = seconds(20)})));
}

TEST_F(P7, ManyContendersAreNeverMoreThanThePermits) {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 4; ++i) {
          auto lease =
              client_.try_acquire_for(permit(resource_, 2), seconds(120), {.ttl = seconds(30)});
          ASSERT_TRUE(succeeded(lease));
          const int now = inside.fetch_add(1) + 1;
          int seen = most.load();
          while (seen < now && !most.compare_exchange_weak(seen, now)) {
          }
          std::this_thread::yield();
          inside.fetch_sub(1);
          ASSERT_TRUE(succeeded(lease->release()));
        }
      });
    }
  }
  EXPECT_LE(most.load(), 2);
}

}  // namespace
}  // namespace redlock::test
