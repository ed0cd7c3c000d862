// Which thread runs the loop of a client, and who waits for it.

#include "api/client/client_loop.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "uv/loop.hpp"

namespace redlock::api {
namespace {

struct Stopping {
  void stop() noexcept { stopped = true; }
  [[nodiscard]] uv::Callback on_stop() { return uv::Callback::to<&Stopping::stop>(*this); }
  bool stopped = false;
};

TEST(ClientLoop, OfACallerIsThatOfTheThreadThatRanItLast) {
  uv::Loop callers;
  Stopping stopping;
  ClientLoop loop;
  EXPECT_EQ(loop.open(callers.get(), stopping.on_stop(), uv::LoopThread::Lending::never),
            callers.get());
  loop.start();
  EXPECT_FALSE(loop.has_thread());
  EXPECT_TRUE(loop.is_mine());
  std::thread other([&] {
    EXPECT_FALSE(loop.is_mine());
    loop.note_turn();
    EXPECT_TRUE(loop.is_mine());
  });
  other.join();
  EXPECT_FALSE(loop.is_mine());
  EXPECT_FALSE(loop.try_borrow());
  EXPECT_FALSE(loop.lends());
  loop.want();
  loop.stop();
  EXPECT_FALSE(stopping.stopped) << "the caller's loop has no thread to stop";
}

TEST(ClientLoop, WithAThreadOfItsOwnIsNeverTheCallers) {
  Stopping stopping;
  ClientLoop loop;
  EXPECT_NE(loop.open(nullptr, stopping.on_stop(), uv::LoopThread::Lending::never), nullptr);
  loop.start();
  EXPECT_TRUE(loop.has_thread());
  EXPECT_FALSE(loop.is_mine());
  EXPECT_FALSE(loop.try_borrow()) << "it does not lend";
  loop.stop();
  EXPECT_TRUE(stopping.stopped);
}

TEST(ClientLoop, IsTheBorrowersUntilItIsGivenBack) {
  Stopping stopping;
  ClientLoop loop;
  loop.open(nullptr, stopping.on_stop(), uv::LoopThread::Lending::when_idle);
  loop.start();
  EXPECT_TRUE(loop.lends());
  while (!loop.try_borrow()) std::this_thread::yield();
  EXPECT_TRUE(loop.is_mine());
  EXPECT_TRUE(loop.is_borrowed());
  loop.give_back(true);
  EXPECT_FALSE(loop.is_mine());
  loop.stop();
  EXPECT_TRUE(stopping.stopped);
}

TEST(ClientLoop, CountsTheCallersThatAreAnsweredInATurn) {
  uv::Loop callers;
  Stopping stopping;
  ClientLoop loop;
  loop.open(callers.get(), stopping.on_stop(), uv::LoopThread::Lending::never);
  uv::BlockedThreads::Wait first;
  uv::BlockedThreads::Wait second;
  std::thread waiting([&] {
    loop.begin_waiting();
    loop.wait(first);
  });
  loop.end_waiting(first);
  loop.end_waiting(second);
  EXPECT_EQ(loop.take_answered(), 0) << "they have not been woken";
  loop.wake_answered();
  waiting.join();
  EXPECT_EQ(loop.take_answered(), 2);
  EXPECT_EQ(loop.take_answered(), 0);
}

}  // namespace
}  // namespace redlock::api
