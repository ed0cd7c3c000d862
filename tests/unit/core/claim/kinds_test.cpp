// Locks other than the exclusive one: their requests, and the effect of refusals.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

Acquire asking(std::uint64_t request, Duration wait = 0ms) {
  Acquire event;
  event.request = CallId{request};
  event.resource = "resource";
  event.ttl = 9s;
  event.wait = wait;
  return event;
}

/// The claim of the first command that concerns one.
const Claim& claim_of(Connected& h) {
  for (const Command& command : h.commands()) {
    if (const auto* send = request_for_claim_in(command))
      return *h.engine().claim(send->stamp.claim());
    if (const auto* acquired = std::get_if<Acquired>(&command)) {
      return *h.engine().claim(acquired->claim);
    }
    if (const auto* released = std::get_if<Released>(&command)) {
      return *h.engine().claim(released->claim);
    }
  }
  ADD_FAILURE() << "no claim";
  std::abort();
}

std::string held_by(Connected& h, NodeIndex node, std::string_view text,
                    std::optional<Holds> holds = {}) {
  return h.answer(node, Reply::released, text, {}, holds);
}

TEST(Reader, EntersAndLeavesEveryNodeThatItMayBeOn) {
  Connected h(3);
  Acquire event = asking(1);
  event.group = "shared";
  EXPECT_EQ(h.step(event), "enter t1 -> 0 1 2");
  EXPECT_EQ(h.answers({0, 1}, Reply::granted), "acquired #1 until 8908ms");
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
}

TEST(Owner, LearnsTheMostHoldsThatAQuorumReports) {
  Connected h(3);
  Acquire event = asking(1);
  event.group = "owner me";
  h.step(event);
  h.answers({0, 1}, Reply::granted);
  h.answer(2, Reply::taken, "owner you");
  // Node 2 refused the hold, but can have other holds.
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
  EXPECT_EQ(held_by(h, 0, "", Holds{0, false}), "");
  EXPECT_EQ(held_by(h, 1, "", Holds{2, false}), "released #2");
  EXPECT_EQ(claim_of(h).work->holds_left.read(), 2U);
}

TEST(Writer, AsksReadersToMakeRoomOnceItHasMetThem) {
  Connected h(3);
  EXPECT_EQ(h.step(asking(1, 5s)), "set t1 -> 0 1 2");
  // The key is not a string, so nobody's token is there.
  EXPECT_EQ(h.answers({0, 1}, Reply::taken, "", 9s), "release t1 -> 2");
  const std::string again = h.pass(60ms);
  EXPECT_EQ(again, "take t2 -> 0 1 2");
  EXPECT_GT(claim_of(h).writer_reservation(), 3200ms) << "it may sleep as long";
  EXPECT_LT(claim_of(h).writer_reservation(), 5s);
}

TEST(Writer, KeepsNobodyOutForLongerThanItWaits) {
  Connected h(1);
  h.step(asking(1, 100ms));
  h.answer(0, Reply::taken, "", 9s);
  EXPECT_EQ(h.pass(60ms), "take t2 -> 0");
  EXPECT_LE(claim_of(h).writer_reservation(), 100ms);
}

TEST(SeveralResources, AreAskedForAtOnceAndShareANumber) {
  Connected h(3);
  const std::vector<std::string> also{"second", "third"};
  Acquire event = asking(1);
  event.more_resources = also;
  event.fencing = 5ms - h.now().time_since_epoch();
  EXPECT_EQ(h.step(event), "take t1 5000 -> 0 1 2");
  h.fenced(0, Reply::granted, 5000);
  EXPECT_EQ(h.fenced(1, Reply::granted, 5000), "acquired #1 until 8908ms");
  EXPECT_EQ(h.engine().claim(h.lease)->terms().more_resources, also);
  EXPECT_EQ(h.pruned(), 2U) << "the numbers of those that answered";
}

TEST(Interval, IsAskedForWithTheKeyAndKeptByTheRelease) {
  Connected h(1);
  Acquire event = asking(1);
  event.interval = 1h;
  EXPECT_EQ(h.step(event), "set t1 -> 0");
  EXPECT_EQ(claim_of(h).time_to_ask(Verb::set, h.now()), 1h) << "a crashed holder keeps it too";
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.valid_until(), Instant(8908ms)) << "the lease itself is as long as any";
  h.pass(1s);
  EXPECT_EQ(h.release(2), "release t1 -> 0");
  EXPECT_EQ(claim_of(h).cooldown(h.now()), 1h - 1s);
}

