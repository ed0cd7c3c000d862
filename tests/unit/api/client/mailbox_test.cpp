// Jobs of other threads: in which order they run, and what becomes of those that come too late.

#include "api/client/mailbox.hpp"

#include <gtest/gtest.h>
#include <uv.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "uv/callback.hpp"
#include "uv/loop.hpp"

namespace redlock::api {
namespace {

using Lane = Mailbox::Lane;

struct OnALoop {
  OnALoop() { mailbox.open(loop.get(), uv::Callback::to<&OnALoop::run>(*this)); }
  ~OnALoop() { static_cast<void>(mailbox.close()); }
  OnALoop(const OnALoop&) = delete;
  OnALoop& operator=(const OnALoop&) = delete;

  bool put(char what, Lane lane) {
    Job job = [this, what] { ran += what; };
    return mailbox.put(job, lane);
  }
  void run() noexcept { mailbox.run(); }

  uv::Loop loop;
  Mailbox mailbox;
  std::string ran;
};

TEST(Mailbox, RunsReleasesBeforeAcquiresAndTheRestInOrder) {
  OnALoop box;
  EXPECT_TRUE(box.put('a', Lane::acquire));
  EXPECT_TRUE(box.put('r', Lane::release));
  EXPECT_TRUE(box.put('b', Lane::acquire));
  EXPECT_TRUE(box.put('s', Lane::release));
  EXPECT_EQ(box.mailbox.size(), 4);
  box.run();
  EXPECT_EQ(box.ran, "rsab");
  EXPECT_EQ(box.mailbox.size(), 0);
}

TEST(Mailbox, LetsNoReleasePassAJobOfAnotherKind) {
  OnALoop box;
  EXPECT_TRUE(box.put('a', Lane::acquire));
  EXPECT_TRUE(box.put('x', Lane::last));
  EXPECT_TRUE(box.put('r', Lane::release));
  box.run();
  EXPECT_EQ(box.ran, "axr");
}

TEST(Mailbox, RunsAJobThatAJobPutTheNextTime) {
  OnALoop box;
  Job job = [&] { EXPECT_TRUE(box.put('b', Lane::last)); };
  EXPECT_TRUE(box.mailbox.put(job, Lane::last));
  box.run();
  EXPECT_EQ(box.ran, "");
  box.run();
  EXPECT_EQ(box.ran, "b");
}

TEST(Mailbox, WakesTheLoopOfAnotherThread) {
  OnALoop box;
  std::thread other([&] { EXPECT_TRUE(box.put('a', Lane::last)); });
  while (box.ran.empty()) uv_run(box.loop.get(), UV_RUN_ONCE);
  EXPECT_EQ(box.ran, "a");
  other.join();
}

TEST(Mailbox, ReturnsWhatIsLeftWhenItIsClosedAndTakesNothingMore) {
  OnALoop box;
  EXPECT_TRUE(box.put('a', Lane::acquire));
  EXPECT_TRUE(box.put('r', Lane::release));
  std::vector<Job> late = box.mailbox.close();
  for (Job& job : late) job();
  EXPECT_EQ(box.ran, "ra");
  EXPECT_FALSE(box.put('x', Lane::last));
  box.run();
  EXPECT_EQ(box.ran, "ra");
}

}  // namespace
}  // namespace redlock::api
