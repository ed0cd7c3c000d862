#include "uv/blocked_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace redlock::uv::test {
namespace {

TEST(BlockedThreads, DoNotBlockWhereTheWaitIsOver) {
  BlockedThreads blocked;
  BlockedThreads::Wait wait;
  blocked.end(wait);
  blocked.block(wait);
  EXPECT_EQ(blocked.wake(), 1U);
  EXPECT_EQ(blocked.wake(), 0U);
}

/// A thread that waits for one answer after the other.
struct Caller {
  std::atomic<BlockedThreads::Wait*> wait{nullptr};
  int answers = 0;  // of the thread

  void run(BlockedThreads& blocked, int rounds, std::atomic<int>& left) {
    for (; answers < rounds; ++answers) {
      BlockedThreads::Wait mine;
      wait = &mine;
      blocked.block(mine);
    }
    --left;
  }
};

/// Answers the waiting callers, `at_a_time` together, until all have gone.
void answer_all(BlockedThreads& blocked, std::vector<Caller>& callers, const std::atomic<int>& left,
                std::size_t at_a_time) {
  while (left != 0) {
    std::size_t ended = 0;
    for (Caller& caller : callers) {
      if (auto* const wait = caller.wait.exchange(nullptr)) {
        blocked.end(*wait);
        ++ended;
      }
      if (ended == at_a_time) break;
    }
    EXPECT_EQ(blocked.wake(), ended);
    if (ended == 0) std::this_thread::yield();
  }
}

/// 150 threads: more than there are seats.
TEST(BlockedThreads, AreAllWokenHoweverManyAreAnsweredTogether) {
  constexpr std::size_t threads = 150;
  constexpr int rounds = 40;
  for (const std::size_t at_a_time : {std::size_t{1}, std::size_t{7}, threads}) {
    BlockedThreads blocked;
    std::vector<Caller> callers(threads);
    std::atomic<int> left{threads};
    std::vector<std::thread> running;
    running.reserve(threads);
    for (Caller& caller : callers) {
      running.emplace_back([&] { caller.run(blocked, rounds, left); });
    }
    answer_all(blocked, callers, left, at_a_time);
    for (std::thread& thread : running) thread.join();
    for (const Caller& caller : callers) EXPECT_EQ(caller.answers, rounds);
  }
}

TEST(BlockedThreads, SeeWhatWasWrittenBeforeTheAnswer) {
  BlockedThreads blocked;
  for (int round = 1; round <= 500; ++round) {
    int written = 0;
    BlockedThreads::Wait wait;
    std::thread answers([&] {
      written = round;
      blocked.end(wait);
      blocked.wake();
    });
    blocked.block(wait);
    EXPECT_EQ(written, round);
    answers.join();
  }
}

TEST(BlockedThreads, AreAnsweredBySeveralThreadsAtOnce) {
  constexpr int callers = 8;
  BlockedThreads blocked;
  std::vector<std::thread> threads;
  std::atomic<int> answered{0};
  for (int i = 0; i < callers; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        BlockedThreads::Wait wait;
        std::thread answers([&] {
          blocked.end(wait);
          blocked.wake();
        });
        blocked.block(wait);
        ++answered;
        answers.join();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, callers * 200);
}

}  // namespace
}  // namespace redlock::uv::test
