// Processes that are stopped while they wait for a lock: to the nodes, they are still subscribed.

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "integration/cli/tool.hpp"
#include "integration/library.hpp"
#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {
namespace {

class CliFrozenWaiters : public ::testing::TestWithParam<std::string_view> {
 protected:
  /// Starts a process that waits, and returns when all nodes have queued it.
  void start_waiter() {
    waiters_.push_back(start_tool(
        {"run", "r", "--nodes", nodes_.joined_urls(), "--wait", "10m", "--", "echo", "ran"}));
    ASSERT_TRUE(eventually([this] {
      for (std::size_t node = 0; node < nodes_.size(); ++node) {
        // One more, because the next ticket is queued as well.
        const auto queued = nodes_[node].command({"ZCARD", "redlock:node:queue:r"}).integer;
        if (queued != static_cast<std::int64_t>(waiters_.size()) + 1) return false;
      }
      return true;
    })) << waiters_.back().errors();
  }

  Nodes nodes_{3};
  std::vector<ChildProcess> waiters_;
};

TEST_P(CliFrozenWaiters, DoNotKeepTheNextThatLivesWaiting) {
  Client client = make_client(patient(nodes_.urls()));
  auto lease = client.try_acquire("r", {.ttl = std::chrono::seconds(30)});
  ASSERT_TRUE(succeeded(lease));
  for (std::size_t i = 0; i < GetParam().size(); ++i) ASSERT_NO_FATAL_FAILURE(start_waiter());
  std::vector<const ChildProcess*> live;
  for (std::size_t i = 0; i < waiters_.size(); ++i) {
    if (GetParam()[i] == 'L') {
      live.push_back(&waiters_[i]);
      continue;
    }
    waiters_[i].signal(SIGSTOP);
    ASSERT_TRUE(eventually([&] { return process_stopped(waiters_[i].pid()); }));
  }
  ASSERT_TRUE(succeeded(lease->release()));
  // Each stopped process costs 20 ms. When a waiter noticed it at its next attempt, each cost 2.3
  // s.
  constexpr std::chrono::seconds limit(10);
  for (const ChildProcess* waiter : live) {
    EXPECT_TRUE(waiter->wait_for_output("ran", limit)) << waiter->errors();
  }
  for (std::size_t i = 0; i < waiters_.size(); ++i) {
    if (GetParam()[i] == 'L') continue;
    waiters_[i].signal(SIGCONT);
  }
  for (ChildProcess& waiter : waiters_) {
    EXPECT_EQ(waiter.wait(), (ExitStatus{0, 0})) << "all have a turn: " << waiter.errors();
  }
}

/// 'F': a process that is stopped, 'L': one that goes on; in the order of the queue.
INSTANTIATE_TEST_SUITE_P(Queues, CliFrozenWaiters,
                         testing::Values("FFFFFFLF", "FFFFFFFFFFFFLF", "FFFFFFLFF", "FLFLFLFLF",
                                         "FFFFFFFFL"));

}  // namespace
}  // namespace redlock::test
