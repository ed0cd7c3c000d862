#include "core/duties/closing.hpp"

#include <gtest/gtest.h>

#include "borrowed.hpp"

namespace redlock::core::test {
namespace {

struct ClosingDuty : testing::Test {
  Borrowed borrowed{3};
  Closing closing{borrowed.now, borrowed.nodes};
};

TEST_F(ClosingDuty, waits_for_nothing_before_it_has_begun) {
  EXPECT_FALSE(closing.has_begun());
  EXPECT_EQ(closing.deadline(), never);
  for (int drop = 0; drop < 10; ++drop) closing.dropped(0);
  EXPECT_TRUE(closing.given_up().empty());
}

TEST_F(ClosingDuty, waits_shortly_for_nodes_and_until_its_limit_for_answers) {
  closing.begin(10s);
  EXPECT_EQ(closing.deadline() - borrowed.now, 100ms);
  EXPECT_TRUE(closing.may_meet_nodes());
  borrowed.begin_step(100ms);
  EXPECT_FALSE(closing.may_meet_nodes());
  EXPECT_EQ(closing.deadline() - borrowed.now, 9900ms);
  EXPECT_FALSE(closing.is_late());
  borrowed.begin_step(9900ms);
  EXPECT_TRUE(closing.is_late());
  closing.end();
  EXPECT_EQ(closing.deadline(), never);
}

TEST_F(ClosingDuty, does_not_wait_long_for_a_node_that_is_only_to_forget_the_name) {
  borrowed.outbox.send(Request{NodeSet::of(1), upkeep(Verb::write_name)});
  closing.begin(10s);
  EXPECT_TRUE(closing.awaits_answers(NodeSet::of(1)));
  borrowed.begin_step(100ms);
  EXPECT_FALSE(closing.awaits_answers(NodeSet::of(1)));
  EXPECT_TRUE(closing.awaits_answers({})) << "it is something else";
}

TEST_F(ClosingDuty, gives_up_a_node_that_ends_one_connection_after_the_other) {
  closing.begin(10s);
  for (int drop = 0; drop < 4; ++drop) closing.dropped(2);
  EXPECT_TRUE(closing.given_up().empty());
  closing.dropped(2);
  EXPECT_EQ(closing.given_up(), NodeSet::of(2));
}

}  // namespace
}  // namespace redlock::core::test
