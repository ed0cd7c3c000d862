#include "core/duties/marker_cover.hpp"

#include <gtest/gtest.h>

#include <array>

#include "borrowed.hpp"

namespace redlock::core::test {
namespace {

struct MarkerCoverDuty : testing::Test {
  static Settings guarded() {
    Settings settings = settings_of(3);
    settings.restart_guard = true;
    return settings;
  }
  Borrowed borrowed{guarded()};
  MarkerCover cover{borrowed.settings, borrowed.nodes, borrowed.outbox};
};

TEST_F(MarkerCoverDuty, reads_one_marker_a_turn_of_each_node_that_was_asked_for_votes) {
  cover.sent(Verb::set, NodeSet::first(2));
  cover.sent(Verb::set, NodeSet::of(1));
  cover.sent(Verb::inspect, NodeSet::of(2));
  EXPECT_EQ(cover.uncovered(), NodeSet::first(2));
  cover.end_turn();
  EXPECT_EQ(borrowed.asked(Verb::read_marker), NodeSet::first(2));
  EXPECT_EQ(borrowed.commands.size(), 1U);
  borrowed.begin_step();
  cover.end_turn();
  EXPECT_TRUE(borrowed.commands.empty());
}

TEST_F(MarkerCoverDuty, reads_the_floor_behind_short_votes_and_nothing_of_a_node_that_went) {
  cover.sent(Verb::set_fenced_short, NodeSet::first(2));
  cover.sent(Verb::set, NodeSet::first(3));
  cover.dropped(1);
  cover.end_turn();
  EXPECT_EQ(borrowed.asked(Verb::read_floor_and_marker), NodeSet::of(0));
  EXPECT_EQ(borrowed.asked(Verb::read_marker), NodeSet::of(2));
}

TEST_F(MarkerCoverDuty, confirms_what_came_before_the_known_marker) {
  std::array<Assent, 3> assents{};
  assents[0].stamp.verb = Verb::set;
  assents[1].reply = Reply::marker;
  assents[2].stamp.verb = Verb::set;
  EXPECT_EQ(cover.confirmed({0, assents, borrowed.nodes[0].marker_text()}), 2U);
  EXPECT_EQ(cover.confirmed({0, assents, "another"}), 0U);
  EXPECT_TRUE(cover.holds_back(borrowed.nodes[0], Verb::set));
  EXPECT_FALSE(cover.holds_back(borrowed.nodes[0], Verb::inspect));
  borrowed.settings.restart_guard = false;
  EXPECT_EQ(cover.confirmed({0, assents, borrowed.nodes[0].marker_text()}), 0U);
  EXPECT_FALSE(cover.holds_back(borrowed.nodes[0], Verb::set));
}

}  // namespace
}  // namespace redlock::core::test
