#include "core/waiting/refusal.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

const std::string our_token(40, 'a');

Acquire asking(std::string_view resource) {
  Acquire event;
  event.resource = resource;
  return event;
}

/// The answers by which a round of three nodes was lost. An empty answer is a grant.
struct LostRound {
  explicit LostRound(const Acquire& asked = asking("resource")) {
    terms.assign(asked);
    round.begin(1, 3, 2, Instant(1s), 10s);
  }
  LostRound& granted(NodeIndex node) {
    round.record_grant(node, 1ms);
    return *this;
  }
  LostRound& refused(NodeIndex node, std::string_view holder, std::uint64_t resource = 0) {
    round.record(node, Vote::refused, {holder, 1ms, 5s, resource});
    return *this;
  }
  [[nodiscard]] Refusal refusal(std::uint64_t waited_for = 0) const {
    return refusal_by(round, round.why_lost(), terms, waited_for);
  }

  LockTerms terms;
  Round round;
};

TEST(Obstacles, OfThisLibraryAreDistinguishedFromOthers) {
  EXPECT_EQ(obstacle_of(our_token), Obstacle::lock);
  EXPECT_EQ(obstacle_of(our_token + ":a name"), Obstacle::lock);
  EXPECT_EQ(obstacle_of("writer"), Obstacle::lock);
  EXPECT_EQ(obstacle_of("shared"), Obstacle::holds);
  EXPECT_EQ(obstacle_of("owner a"), Obstacle::holds);
  EXPECT_EQ(obstacle_of("redlock:cooldown"), Obstacle::interval);
  EXPECT_EQ(obstacle_of("redlock:next:aaaa"), Obstacle::reservation);
  EXPECT_EQ(obstacle_of(""), Obstacle::unknown);
  EXPECT_EQ(obstacle_of(our_token + "a"), Obstacle::foreign);
  EXPECT_EQ(obstacle_of(our_token.substr(1)), Obstacle::foreign);
  EXPECT_EQ(obstacle_of(std::string(40, 'G')), Obstacle::foreign);
}

TEST(Refusals, ByOneHolderOnAQuorumSayThatItsReleasePassesTheLockOn) {
  const Refusal refusal =
      LostRound().granted(0).refused(1, our_token).refused(2, our_token).refusal();
  EXPECT_TRUE(refusal.why == Errc::held);
  EXPECT_TRUE(refusal.is_known);
  EXPECT_TRUE(refusal.will_be_passed_on());
  EXPECT_FALSE(refusal.is_foreign);
  EXPECT_EQ(refusal.granted, NodeSet::of(0));
  EXPECT_EQ(refusal.free_in, 5s);
  EXPECT_EQ(refusal.began, Instant(1s));
}

TEST(Refusals, ByAReservationOrAnIntervalSayThatNoReleaseWillPassItOn) {
  const std::string next = "redlock:next:aaaa";
  EXPECT_TRUE(LostRound().refused(0, next).refused(1, next).refusal().is_known);
  EXPECT_FALSE(LostRound().refused(0, next).refused(1, next).refusal().will_be_passed_on());
  const std::string interval = "redlock:cooldown";
  EXPECT_FALSE(LostRound().refused(0, interval).refused(1, interval).refusal().is_known);
}

TEST(Refusals, ByHoldsTellTheCallersOwnGroupFromAnother) {
  EXPECT_TRUE(LostRound().refused(0, "shared").refused(1, "shared").refusal().is_another_group);
  Acquire reader = asking("resource");
  reader.group = "shared";
  EXPECT_FALSE(
      LostRound(reader).refused(0, "shared").refused(1, "shared").refusal().is_another_group);
}

TEST(Refusals, OfSeveralResourcesNameTheAwaitedOneOrTheFirstOneWithoutAQuorum) {
  const std::vector<std::string> more = {"a", "c"};
  Acquire several = asking("b");
  several.more_resources = more;
  const auto refused = [&](std::uint64_t one, std::uint64_t other) {
    return LostRound(several).refused(0, our_token, one).refused(1, our_token, other);
  };
  EXPECT_EQ(refused(2, 2).refusal().resource, 2U) << "a";
  EXPECT_EQ(refused(1, 3).refusal().resource, 1U) << "b: node 1 let it have that";
  EXPECT_EQ(refused(2, 1).refusal().resource, 2U) << "a: no quorum is known to let it have that";
  EXPECT_EQ(refused(2, 1).refusal(1).resource, 1U) << "b: the caller waits for that";
  EXPECT_EQ(refused(1, 2).refusal(1).resource, 1U);
  EXPECT_EQ(refused(2, 2).refusal(1).resource, 2U) << "a: both let it have b";
}

}  // namespace
}  // namespace redlock::core::test
