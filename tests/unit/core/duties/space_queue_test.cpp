#include "core/duties/space_queue.hpp"

#include <gtest/gtest.h>

#include "borrowed.hpp"

namespace redlock::core::test {
namespace {

struct SpaceQueueDuty : testing::Test {
  static Settings few_requests() {
    Settings settings = settings_of(3);
    settings.max_unanswered = 2;
    return settings;
  }
  Acquisition& waits() {
    Acquisition& acquisition = acquisitions.take();
    acquisition.state.by(me) = Acquisition::State::backing_off;
    acquisition.waits_for_space.by(me) = false;
    queue.wait(acquisition);
    return acquisition;
  }

  Borrowed borrowed{few_requests()};
  Pool<Acquisition> acquisitions;
  SpaceQueue queue{borrowed.settings, borrowed.nodes, acquisitions};
};

TEST_F(SpaceQueueDuty, HasSpaceWhileAQuorumTakesMoreRequests) {
  EXPECT_TRUE(queue.has_space(borrowed.nodes.ballot()));
  borrowed.outbox.send(NodeSet::of(0), Stamp(Verb::read_clock));
  EXPECT_TRUE(queue.has_space(borrowed.nodes.ballot()));
  borrowed.outbox.send(NodeSet::of(1), Stamp(Verb::read_clock));
  EXPECT_FALSE(queue.has_space(borrowed.nodes.ballot()));
}

TEST_F(SpaceQueueDuty, ServesInTheOrderOfComingAsSoonAsNodesHaveAnswered) {
  Acquisition& first = waits();
  Acquisition& second = waits();
  borrowed.outbox.send(NodeSet::first(2), Stamp(Verb::read_clock));
  EXPECT_EQ(queue.next(), nullptr);
  static_cast<void>(borrowed.answered(0, Verb::read_clock));
  EXPECT_EQ(queue.next(), &first);
  EXPECT_EQ(queue.next(), &second);
  EXPECT_EQ(queue.next(), nullptr);
  EXPECT_TRUE(queue.empty());
}

TEST_F(SpaceQueueDuty, PassesOverThoseThatAreOverOrWaitTwice) {
  Acquisition& gone = waits();
  Acquisition& over = waits();
  Acquisition& stays = waits();
  queue.wait(stays);
  acquisitions.give_back(gone);
  over.state.by(me) = Acquisition::State::over;
  EXPECT_EQ(queue.next(), &stays);
  EXPECT_EQ(queue.next(), nullptr);
}

}  // namespace
}  // namespace redlock::core::test
