#include "core/duties/names.hpp"

#include <gtest/gtest.h>

#include "borrowed.hpp"

namespace redlock::core::test {
namespace {

struct NamesDuty : testing::Test {
  Borrowed borrowed{3};
  Names names{borrowed.settings, borrowed.now, borrowed.nodes, borrowed.outbox};
};

TEST_F(NamesDuty, WritesTheNameOnceAndAgainForALongerLease) {
  names.write(NodeSet::of(0));
  names.write(NodeSet::first(2));
  EXPECT_EQ(borrowed.asked(Verb::write_name), NodeSet::first(2));
  EXPECT_EQ(borrowed.commands.size(), 2U) << "to each node once";
  names.outlast(10s);
  borrowed.begin_step();
  names.write(NodeSet::first(2));
  EXPECT_TRUE(borrowed.commands.empty()) << "it is kept for long enough";
  names.outlast(2h);
  names.write(NodeSet::first(3));
  EXPECT_EQ(borrowed.asked(Verb::write_name), NodeSet::first(3));
  EXPECT_EQ(names.kept(), 4h);
}

TEST_F(NamesDuty, WritesItAgainWhereItWasWrittenAndNotRefused) {
  names.write(NodeSet::first(2));
  Answer refusal;
  refusal.node = 1;
  refusal.reply = Reply::error;
  refusal.text = "NOPERM this user has no permissions";
  names.answered(refusal);
  borrowed.begin_step(names.next_writing() - borrowed.now);
  names.write_again();
  EXPECT_EQ(borrowed.asked(Verb::write_name), NodeSet::of(0));
}

TEST_F(NamesDuty, ForgetsItWhereNodesHaveItUnlessALeaseStays) {
  names.write(NodeSet::first(2));
  borrowed.begin_step();
  names.came_up(1);
  names.forget();
  EXPECT_EQ(names.forgetting(), NodeSet::of(0));
  EXPECT_EQ(borrowed.asked(Verb::write_name), NodeSet::of(0));
  EXPECT_EQ(names.kept(), 1ms);

  Names others{borrowed.settings, borrowed.now, borrowed.nodes, borrowed.outbox};
  others.write(NodeSet::first(2));
  others.note_detached();
  others.forget();
  EXPECT_TRUE(others.forgetting().empty());
}

}  // namespace
}  // namespace redlock::core::test
