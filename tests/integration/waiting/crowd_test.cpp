// Many clients with connections of their own that wait for one lock.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "integration/guarded.hpp"

namespace redlock::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool slow = true;
#else
constexpr bool slow = false;
#endif

/// Only a hang takes this long.
constexpr std::chrono::minutes hang_limit{15};

/// Whether this process may open this many descriptors. A server must be able to as well; it asks
/// for 10,000.
bool may_open(rlim_t descriptors) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < descriptors) return false;
  limit.rlim_cur = std::max(limit.rlim_cur, descriptors);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/// Any number of clients, each with a thread that blocks.
class ACrowd {
 public:
  static constexpr int turns = 2;

  ACrowd(std::size_t size, std::vector<std::string> urls) : options_(patient(std::move(urls))) {
    open_deployment(options_);
    for (std::size_t i = 0; i < size; ++i) {
      threads_.emplace_back([this](const std::stop_token& end) { run(end); });
    }
  }

  void expect_turns() {
    const std::size_t all = threads_.size() * turns;
    EXPECT_TRUE(eventually([&] { return grants_ + failures_ >= all; }, hang_limit))
        << grants_ << " of " << all << " turns, then nothing";
    for (std::jthread& thread : threads_) thread.request_stop();
    threads_.clear();
    EXPECT_EQ(grants_, all);
    EXPECT_EQ(overlaps_, 0U) << "two held the lock at once";
  }

 private:
  void run(const std::stop_token& end) {
    int turn = 0;
    if (auto client = Client::create(options_); succeeded(client)) {
      for (; turn < turns && take_turn(*client, end); ++turn) {
      }
    }
    // Turns that failed are counted, so that nobody waits for them.
    failures_ += static_cast<std::size_t>(turns - turn);
  }

  bool take_turn(Client& client, const std::stop_token& end) {
    auto lease = client.acquire("the lock", {}, end);
    EXPECT_TRUE(succeeded(lease));
    if (!lease) return false;
    if (inside_++ != 0) ++overlaps_;
    std::this_thread::yield();
    --inside_;
    ++grants_;
    EXPECT_TRUE(succeeded(lease->release()));
    return true;
  }

  ClientOptions options_;
  std::atomic<std::size_t> inside_{0};
  std::atomic<std::size_t> overlaps_{0};
  std::atomic<std::size_t> grants_{0};
  std::atomic<std::size_t> failures_{0};
  std::vector<std::jthread> threads_{};  // last: threads use the other members
};

void expect_turns_of(std::size_t clients) {
  // Two connections to each node, six descriptors of the loop, and one more while a connection is
  // made again.
  const rlim_t descriptors = clients * 13 + 256;
  if (!may_open(descriptors)) {
    GTEST_SKIP() << clients << " clients need " << descriptors
                 << " descriptors, and the hard limit (ulimit -Hn) is lower";
  }
  const Nodes nodes(3);
  ACrowd(clients, nodes.urls()).expect_turns();
}

TEST(Crowd, TenClientsAllGetTheirTurns) { expect_turns_of(10); }

TEST(Crowd, AHundredClientsAllGetTheirTurns) { expect_turns_of(slow ? 30 : 100); }

TEST(LargeCrowd, AThousandClientsAllGetTheirTurns) { expect_turns_of(slow ? 100 : 1000); }

}  // namespace
}  // namespace redlock::test
