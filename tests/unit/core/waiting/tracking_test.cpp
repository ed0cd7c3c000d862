// Nodes notify the client of a key that changes: a foreign lock that ends, a resource that is
// observed, the queue for a held resource.

#include <gtest/gtest.h>

#include <string>

#include "unit/core/waiting/waiting.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

// --- locks of other libraries -------------------------------------------------------------------

/// A client that another library's lock refused; it is queued and tracks the key on all nodes.
struct BehindForeignLock : Tracking {
  explicit BehindForeignLock(bool is_first = true) {
    acquire(1, 10s, 60s);
    after_refusal = refused({0, 1}, foreign, 10s, {});
    refused({2}, foreign, 10s, {});
    answer(0, Reply::taken);
    answer(1, Reply::taken);
    answer(2, Reply::taken);
    subscribed({0, 1, 2});
    queued({0, 1, 2}, {7, is_first});
  }
  std::string after_refusal;
};

TEST(ForeignLock, IsNotPolled) {
  BehindForeignLock h;
  EXPECT_EQ(h.pass(1s), "");
  EXPECT_GT(h.until_deadline(), 1s);
}

TEST(ForeignLock, ThatAQuorumSawEndIsAskedForAtOnce) {
  BehindForeignLock h;
  h.changed({0}, "resource");
  EXPECT_EQ(h.changed({1}, "resource"), "take t3 ticket 7 -> 0 1 2");
}

TEST(ForeignLock, IsLeftForAMomentToWhoIsFirstInTheQueue) {
  BehindForeignLock h(false);
  EXPECT_EQ(h.changed({0, 1, 2}, "resource"), "");
  EXPECT_EQ(h.until_deadline(), shortest_reservation + 1ms);
}

TEST(ForeignLock, IsNotTrackedAnyMoreByWhoGaveUp) {
  BehindForeignLock h;
  h.cancel(1);
  EXPECT_EQ(h.changed({0, 1, 2}, "resource"), "");
}

// --- observers ----------------------------------------------------------------------------------

Observe observing(std::uint64_t request) {
  Observe event;
  event.request = CallId{request};
  event.resource = "resource";
  event.poll_interval = 250ms;
  return event;
}

/// An observer that saw the resource free.
struct Observing : Tracking {
  Observing() {
    begun = step(observing(1));
    answers({0, 1, 2}, Reply::gone);  // track
    first = answers({0, 1, 2}, Reply::gone);
  }
  std::string begun;
  std::string first;
};

TEST(Observer, InspectsSoonWhenOneNodeHasChanged) {
  Observing h;
  h.changed({0}, "resource");
  EXPECT_LE(h.until_deadline(), 10ms);
}

TEST(Observer, PollsWhereItIsNot) {
  Connected h(3);
  h.step(observing(1));
  h.answers({0, 1, 2}, Reply::gone);
  EXPECT_EQ(h.until_deadline(), 250ms);
  EXPECT_EQ(h.pass(250ms), "inspect  -> 0 1 2");
}

/// An observer that saw a lease about to expire, and inspects after the expiry.
struct BehindAnExpiry : Observing {
  BehindAnExpiry() {
    changed({0, 1, 2}, "resource");
    answers({0, 1}, Reply::taken);  // track
    answers({0, 1, 2}, Reply::found, holder, 1s);
    inspection_again = pass(2ms);
    answer(2, Reply::taken);  // track
    answers({0, 1, 2}, Reply::found, holder, 1s);
    inspection = pass(1001ms);
  }
  std::string inspection_again;
  std::string inspection;
};

TEST(Observer, HasAKeyTrackedAgainThatItsOwnInspectionEnded) {
  // The server noticed the expiry while it served us, and notifies everybody but us.
  BehindAnExpiry h;
  EXPECT_EQ(h.inspection, "inspect  -> 0 1 2");
  EXPECT_EQ(h.answer(0, Reply::gone), "track resource -> 0");
  EXPECT_EQ(h.answer(1, Reply::gone), "track resource -> 1");
  EXPECT_EQ(h.answer(2, Reply::gone), "inspected #1; track resource -> 2");
  h.answers({0, 1, 2}, Reply::gone);
  EXPECT_GT(h.until_deadline(), 250ms);
  h.changed({0}, "resource");
  EXPECT_EQ(h.changed({1}, "resource"), "track resource -> 0 1; inspect  -> 0 1 2");
}

TEST(Observer, InspectsWhatCameBeforeTheKeyWasTrackedAgain) {
  BehindAnExpiry h;
  h.answers({0, 1, 2}, Reply::gone);
  h.answer(0, Reply::taken);
  EXPECT_EQ(h.answer(1, Reply::taken), "inspect  -> 0 1 2");
}

TEST(Observer, LearnsOfWhatItsOwnClientDoesAndAsksAgainForWhatThatEnded) {
  Observing h;
  h.acquire(2, 10s);
  // A client's own write ends its tracking without a notification.
  EXPECT_EQ(h.answers({0, 1}, Reply::granted),
            "acquired #2 until 9898ms; track resource -> 0 1; inspect  -> 0 1 2");
}

