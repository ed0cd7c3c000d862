#include "core/duties/marker_proof.hpp"

#include <gtest/gtest.h>

#include <array>

#include "borrowed.hpp"

namespace redlock::core::test {
namespace {

struct MarkerProofDuty : testing::Test {
  static Settings guarded() {
    Settings settings = settings_of(3);
    settings.restart_guard = true;
    return settings;
  }
  Borrowed borrowed{guarded()};
  MarkerProof proof{borrowed.settings, borrowed.nodes, borrowed.outbox};
};

TEST_F(MarkerProofDuty, ReadsOneMarkerATurnOfEachNodeThatWasAskedForVotes) {
  proof.sent(Verb::set, NodeSet::first(2));
  proof.sent(Verb::set, NodeSet::of(1));
  proof.sent(Verb::inspect, NodeSet::of(2));
  EXPECT_EQ(proof.unproven(), NodeSet::first(2));
  proof.end_turn();
  EXPECT_EQ(borrowed.asked(Verb::read_marker), NodeSet::first(2));
  EXPECT_EQ(borrowed.commands.size(), 1U);
  borrowed.begin_step();
  proof.end_turn();
  EXPECT_TRUE(borrowed.commands.empty());
}

TEST_F(MarkerProofDuty, ReadsTheFloorBehindShortVotesAndNothingOfANodeThatWent) {
  proof.sent(Verb::set_fenced_short, NodeSet::first(2));
  proof.sent(Verb::set, NodeSet::first(3));
  proof.dropped(1);
  proof.end_turn();
  EXPECT_EQ(borrowed.asked(Verb::read_floor_and_marker), NodeSet::of(0));
  EXPECT_EQ(borrowed.asked(Verb::read_marker), NodeSet::of(2));
}

TEST_F(MarkerProofDuty, ConfirmsWhatCameBeforeTheKnownMarker) {
  std::array<PlainYes, 3> plain_yeses{};
  plain_yeses[0].stamp.verb = Verb::set;
  plain_yeses[1].reply = Reply::marker;
  plain_yeses[2].stamp.verb = Verb::set;
  EXPECT_EQ(proof.confirmed({0, plain_yeses, borrowed.nodes[0].mandate->marker_text()}), 2U);
  EXPECT_EQ(proof.confirmed({0, plain_yeses, "another"}), 0U);
  EXPECT_TRUE(proof.holds_back(borrowed.nodes[0], Verb::set));
  EXPECT_FALSE(proof.holds_back(borrowed.nodes[0], Verb::inspect));
  borrowed.settings.restart_guard = false;
  EXPECT_EQ(proof.confirmed({0, plain_yeses, borrowed.nodes[0].mandate->marker_text()}), 0U);
  EXPECT_FALSE(proof.holds_back(borrowed.nodes[0], Verb::set));
}

}  // namespace
}  // namespace redlock::core::test