/// A released interval; on node 2 another attempt's key was in the way.
class BlockedInterval : public testing::Test {
 protected:
  explicit BlockedInterval(Duration interval = 1h) {
    Acquire event = asking(1);
    event.interval = interval;
    h.step(event);
    h.answers({0, 1}, Reply::granted);
    h.answer(2, Reply::taken, "somebody");
    EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
    EXPECT_EQ(h.answers({0, 1}, Reply::released), "released #2") << "does not wait for node 2";
    EXPECT_EQ(h.answer(2, Reply::taken), "");
  }
  /// The number of requests to node 2 within `time`; it refuses each.
  std::size_t refused_within(Duration time) {
    const Instant end = later(h.now(), time);
    std::size_t refused = 0;
    while (h.now() < end) {
      h.pass(std::min(h.until_deadline(), end - h.now()));
      for (; h.open(2) > 0; ++refused) h.answer(2, Reply::taken);
    }
    return refused;
  }
  Connected h{3};
};

TEST_F(BlockedInterval, IsWrittenAsSoonAsTheOtherKeyIsGone) {
  EXPECT_EQ(h.pass(100ms), "release t1 -> 2");
  h.answer(2, Reply::taken);
  EXPECT_EQ(h.pass(100ms), "release t1 -> 2");
  h.answer(2, Reply::gone);
  EXPECT_EQ(h.settled(), "yes");
}

TEST_F(BlockedInterval, IsGivenUpWhenKeysOfThatTimeAreGone) {
  const std::size_t refused = refused_within(32s);
  EXPECT_GT(refused, 20U);
  EXPECT_LT(refused, 100U) << "a node is not asked again and again at once";
  EXPECT_EQ(h.settled(), "yes");
}

TEST_F(BlockedInterval, ThatWasWrittenLetsTheClientClose) {
  h.step(Shutdown{500ms});
  EXPECT_EQ(h.pass(100ms), "release t1 -> 2");
  EXPECT_EQ(h.answer(2, Reply::gone), "drained");
}

class ShortBlockedInterval : public BlockedInterval {
 protected:
  ShortBlockedInterval() : BlockedInterval(2s) {}
};

TEST_F(ShortBlockedInterval, IsGivenUpWhenItIsOver) {
  EXPECT_GT(refused_within(2s), 2U);
  EXPECT_EQ(refused_within(2s), 0U);
  EXPECT_EQ(h.settled(), "yes");
}

class Permits : public testing::Test {
 protected:
  [[nodiscard]] static Acquire asking_for(std::uint32_t permits, Duration wait = 0ms) {
    Acquire event = asking(1, wait);
    event.permits = permits;
    return event;
  }
  [[nodiscard]] static std::string permit(Connected& h) {
    return std::string(claim_of(h).resource());
  }
};

TEST_F(Permits, AreLocksOfTheirOwn) {
  Connected h(1);
  EXPECT_EQ(h.step(asking_for(3)), "take-permit t1 -> 0");
  EXPECT_EQ(permit(h).substr(0, 9), "resource#");
  EXPECT_EQ(h.answer(0, Reply::granted), "acquired #1 until 8908ms");
}

TEST_F(Permits, ThatAQuorumCallsFreeAreTriedAtOnceEvenByOneAttempt) {
  Connected h(3);
  h.step(asking_for(3));
  const std::string first = permit(h);
  h.answer(0, Reply::taken, "010");
  const std::string out = h.answer(1, Reply::taken, "011");
  EXPECT_EQ(out, "release t1 -> 2; take-permit t2 -> 0 1 2");
  for (const Command& command : h.commands()) {
    const auto* send = request_for_claim_in(command);
    if (send == nullptr || send->stamp.verb != Verb::take_permit) continue;
    EXPECT_EQ(send->terms.resource, "resource#1");
  }
}

TEST_F(Permits, AreAllTakenWhereNoQuorumCallsOneFree) {
  Connected h(3);
  h.step(asking_for(2));
  h.answer(0, Reply::taken, "01");
  EXPECT_EQ(h.answer(1, Reply::taken, "10"), "release t1 -> 2; failed #1 held");
}

TEST_F(Permits, AreNotTriedForEverByOneAttempt) {
  Connected h(1);
  std::string out = h.step(asking_for(3));
  int tries = 0;
  while (out.find("failed") == std::string::npos && ++tries < 100) {
    out = h.answer(0, Reply::taken, "111");
  }
  EXPECT_EQ(tries, 4);
}

}  // namespace
}  // namespace redlock::core::test
