#include "core/duties/tracking.hpp"

#include <gtest/gtest.h>

#include "borrowed.hpp"
#include "core/claim/claims.hpp"
#include "core/duties/idle_leases.hpp"

namespace redlock::core::test {
namespace {

struct TrackingDuty : testing::Test {
  /// All nodes track the key, and have answered whether it is there.
  TrackedKeys::Entry& observed(const std::string& key, Reply reply = Reply::gone) {
    TrackedKeys::Entry& entry = tracking.resources().use(key);
    entry.second.observation = 0;
    for (NodeIndex node = 0; node < 3; ++node) {
      tracking.resources().answered(borrowed.answer(node, reply));
    }
    begin_step();
    return entry;
  }
  void begin_step() {
    borrowed.begin_step();
    tracking.begin_step();
  }
  /// The nodes that the end of the step asks to track something. Begins another step.
  NodeSet asked_by_the_end() {
    EXPECT_EQ(borrowed.asked(Verb::track), NodeSet()) << "not before the other requests";
    tracking.end_step();
    const NodeSet asked = borrowed.asked(Verb::track);
    begin_step();
    return asked;
  }
  NodeSet asked_after(Verb verb) {
    tracking.sent(claim, verb, NodeSet::first(2));
    return asked_by_the_end();
  }
  NodeSet asked_after_inspection(Reply reply, Verb verb = Verb::inspect) {
    Answer answer;
    answer.node = 1;
    answer.stamp.verb = verb;
    answer.reply = reply;
    tracking.inspected(claim, answer);
    return asked_by_the_end();
  }

  Borrowed borrowed{3};
  Claims claims;
  IdleLeases idle_leases{borrowed.settings, claims};
  Claim& claim = claims.make(Claim::Purpose::acquire, "resource", *Token::parse("token"));
  core::Tracking tracking{borrowed.nodes, borrowed.outbox};
};

TEST_F(TrackingDuty, HasAnObservedKeyTrackedAgainAfterARequestThatMayWriteIt) {
  observed("resource");
  for (const Verb verb : {Verb::take, Verb::extend, Verb::release}) {
    EXPECT_EQ(asked_after(verb), NodeSet::first(2)) << name_of(verb);
  }
  EXPECT_EQ(asked_after(Verb::inspect), NodeSet());
  EXPECT_EQ(asked_after(Verb::set), NodeSet()) << "if it is granted, that says so";
}

TEST_F(TrackingDuty, KnowsThatANodeThatGrantedTracksTheKeysNoMore) {
  const std::vector<std::string> more{"second"};
  claim.set_terms(me, {{more.begin(), more.end()}, {}, 0, {}, {}});
  TrackedKeys::Entry& first = observed("resource");
  TrackedKeys::Entry& second = observed("second");
  EXPECT_EQ(first.second.asked, NodeSet::first(3));
  tracking.granted(claim, 1);
  for (const TrackedKeys::Entry* const entry : {&first, &second}) {
    EXPECT_EQ(entry->second.asked, NodeSet::first(3) - NodeSet::of(1)) << entry->first;
  }
}

TEST_F(TrackingDuty, HasEachOfSeveralResourcesTrackedAgain) {
  const std::vector<std::string> more{"second"};
  claim.set_terms(me, {{more.begin(), more.end()}, {}, 0, {}, {}});
  observed("second");
  EXPECT_EQ(asked_after(Verb::take), NodeSet::first(2));
}

TEST_F(TrackingDuty, HasAQueueTrackedAgainAfterARequestThatMayQueueThisClient) {
  tracking.queues().use("resource");
  begin_step();
  EXPECT_EQ(asked_after(Verb::take), NodeSet()) << "it has no place in a queue";
  idle_leases.wake(claim);
  claim.work->position.by(me).as_client = true;
  EXPECT_EQ(asked_after(Verb::take), NodeSet::first(2));
  EXPECT_EQ(asked_after(Verb::extend), NodeSet()) << "which queues nobody";
}

TEST_F(TrackingDuty, HearsFromAnInspectionOfChangesThatWereNotNotified) {
  observed("resource", Reply::taken);
  EXPECT_EQ(asked_after_inspection(Reply::found), NodeSet()) << "as it was";
  EXPECT_EQ(asked_after_inspection(Reply::error), NodeSet());
  EXPECT_EQ(asked_after_inspection(Reply::gone, Verb::release), NodeSet());
  EXPECT_EQ(asked_after_inspection(Reply::gone), NodeSet::of(1));
}

TEST_F(TrackingDuty, DoesTheSameForResourcesAndQueues) {
  const auto both = [this] {
    return std::vector<TrackedKeys*>{&tracking.resources(), &tracking.queues()};
  };
  for (TrackedKeys* const keys : both()) keys->use("resource");
  borrowed.go_down(1);
  tracking.dropped(1);
  for (TrackedKeys* const keys : both()) {
    EXPECT_FALSE(keys->find("resource")->second.asked.has(1)) << "it is not asked any more";
  }
  begin_step();
  borrowed.come_up(1);
  tracking.came_up(1);
  EXPECT_EQ(borrowed.asked(Verb::track), NodeSet::of(1));
  EXPECT_EQ(borrowed.count<Request>(), 2U);
  for (TrackedKeys* const keys : both()) keys->stop("resource");
  for (TrackedKeys* const keys : both()) {
    EXPECT_FALSE(keys->empty()) << "the commands of the step name it";
  }
  begin_step();
  for (TrackedKeys* const keys : both()) EXPECT_TRUE(keys->empty());
}

}  // namespace
}  // namespace redlock::core::test
