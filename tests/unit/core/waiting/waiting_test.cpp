// Waiting without polling: nodes keep a queue, and notify its first client.

#include <gtest/gtest.h>

#include <string>

#include "core/waiting/waited_keys.hpp"
#include "unit/core/waiting/waiting.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

TEST(Queues, LetSleepWhoStandsInAQuorumOfThem) {
  Refused h;
  h.subscribed({0, 1});
  EXPECT_EQ(h.until_deadline(), 100us) << "until then it retries soon";
  h.queued({0}, {7});
  EXPECT_EQ(h.until_deadline(), 100us);
  h.queued({1}, {7});
  h.subscribed({2});
  h.queued({2}, {7});
  EXPECT_EQ(h.pass(2390ms), "");
  EXPECT_EQ(h.pass(20ms), "take t3 ticket 7 -> 0 1 2") << "a notification may be lost";
}

TEST(Queues, HaveAClientRetryAtOnceWhenTheResourceIsFree) {
  Refused h;
  h.subscribed({0, 1, 2});
  EXPECT_EQ(h.answer(0, Reply::gone), "");
  EXPECT_EQ(h.answer(1, Reply::gone), "take t3 ticket 0 -> 0 1 2");
}

TEST(Queues, NotifyAReaderThatFindsAWriterLeaving) {
  Connected h(4);
  h.shows_notifications = h.random.shortest = true;
  h.step(reading(1));
  h.answers({0, 1, 2, 3}, Reply::taken, holder, 10s);
  h.answers({2, 3}, Reply::gone);
  h.subscribed({0, 1, 2, 3});
  h.queued({0, 1, 2, 3}, {7});
  EXPECT_EQ(h.pass(2400ms), "enter t3 -> 0 1 2 3");
  h.answers({0, 1}, Reply::granted);
  h.notified(0, "resource");
  EXPECT_EQ(h.answers({2, 3}, Reply::taken, holder, 10s), "release t3 -> 0 1");
  h.answers({0, 1}, Reply::released);
  EXPECT_EQ(h.notified(2, "resource"), "enter t4 -> 0 1 2 3")
      << "two let it in, and a third would: no need to wait and see";
}

/// A client that is queued, and whose checks the text shows.
struct Checking : Queued {
  Checking() { shows_checks = true; }
};

TEST(Checks, AskOneNodeAfterTheOtherAndEachLessThanOncePerSecond) {
  Checking h;
  EXPECT_EQ(h.pass(470ms), "");
  EXPECT_EQ(h.pass(5ms), "check resource -> 1");
  h.queued({1}, {7});
  EXPECT_EQ(h.pass(475ms), "check resource -> 2");
  h.queued({2}, {7});
  EXPECT_EQ(h.pass(475ms), "check resource -> 0");
  h.queued({0}, {7});
}

TEST(Checks, ThatFindTheKeyFreeOnAQuorumHaveTheClientAskAtOnce) {
  Checking h;
  h.pass(475ms);
  EXPECT_EQ(h.placed({1}, Reply::gone, {}, {}, {7}), "check resource -> 0 2");
  EXPECT_EQ(h.placed({2}, Reply::gone, {}, {}, {7}), "take t3 ticket 7 -> 0 1 2");
}

TEST(Checks, OfThousandsOfKeysAreAtMostTwoThousandInASecond) {
  Checking h;
  for (std::uint64_t i = 2; i <= 4000; ++i) {
    const std::string resource = "resource " + std::to_string(i);
    Acquire event;
    event.request = CallId{i};
    event.resource = resource;
    event.ttl = 10s;
    event.wait = 60s;
    h.step(event);
    h.refused({0, 1}, holder, 10s, {7});
    h.refused({2}, holder, 10s, {7});
    h.queued({0, 1, 2}, {7});
  }
  std::size_t checks = 0;
  for (int i = 0; i < 20; ++i) {
    const std::string out = h.pass(100ms);
    for (std::size_t at = 0; (at = out.find("check", at)) != std::string::npos; ++at) ++checks;
  }
  EXPECT_GE(checks, 1000U);
  EXPECT_LE(checks, 4000U + 500U);
}

TEST(Checks, AreMadeByOneOfTheCallersOfAClient) {
  Checking h;
  h.acquire(2, 10s, 60s);
  h.refuse(holder);
  EXPECT_EQ(h.pass(475ms), "check resource -> 1");
  h.queued({1}, {7});
  h.cancel(1);
  EXPECT_EQ(h.pass(475ms), "check resource -> 2") << "the other caller";
}

