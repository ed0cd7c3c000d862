// A client that waits for a permit is queued once for the whole semaphore, and notified of the
// permit that is reserved for it.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/vocabulary/permits.hpp"
#include "unit/core/waiting/waiting.hpp"

namespace redlock::core::test {
namespace {

constexpr std::uint32_t many = 20;
const std::string none_free(many, '0');
const std::string any = "resource#";

Acquire one_of_many(std::uint64_t request) {
  Acquire event;
  event.request = CallId{request};
  event.resource = "resource";
  event.permits = many;
  event.ttl = 10s;
  event.wait = 60s;
  return event;
}

/// Three nodes whose permits are all taken, and a caller that they refused.
struct NoneFree : Connected {
  NoneFree() : Connected(3) {
    shows_notifications = true;
    random.shortest = true;
    step(one_of_many(1));
    after_refusal = refuse();
  }
  /// Nodes refuse the caller and queue its client.
  std::string refuse(Duration left = 10s, Place place = {}) {
    const std::string out = refused({0, 1}, none_free, left, place);
    refused({2}, none_free, left, place);
    answer(2, Reply::gone);
    return out;
  }
  std::string after_refusal;
};

/// The client is in the queues of all nodes, after others.
struct Asleep : NoneFree {
  explicit Asleep(Place place = {7}) {
    subscribed({0, 1, 2});
    queued({0, 1, 2}, place);
  }
  std::string notified_by_two(const std::string& permit = "resource#7") {
    return notified(0, permit) + notified(1, permit);
  }
  /// The permit that the last attempt asks for.
  std::string permit_asked_for() {
    std::string name;
    for (const Command& command : commands()) {
      if (const auto* send = request_for_claim_in(command)) {
        name = send->terms.resource;
      }
    }
    return name;
  }
};

TEST(AnyPermit, ThatIsGivenUpWhileItAsksIsAskedForAgain) {
  Asleep h;
  h.notified_by_two();
  h.notified_by_two("resource#9");
  EXPECT_EQ(h.refused({0, 1}, none_free, 10s, {7}),
            "release t3 again 7 -> 2; take-permit t4 -> 0 1 2");
  EXPECT_EQ(h.permit_asked_for(), "resource#9");
}

TEST(AnyPermit, LeavesNothingWhenItIsGranted) {
  Asleep h;
  h.notified_by_two();
  EXPECT_EQ(h.answers({0, 1}, Reply::granted), "acquired #1 until 9898ms");
  EXPECT_EQ(h.answer(2, Reply::granted), "");
  EXPECT_EQ(h.notified(2, "resource#7"), "") << "it was granted by then";
}

TEST(AnyPermit, ThatIsReservedForWhoWaitsNoMoreIsGivenBack) {
  Asleep h;
  h.cancel(1);
  EXPECT_EQ(h.notified(0, "resource#7"), "leave resource#7 -> 0");
}

TEST(AnyPermit, IsAskedForByTheFirstAloneWhenItExpires) {
  Asleep first(Harness::Place{7, true});
  EXPECT_EQ(first.pass(2399ms), "");
  EXPECT_EQ(first.pass(1ms), "take-permit t3 -> 0 1 2") << "sooner than the permit's end";
  Asleep h(Harness::Place{7, true});
  h.notified_by_two();
  h.refuse(50ms, {7, true});
  EXPECT_EQ(h.until_deadline(), 51ms);
  Asleep watcher;
  watcher.notified(0, any, 1);
  watcher.notified(1, any, 1);
  EXPECT_EQ(watcher.pass(21ms), "take-permit t3 -> 0 1 2") << "the first may have gone";
  watcher.refuse(50ms, {7});
  EXPECT_EQ(watcher.until_deadline(), 51ms) << "what was reserved since then is over by then";
}

/// A client with two waiting callers.
struct TwoAsleep : Asleep {
  TwoAsleep() {
    step(one_of_many(2));
    EXPECT_EQ(refuse(), "release t3 -> 2") << "the nodes know";
  }
};

TEST(AnyPermit, HasAnotherOfTheClientAskAndBeQueuedWhenItIsGranted) {
  TwoAsleep h;
  h.notified_by_two();
  EXPECT_EQ(h.answers({0, 1}, Reply::granted), "acquired #1 until 9898ms; take-permit t5 -> 0 1 2");
  h.answer(2, Reply::granted);
  h.refuse(10s, {9});
  EXPECT_EQ(h.notified_by_two("resource#8"), "take-permit t6 -> 0 1 2");
}

TEST(AnyPermit, ThatOneOfAClientWasNotifiedOfAndGivesUpIsAskedForByAnother) {
  TwoAsleep h;
  h.notified_by_two();
  const std::string out = h.cancel(1);
  EXPECT_NE(out.find("failed #1 cancelled"), std::string::npos) << out;
  EXPECT_NE((out + h.tick()).find("take-permit t5 -> 0 1 2"), std::string::npos) << out;
}

TEST(AnyPermit, ThatNobodyWaitsForAnyMoreLeavesNothingBehind) {
  Asleep h;
  h.cancel(1);
  for (std::uint32_t permit = 0; permit < 100; ++permit) {
    h.notified(0, permit_name("resource", permit));
    h.answer(0, Reply::done);
  }
  const std::uint64_t before = h.engine().visited();
  h.down(0);
  EXPECT_LE(h.engine().visited() - before, 33U) << "so many are kept on purpose";
}

TEST(AnyPermit, IsTheEndOfTheNamesOfPermits) {
  EXPECT_EQ(any_permit_of("jobs#0"), "jobs#");
  EXPECT_EQ(any_permit_of("jobs#255"), "jobs#");
  EXPECT_EQ(any_permit_of("a#b#7"), "a#b#");
  EXPECT_EQ(any_permit_of("jobs#"), std::nullopt);
  EXPECT_EQ(any_permit_of("jobs"), std::nullopt);
  EXPECT_EQ(any_permit_of("jobs7"), std::nullopt);
  EXPECT_EQ(any_permit_of("7"), std::nullopt);
  EXPECT_EQ(any_permit_of(""), std::nullopt);
  EXPECT_EQ(any_permit_name("jobs"), "jobs#");
}

TEST(ManyResources, AreWaitedForInTheQueueOfTheOneThatIsInTheWay) {
  Connected h(3);
  h.shows_notifications = true;
  h.random.shortest = true;
  std::vector<std::string> more;
  for (std::uint32_t i = 1; i < many; ++i) more.push_back("more" + std::to_string(i));
  Acquire event = one_of_many(1);
  event.permits = 0;
  event.more_resources = more;
  h.step(event);
  for (NodeIndex node = 0; node < 3; ++node) {
    Answer refusal{node, h.take_open(node), Reply::taken, holder, 10s};
    refusal.number = many;
    h.step(refusal);
  }
  EXPECT_EQ(h.subscribed({0, 1}), "queue more19 of several -> 0; queue more19 of several -> 1");
  h.queued({0, 1}, {7});
  EXPECT_EQ(h.pass(990ms), "");
  h.notified(0, "more19");
  EXPECT_EQ(h.notified(1, "more19"), "take t3 and keeps for 20 ms -> 0 1 2");
}

}  // namespace
}  // namespace redlock::core::test