TEST(Observer, AsksANodeThatComesBack) {
  Observing h;
  h.down(1);
  EXPECT_NE(h.up_as(1, tracking_node()).find("track resource -> 1"), std::string::npos);
}

TEST(Observer, OfAResourceThatChangesAllTheTimeInspectsItNowAndThen) {
  Observing h;
  int inspections = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string out = h.pass(1ms);
    out += h.changed({0, 1, 2}, "resource");
    inspections += out.find("inspect ") == std::string::npos ? 0 : 1;
    const std::size_t most = std::max({h.open(0), h.open(1), h.open(2)});
    for (std::size_t answers = 0; answers < most; ++answers) {
      for (const NodeIndex node : {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}}) {
        if (h.open(node) > 0) h.answer(node, Reply::gone);
      }
    }
  }
  EXPECT_GT(inspections, 50);
  EXPECT_LT(inspections, 80);
  h.pass(5s);
  EXPECT_NE(h.changed({0, 1}, "resource").find("inspect"), std::string::npos) << "at once again";
}

TEST(Observers, OfOneResourceShareTheirInspections) {
  Observing h;
  EXPECT_EQ(h.step(observing(2)), "inspect  -> 0 1 2") << "the second wants to know now";
  EXPECT_EQ(h.step(observing(3)), "") << "the third, right behind that";
  EXPECT_EQ(h.answers({0, 1, 2}, Reply::gone), "inspected #1; inspected #2");
  EXPECT_EQ(h.pass(1ms), "inspect  -> 0 1 2");
  EXPECT_EQ(h.answers({0, 1, 2}, Reply::gone), "inspected #1; inspected #2; inspected #3");
  EXPECT_EQ(h.cancel(2), "failed #2 cancelled");
  h.pass(1s);
  EXPECT_EQ(h.changed({0, 1}, "resource"), "track resource -> 0 1; inspect  -> 0 1 2");
  EXPECT_EQ(h.cancel(1), "failed #1 cancelled");
  h.answers({0, 1}, Reply::gone);  // track
  EXPECT_EQ(h.answers({0, 1, 2}, Reply::gone), "inspected #3");
  EXPECT_EQ(h.cancel(3), "failed #3 cancelled");
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Observer, EndsWithItsClient) {
  Observing h;
  EXPECT_EQ(h.step(Shutdown{1s}), "failed #1 closed; drained");
}

// --- the queue for a held resource --------------------------------------------------------------

struct Holding : Tracking {
  Holding() { hold(10s); }
  std::string watch() { return step(WatchQueue{lease}); }
};

TEST(WatchedQueue, IsToldOfChangesAnswersLostNodesAndTheEndOfTheLease) {
  Holding h;
  h.watch();
  h.answers({0, 1, 2}, Reply::gone);
  EXPECT_EQ(h.changed({1}, "resource", Tracked::queue),
            "others waiting; track queue of resource -> 1");
  EXPECT_EQ(h.answer(1, Reply::gone), "others none");
  h.down(0);
  EXPECT_NE(h.down(1).find("others unknown"), std::string::npos);
  h.release(2);
  EXPECT_EQ(h.changed({2}, "resource", Tracked::queue), "");
}

TEST(WatchedQueue, HasSomebodyWhereOurOwnClientWaitsForItAmongSeveral) {
  Holding h;
  h.watch();
  h.answers({0, 1, 2}, Reply::gone);
  const std::vector<std::string> more{"resource"};
  Acquire event;
  event.request = CallId{2};
  event.resource = "another resource";
  event.more_resources = more;
  event.ttl = 10s;
  event.wait = 60s;
  h.step(event);
  std::string out;
  for (NodeIndex node = 0; node < 3; ++node) {
    Answer answer{node, h.take_open(node), Reply::taken, holder, 10s};
    answer.number = 2;  // the second of the two resources refuses
    out += h.step(answer);
  }
  EXPECT_NE(out.find("others waiting"), std::string::npos) << out;
}

/// A holder that observes the queue. It is subscribed, because it waited itself long ago.
struct HoldingAndSubscribed : Holding {
  HoldingAndSubscribed() {
    acquire(2, 10s, 60s);
    refused({0, 1, 2}, holder, 10s, {});
    subscribed({0, 1, 2});
    queued({0, 1, 2}, {7});
    cancel(2);
    answers({0, 1, 2}, Reply::done);
    pass(2s);
    watch();
    answers({0, 1, 2}, Reply::gone);
  }
};

TEST(WatchedQueue, IsTrackedBehindEachRequestThatQueuesOurOwnClient) {
  // A node does not notify us of our own request to queue, and stops tracking the queue.
  HoldingAndSubscribed h;
  h.acquire(3, 10s, 60s);
  const std::string out = h.refused({0, 1, 2}, holder, 10s, {});
  EXPECT_NE(out.find("queue resource -> 0 1"), std::string::npos) << out;
  EXPECT_NE(out.find("track queue of resource -> 0 1"), std::string::npos) << out;
}

}  // namespace
}  // namespace redlock::core::test