TEST(Queues, OfAnIntervalAreNotLeftToTheFirstWhoMayBeGone) {
  Connected h(3);
  h.shows_notifications = h.random.shortest = true;
  h.acquire(1, 10s, 60s);
  h.refused({0, 1, 2}, "redlock:cooldown", 500ms, {});
  if (h.open(2) > 0) h.answer(2, Reply::gone);
  h.subscribed({0, 1, 2});
  h.queued({0, 1, 2}, {7});
  EXPECT_EQ(h.pass(501ms), "take t3 ticket 7 -> 0 1 2");
  h.refused({0, 1, 2}, "redlock:cooldown", 300ms, {7});
  if (h.open(2) > 0) h.answer(2, Reply::gone);
  EXPECT_EQ(h.pass(320ms), "") << "the first asks now";
  EXPECT_EQ(h.pass(1ms), "take t4 ticket 7 -> 0 1 2");
}

TEST(Queues, WakeWhoHearsThemNoMore) {
  Queued h;
  EXPECT_EQ(h.unsubscribed(2), "") << "two are enough";
  EXPECT_EQ(h.pass(100ms), "");
  EXPECT_EQ(h.unsubscribed(1), "");
  EXPECT_EQ(h.pass(50ms), "set t3 -> 0 1 2") << "no quorum would notify it";
  EXPECT_EQ(h.refuse(holder), "") << "nobody is asked again at once";
}

TEST(Queues, ThatComeAndGoPutNobodyOff) {
  Queued h;
  h.random.shortest = false;
  h.unsubscribed(1);
  h.unsubscribed(2);
  for (int i = 0; i < 12; ++i) {
    h.pass(51ms);
    h.refuse(holder);
  }
  std::string attempts;
  for (int i = 0; i < 60; ++i) {
    h.unsubscribed(static_cast<NodeIndex>(i % 3));
    attempts += h.pass(1ms);
  }
  EXPECT_NE(attempts.find("set "), std::string::npos) << "50 ms is the longest pause";
}

TEST(Queues, OfANodeThatComesBackAreEnteredAgain) {
  Queued h;
  EXPECT_EQ(h.down(2), "unsubscribe 2");
  h.up(2);
  EXPECT_EQ(h.down(1), "unsubscribe 1");
  EXPECT_EQ(h.pass(50ms).find("set t3 -> 0 2"), 0U);
  EXPECT_EQ(h.refused({0, 2}, holder, 10s, {}), "release t3 -> 2; subscribe 2");
  EXPECT_EQ(h.subscribed({2}), "queue resource ticket 7 -> 2");
}

TEST(Queues, LetOneOfAClientTryAtATime) {
  Queued h;
  h.acquire(2, 10s, 60s);
  EXPECT_EQ(h.answers({0, 1, 2}, Reply::taken, holder, 50ms), "");
  std::string second;
  for (int passed = 0; passed < 200 && second.empty(); ++passed) second = h.pass(1ms);
  EXPECT_EQ(second, "take t4 ticket 7 -> 0 1 2") << "what it saw runs out";
  h.notified(0, "resource");
  EXPECT_EQ(h.notified(1, "resource"), "take t5 ticket 7 -> 0 1 2") << "the first";
  h.notified(0, "resource");
  h.notified(1, "resource");
  h.refused({0, 1}, holder, 10s, {7});
  EXPECT_EQ(h.tick(), "") << "two that try would divide the nodes between them";
}

TEST(Queues, PassATurnOnThatNobodyTook) {
  Queued h;
  h.acquire(2, 10s, 60s);
  h.refuse(holder);
  h.notified(0, "resource");
  EXPECT_EQ(h.notified(1, "resource"), "take t4 ticket 7 -> 0 1 2");
  EXPECT_EQ(h.cancel(1),
            "release t4 -> 0 1 2; failed #1 cancelled; queue resource ticket 7 -> 0 1 2")
      << "its attempt may take the client out of the queue";
  EXPECT_EQ(h.tick(), "take t5 ticket 7 -> 0 1 2") << "the next in the queue was notified as well";
}

