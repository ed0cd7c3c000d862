// What runs at the end of a turn: in order, and the user's code only where it may run.

#include "api/client/completions.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "api/client/observing.hpp"

namespace redlock::api {
namespace {

constexpr bool own_loop = false;
constexpr bool borrowed = true;
constexpr bool asynchronous = false;
constexpr bool blocking = true;

/// Writes down what runs: answers in lower case, other code of the user's in upper case, and a dot
/// for the call before the user's code.
struct Story {
  [[nodiscard]] auto line(char what) {
    return [this, what] { text += what; };
  }
  void run(bool on_borrowed_loop, bool of_blocking_client) {
    completions.run(on_borrowed_loop, of_blocking_client, line('.'));
  }

  std::string text;
  Completions completions;
};

TEST(Completions, RunOnceInTheOrderInWhichTheyWereAdded) {
  Story story;
  story.completions.post(story.line('a'));
  story.completions.notify(story.line('U'));
  story.completions.answer(
      Answer<Ownership>([&](const Result<Ownership>& held) { story.text += held ? 'b' : '?'; }),
      Ownership::held);
  EXPECT_FALSE(story.completions.empty());
  story.run(own_loop, blocking);
  EXPECT_EQ(story.text, "a.Ub");
  EXPECT_TRUE(story.completions.empty());
  story.run(own_loop, blocking);
  EXPECT_EQ(story.text, "a.Ub");
}

TEST(Completions, OfAnAsynchronousClientAllRunCodeOfTheUser) {
  Story story;
  story.completions.post(story.line('a'));
  story.completions.notify(story.line('U'));
  story.run(own_loop, asynchronous);
  EXPECT_EQ(story.text, ".a.U");
}

TEST(Completions, ThatAreAddedMeanwhileRunTheNextTime) {
  Story story;
  story.completions.post([&] {
    EXPECT_TRUE(story.completions.running());
    story.completions.post(story.line('b'));
  });
  story.run(own_loop, blocking);
  EXPECT_EQ(story.text, "");
  EXPECT_FALSE(story.completions.running());
  story.run(own_loop, blocking);
  EXPECT_EQ(story.text, "b");
}

TEST(Completions, OnABorrowedLoopTheUsersCodeWaitsForTheThread) {
  Story story;
  story.completions.notify(story.line('U'));
  story.completions.post(story.line('a'));
  story.run(borrowed, blocking);
  EXPECT_EQ(story.text, "a");
  EXPECT_TRUE(story.completions.want_the_thread());
  story.completions.notify(story.line('V'));
  story.run(own_loop, blocking);
  EXPECT_EQ(story.text, "aU.V");
  EXPECT_FALSE(story.completions.want_the_thread());
}

TEST(Completions, DestroyTheCapturesOfSpentCallbacksInTheirTurn) {
  const auto captured = std::make_shared<int>();
  Completions completions;
  LeaseCallbacks callbacks;
  callbacks.on_lost = [captured](const Error&) {};
  completions.spend(std::move(callbacks));
  EXPECT_EQ(captured.use_count(), 2);
  completions.run(own_loop, blocking, [] {});
  EXPECT_EQ(captured.use_count(), 1);
  completions.spend({});
  EXPECT_TRUE(completions.empty()) << "there is nothing to destroy";
}

struct Listening final : Observer {
  void acquire_began(const AcquireObservation& call) noexcept override {
    text += "began " + call.resource + ';';
  }
  void acquire_ended(const AcquireObservation& call) noexcept override {
    text += "ended " + std::string(call.failure ? to_string(*call.failure) : "granted") + ';';
  }
  std::string text;
};

TEST(Observing, IsACompletion) {
  Completions completions;
  Listening observer;
  Observing observing(&observer, completions);
  observing.began(core::CallId{7}, "r");
  observing.ended(core::CallId{7}, "r", Errc::held);
  EXPECT_EQ(observer.text, "");
  completions.run(own_loop, blocking, [] {});
  EXPECT_EQ(observer.text, "began r;ended held;");
}

TEST(Observing, WithoutAnObserverAddsNothing) {
  Completions completions;
  Observing observing(nullptr, completions);
  observing.began(core::CallId{7}, "r");
  EXPECT_FALSE(observing.has_observer());
  EXPECT_TRUE(completions.empty());
}

}  // namespace
}  // namespace redlock::api
