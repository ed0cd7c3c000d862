#include "core/duties/queue_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>
#include <vector>

#include "borrowed.hpp"
#include "core/claim/claims.hpp"

namespace redlock::core::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct QueueWatchDuty : testing::Test {
  QueueWatchDuty() {
    wait_queue.begin_step(borrowed.now);
    watch.begin(lease);
  }
  /// The reports to the holder since the last call.
  std::vector<OtherClients> reported() {
    std::vector<OtherClients> reported;
    for (const Command& command : borrowed.commands) {
      const auto* const report = std::get_if<QueueWatched>(&command);
      if (report == nullptr) continue;
      EXPECT_EQ(report->claim, lease.id());
      reported.push_back(report->others);
    }
    borrowed.begin_step();
    return reported;
  }
  void answer(NodeIndex node, Reply reply) { watch.answered(borrowed.answer(node, reply)); }
  void nobody_waits() {
    for (NodeIndex node = 0; node < 3; ++node) answer(node, Reply::gone);
    EXPECT_THAT(reported(), ElementsAre(OtherClients::none));
  }

  Borrowed borrowed{3};
  Claims claims;
  Claim& lease = claims.make(Claim::Purpose::acquire, "resource", *Token::parse("token"));
  Pool<Acquisition> acquisitions;
  TrackedKeys resources{Tracked::resource, borrowed.nodes, borrowed.outbox};
  TrackedKeys queues{Tracked::queue, borrowed.nodes, borrowed.outbox};
  WaitQueue wait_queue{borrowed.settings, borrowed.nodes, borrowed.outbox, acquisitions,
                       resources,         queues,         borrowed.random};
  QueueWatch watch{borrowed.settings, queues, wait_queue, borrowed.outbox};
};

TEST_F(QueueWatchDuty, TellsThatNobodyWaitsOnceAQuorumOfNodesHasSaidSo) {
  EXPECT_EQ(borrowed.asked(Verb::track), NodeSet::first(3));
  answer(0, Reply::gone);
  EXPECT_THAT(reported(), IsEmpty()) << "one of three is none";
  answer(1, Reply::gone);
  EXPECT_THAT(reported(), ElementsAre(OtherClients::none));
  answer(2, Reply::gone);
  EXPECT_THAT(reported(), IsEmpty()) << "that is no news";
  EXPECT_FALSE(wait_queue.is_contended("resource"));
}

TEST_F(QueueWatchDuty, TellsThatSomebodyWaitsIfOneNodeSaysSo) {
  answer(2, Reply::taken);
  EXPECT_THAT(reported(), ElementsAre(OtherClients::waiting));
  answer(0, Reply::gone);
  answer(1, Reply::gone);
  EXPECT_THAT(reported(), IsEmpty()) << "the others do not contradict";
  EXPECT_TRUE(wait_queue.is_contended("resource")) << "our next attempt queues after them";
}

TEST_F(QueueWatchDuty, TakesAChangeForAClientThatWaitsUntilTheNodeHasAnswered) {
  nobody_waits();
  watch.changed({1, Tracked::queue, "resource"});
  EXPECT_EQ(borrowed.asked(Verb::track), NodeSet::of(1));
  EXPECT_THAT(reported(), ElementsAre(OtherClients::waiting));
  answer(1, Reply::gone);
  EXPECT_THAT(reported(), ElementsAre(OtherClients::none));
}

TEST_F(QueueWatchDuty, CountsAcquisitionsOfThisClientWhichNoNodeNotifiesItOf) {
  nobody_waits();
  Acquisition& acquisition = acquisitions.take();
  acquisition.terms.by(me).resource = "resource";
  acquisition.refusal.by(me) = {.why = Errc::held, .obstacle = Obstacle::lock, .is_known = true};
  EXPECT_TRUE(wait_queue.join(acquisition));
  watch.joined("resource");
  EXPECT_THAT(reported(), ElementsAre(OtherClients::waiting));
}

TEST_F(QueueWatchDuty, KnowsNothingAnyMoreWithoutAQuorum) {
  nobody_waits();
  queues.dropped(0);
  watch.node_dropped();
  EXPECT_THAT(reported(), IsEmpty()) << "two of three say so";
  queues.dropped(1);
  watch.node_dropped();
  EXPECT_THAT(reported(), ElementsAre(OtherClients::unknown));
}

TEST_F(QueueWatchDuty, TellsNothingOfALeaseThatEnded) {
  watch.begin(lease);
  nobody_waits();
  watch.end(lease);
  watch.changed({1, Tracked::queue, "resource"});
  EXPECT_THAT(reported(), IsEmpty()) << "though it was begun twice";
  EXPECT_FALSE(lease.watches_queue);
  watch.begin(lease);
  EXPECT_THAT(reported(), ElementsAre(OtherClients::none)) << "a new watch has had no report";
}

}  // namespace
}  // namespace redlock::core::test