TEST(Queues, LetNewHoldsInAgainWhenWhoHadThemRefusedLeaves) {
  Queued h("shared");
  h.pass(2400ms);
  EXPECT_EQ(h.answers({0, 1}, Reply::taken, "shared", 3s), "");
  EXPECT_EQ(h.cancel(1), "failed #1 cancelled; leave resource and let others in -> 0 1 2");
}

TEST(Queues, DoNotHaveAClientQueuedAsAReaderThatAlsoWaitsToWrite) {
  QueuedReader h;
  h.acquire(2, 10s, 60s);
  EXPECT_EQ(h.refused({0, 1}, holder, 10s, {}), "queue resource ticket 7 -> 0 1 2");
  EXPECT_EQ(h.cancel(2), "failed #2 cancelled; queue resource as a reader ticket 7 -> 0 1 2");
}

TEST(Queues, AreEnteredInFullWhereTheScriptIsNotKnownAnyMore) {
  Refused h;
  h.subscribed({0, 1, 2});
  h.queued({0, 1}, {7});
  EXPECT_EQ(h.answer(2, Reply::script_missing), "queue resource ticket 7 in full -> 2");
  EXPECT_EQ(h.answer(2, Reply::script_missing), "") << "it will never know it";
}

/// A caller that waits for three seconds, in which it asks once.
struct WaitsForLong : Queued {
  WaitsForLong() {
    answers_probes = false;
    pass(2400ms);
    refused({0, 1, 2}, holder, 10s, {7});
    asked = pass(600ms);
  }
  std::string asked;
};

TEST(Subscriptions, AreAskedForAWordWhileSomebodyWaits) {
  WaitsForLong h;
  EXPECT_EQ(h.asked, "probe 0 1 2");
  EXPECT_EQ(h.subscribed({0, 1, 2}), "");
  h.cancel(1);
  h.answers({0, 1, 2}, Reply::done);
  EXPECT_EQ(h.pass(1min), "");
}

TEST(Subscriptions, OnWhichNothingIsAnsweredAreMadeAgain) {
  WaitsForLong h;
  h.subscribed({0, 1});
  EXPECT_EQ(h.pass(1s), "unsubscribe 2; subscribe 2");
  EXPECT_EQ(h.subscribed({2}), "queue resource ticket 7 -> 2");
}

TEST(Subscriptions, ThatCannotBeMadeInTimeAreTriedAgainLater) {
  Refused h;
  h.subscribed({0, 1});
  h.queued({0, 1}, {7});
  EXPECT_EQ(h.pass(1s), "unsubscribe 2");
}

TEST(Queues, AreEnteredAgainBeforeNodesForget) {
  QueuedReader h;
  std::string asked;
  for (int i = 0; i < 5; ++i) {
    h.pass(2400ms);
    asked = h.answers({0, 1}, Reply::taken, holder, 10s);
    h.answer(2, Reply::taken, holder, 10s);
  }
  EXPECT_NE(asked.find("queue resource as a reader ticket 7 -> 0 1 2"), std::string::npos) << asked;
}

TEST(WaitedKeys, ForgetsKeysButForAFew) {
  Pool<Acquisition> acquisitions;
  WaitedKeys queue(acquisitions);
  for (std::uint32_t i = 0; i < 100; ++i) {
    WaitedKeys::Key& key = queue.note(std::to_string(i)).second;
    key.waiters.add(i + 1, i);
    queue.forget_later(key);
    queue.begin_step();
    EXPECT_NE(queue.find(key.id), nullptr) << "somebody waits";
    key.waiters.remove(i + 1);
    queue.forget_later(key);
    queue.begin_step();
  }
  EXPECT_EQ(queue.all().size(), 32U);
}

TEST(Sleepers, AreWokenByANotificationThatOvertakesTheAnswerThatQueuesThem) {
  Queued h;
  h.acquire(2, 10s, 60s);
  h.refuse(holder);
  h.notified(0, "resource");
  h.notified(1, "resource");
  // The first caller gets the lock; its client queues again for the second caller, which sleeps.
  EXPECT_EQ(h.answers({0, 1}, Reply::granted),
            "acquired #1 until 9898ms; queue resource anew -> 0 1 2");
  h.release(3);
  EXPECT_EQ(h.notified(0, "resource"), "");
  EXPECT_EQ(h.notified(1, "resource"), "");
  const std::string out = h.queued({0, 1}, {8});
  EXPECT_NE(out.find("take t5"), std::string::npos) << out;
}

}  // namespace
}  // namespace redlock::core::test
