#include "core/duties/observers.hpp"

#include <gtest/gtest.h>

#include "borrowed.hpp"
#include "core/duties/idle_leases.hpp"
#include "core/duties/tracking.hpp"

namespace redlock::core::test {
namespace {

struct ObserversDuty : testing::Test {
  Observation* add(std::uint64_t request) {
    return observers.add({CallId{request}, "resource", 100ms});
  }
  Claim& inspection() {
    Claim& claim = claims.make(Claim::Purpose::inspect, "resource", Token());
    idle_leases.wake(claim);
    return claim;
  }
  Observation* changed(NodeIndex node) {
    return observers.changed(*tracking.resources().find("resource"), node);
  }

  Borrowed borrowed{3};
  Claims claims;
  IdleLeases idle_leases{borrowed.settings, claims};
  core::Tracking tracking{borrowed.nodes, borrowed.outbox};
  TimerHeap timers;
  Observers observers{borrowed.settings,    borrowed.now, borrowed.nodes, claims,
                      tracking.resources(), timers,       borrowed.outbox};
};

TEST_F(ObserversDuty, ShareOneInspection) {
  Observation* const observation = add(1);
  ASSERT_NE(observation, nullptr);
  Claim& claim = inspection();
  claim.work->requests.by(me).push_back(CallId{1});
  observers.begin(*observation, claim);
  EXPECT_EQ(add(2), nullptr) << "one is under way";
  EXPECT_EQ(claim.work->requests->size(), 1U) << "which may be older than the second call";
  claim.round.by(me).begin(1, 3, 2, borrowed.now, 0s);
  for (NodeIndex node = 0; node < 2; ++node) claim.round.by(me).record_grant(node, 1ms);
  observers.inspected(claim);
  ASSERT_NE(timers.top(), nullptr) << "so another one is due";
  EXPECT_EQ(observers.due(TimerHeap::index_of(timers.top()->key)), observation);
}

TEST_F(ObserversDuty, InspectWhenAQuorumHasChanged) {
  Observation* const observation = add(1);
  Claim& claim = inspection();
  observers.begin(*observation, claim);
  EXPECT_EQ(changed(0), nullptr) << "an inspection is under way";
  claim.round.by(me).begin(1, 3, 2, borrowed.now, 0s);
  observers.inspected(claim);
  EXPECT_EQ(changed(0), nullptr);
  EXPECT_EQ(changed(1), observation);
}

TEST_F(ObserversDuty, ThatStopAreNotifiedAndTheirTimerGoes) {
  Observation* const observation = add(1);
  Claim& claim = inspection();
  claim.work->requests.by(me).push_back(CallId{1});
  observers.begin(*observation, claim);
  observers.stop(CallId{7});
  EXPECT_EQ(borrowed.count<Failed>(), 0U);
  observers.stop(CallId{1});
  EXPECT_EQ(borrowed.count<Failed>(), 1U);
  EXPECT_TRUE(claim.work->requests->empty());
  EXPECT_EQ(timers.top(), nullptr);
  claim.round.by(me).begin(1, 3, 2, borrowed.now, 0s);
  observers.inspected(claim);
  EXPECT_EQ(timers.top(), nullptr) << "nobody waits for it";
}

}  // namespace
}  // namespace redlock::core::test
