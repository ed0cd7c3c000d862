// An operator opens a deployment. It runs to its end over model nodes: it is killed after every
// step, and it competes with another operator. The nodes are new, have forgotten, or have new
// names.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/membership/member_change.hpp"
#include "unit/core/membership/member_world.hpp"

namespace redlock::core::test {
namespace {

using Kind = MemberWish::Kind;

TEST(MemberBootstrap, NodesRememberAlwaysUnlessTheyMayHaveForgotten) {
  const auto remember_always = [](World& world, bool after_loss) {
    MemberWish wish = wish_of(Kind::bootstrap, "", "", names_up_to(3));
    wish.after_loss = after_loss;
    EXPECT_TRUE(Operator(world, wish).done());
    std::string always;
    for (const std::string& name : names_up_to(3)) {
      if (world.marker(name).remembers_since == Marker::always) always += name;
    }
    return always;
  };
  World fresh(3);
  EXPECT_EQ(remember_always(fresh, false), "n1n2n3");
  World lost(3);
  EXPECT_EQ(remember_always(lost, true), "");
  World opened(3);
  opened.let_a_client_open(names_up_to(3));
  EXPECT_EQ(remember_always(opened, true), "");
  World of_members(3);
  of_members.found({"n1", "n2"}, "7.d");
  EXPECT_EQ(remember_always(of_members, false), "n1n2") << "the third enters";
}

TEST(MemberBootstrap, OpensNewNodesWithoutAQuarantine) {
  for (std::size_t count = 1; count <= 5; ++count) {
    World world(count);
    Operator run(world, wish_of(Kind::bootstrap, "", "", names_up_to(count)));
    ASSERT_TRUE(run.done());
    EXPECT_TRUE(world.serves(names_up_to(count))) << world.describe();
    EXPECT_EQ(run.writes.size(), 2 * count);
    Operator again(world, wish_of(Kind::bootstrap, "", "", names_up_to(count)));
    ASSERT_TRUE(again.done());
    EXPECT_TRUE(again.writes.empty());
  }
}

TEST(MemberBootstrap, EndsTheQuarantineOfBlankNodes) {
  World world(3);
  world.let_clients_act();
  ASSERT_TRUE(Operator(world, wish_of(Kind::bootstrap, "", "", names_up_to(3))).done());
  EXPECT_TRUE(world.serves(names_up_to(3)));
}

TEST(MemberBootstrap, EndsTheQuarantineOfNewNodesThatAClientHasOpened) {
  for (std::size_t count = 1; count <= 5; ++count) {
    World world(count);
    world.let_a_client_open(names_up_to(count));
    const std::string id = world.marker("n1").deployment;
    Operator run(world, wish_of(Kind::bootstrap, "", "", names_up_to(count)));
    ASSERT_TRUE(run.done());
    EXPECT_TRUE(world.serves(names_up_to(count))) << world.describe();
    EXPECT_EQ(world.marker("n1").deployment, id);
    EXPECT_EQ(run.writes.size(), count);
    Operator again(world, wish_of(Kind::bootstrap, "", "", names_up_to(count)));
    ASSERT_TRUE(again.done());
    EXPECT_TRUE(again.writes.empty());
  }
}

TEST(MemberBootstrap, ThatEndsQuarantinesGoesOnAfterAnyCrashAndBesideAnotherOne) {
  const MemberWish wish = wish_of(Kind::bootstrap, "", "", names_up_to(5));
  bool first_ended = false;
  for (int first = 0; !first_ended; ++first) {
    for (int second = 0; second < 16; ++second) {
      SCOPED_TRACE(std::to_string(first) + "/" + std::to_string(second));
      World world(5);
      world.let_a_client_open(names_up_to(5));
      Operator a(world, wish);
      Operator killed(world, wish);
      for (int i = 0; i < first; ++i) a.step();
      first_ended = a.has_ended();
      for (int i = 0; i < second; ++i) killed.step();
      ASSERT_TRUE(a.done());
      EXPECT_TRUE(world.serves(names_up_to(5))) << world.describe();
    }
  }
}

TEST(MemberBootstrap, EndsNoQuarantineOfANodeThatForgotAtAnyPoint) {
  const MemberWish wish = wish_of(Kind::bootstrap, "", "", names_up_to(3));
  for (const std::string& victim : names_up_to(3)) {
    bool ended = false;
    for (int steps = 0; !ended; ++steps) {
      SCOPED_TRACE(victim + " forgets after step " + std::to_string(steps));
      World world(3);
      world.let_a_client_open(names_up_to(3));
      Operator run(world, wish);
      for (int i = 0; i < steps; ++i) run.step();
      ended = run.has_ended();
      world.restart_empty(victim);
      world.let_clients_act();
      run.run();
      ASSERT_TRUE(Operator(world, wish).done());
      EXPECT_GT(world.at(victim).quarantined_until, world.now);
    }
  }
}

TEST(MemberBootstrap, LeavesTheQuarantineOfMembersThatMayHaveForgotten) {
  const Names members = names_up_to(3);
  const auto expect_left = [&](std::string_view why, const MemberWish& wish,
                               const std::string& held) {
    World world(3);
    world.let_a_client_open(members);
    for (const std::string& name : members) world.at(name).seen.quarantine_why = why;
    Operator run(world, wish);
    run.held = held;
    const auto done = run.done();
    ASSERT_TRUE(done);
    EXPECT_EQ(done->left, held);
    EXPECT_EQ(done->left_on, held.empty() ? "" : "n1");
    EXPECT_TRUE(run.writes.empty());
    EXPECT_FALSE(world.serves(members));
  };
  const MemberWish wish = wish_of(Kind::bootstrap, "", "", members);
  for (const std::string_view why : {"empty", "enrolled", "restarted", "role", "membership"}) {
    SCOPED_TRACE(why);
    expect_left(why, wish, {});
  }
  expect_left(opened_as_new, wish, "n1 has a lock");
}

TEST(MemberBootstrap, AfterALossLeavesNothingToEndForARunWithoutThatWord) {
  World world(3);
  world.let_a_client_open(names_up_to(3));
  MemberWish after_loss = wish_of(Kind::bootstrap, "", "", names_up_to(3));
  after_loss.after_loss = true;
  for (int run = 0; run < 2; ++run) {
    Operator told(world, after_loss);
    ASSERT_TRUE(told.done());
    EXPECT_EQ(told.writes.size(), run == 0 ? 3U : 0U);
  }
  Operator later(world, wish_of(Kind::bootstrap, "", "", names_up_to(3)));
  ASSERT_TRUE(later.done());
  EXPECT_TRUE(later.writes.empty());
  EXPECT_FALSE(world.serves(names_up_to(3)));
}

TEST(MemberBootstrap, QuarantinesBlankNodesThatHadAMarkerWhenTheyWereMet) {
  World world(3);
  world.let_clients_act();
  world.at("n2").seen.quarantine_why = "restarted";
  ASSERT_TRUE(Operator(world, wish_of(Kind::bootstrap, "", "", names_up_to(3))).done());
  EXPECT_FALSE(world.serves(names_up_to(3)));
}

TEST(MemberBootstrap, AfterALossQuarantinesNodesThatLookNew) {
  for (const bool met : {false, true}) {
    World world(3);
    if (met) world.let_clients_act();
    MemberWish wish = wish_of(Kind::bootstrap, "", "", names_up_to(3));
    wish.after_loss = true;
    ASSERT_TRUE(Operator(world, wish).done());
    EXPECT_FALSE(world.serves(names_up_to(3)));
  }
}

TEST(MemberBootstrap, ThatIsKilledAfterAnyStepIsResumed) {
  for (const bool known : {false, true}) {
    for (int steps = 0;; ++steps) {
      SCOPED_TRACE(std::to_string(steps) + (known ? " known" : " new"));
      World world(5);
      if (known) world.found(names_up_to(3), "7.d");
      const MemberWish wish = wish_of(Kind::bootstrap, "", "", names_up_to(5));
      Operator killed(world, wish);
      for (int i = 0; i < steps; ++i) killed.step();
      if (killed.has_ended()) break;
      ASSERT_TRUE(Operator(world, wish).done()) << world.describe();
      world.now += full_quarantine;
      EXPECT_TRUE(world.serves(names_up_to(5)));
    }
  }
}

TEST(MemberBootstrap, TakesOverWhatAnotherListBeganToOpen) {
  for (int steps = 0;; ++steps) {
    SCOPED_TRACE(steps);
    World world(4);
    Operator killed(world, wish_of(Kind::bootstrap, "", "", {"n1", "n2", "n4"}));
    for (int i = 0; i < steps; ++i) killed.step();
    if (killed.has_ended() || world.serves({"n1", "n2", "n4"})) break;
    ASSERT_TRUE(Operator(world, wish_of(Kind::bootstrap, "", "", names_up_to(3))).done());
    world.now += full_quarantine;
    EXPECT_TRUE(world.serves(names_up_to(3))) << world.describe();
  }
}

TEST(MemberBootstrap, OfKnownNodesIsQuarantinedForTheirLongestLease) {
  World world(3);
  Marker marker;
  marker.state = Marker::State::active;
  marker.deployment = "d";
  marker.members = {"n1"};
  marker.self = "n1";
  marker.max_ttl = milliseconds(5000);
  world.write("n1", marker, milliseconds(-1));
  const MemberWish wish = wish_of(Kind::bootstrap, "", "", names_up_to(3));
  Operator run(world, wish);
  while (run.writes.size() < 4) ASSERT_TRUE(run.step());
  ASSERT_TRUE(Operator(world, wish).done()) << "another run knows it too";
  for (const std::string& name : names_up_to(3)) {
    EXPECT_EQ(world.at(name).quarantined_until - world.now, milliseconds(5052)) << name;
  }
}

TEST(MemberBootstrap, GoesOnBesideAnotherOneAtEveryPoint) {
  for (const bool known : {false, true}) {
    for (int first = 0; first < 16; ++first) {
      for (int second = 0; second < 16; ++second) {
        World world(3);
        if (known) world.found({"n1", "n2"}, "7.d");
        const MemberWish wish = wish_of(Kind::bootstrap, "", "", names_up_to(3));
        Operator a(world, wish);
        Operator b(world, wish);
        for (int i = 0; i < first; ++i) a.step();
        for (int i = 0; i < second; ++i) b.step();
        ASSERT_TRUE(a.done());
        ASSERT_TRUE(b.done());
        world.now += full_quarantine;
        EXPECT_TRUE(world.serves(names_up_to(3)));
      }
    }
  }
}

TEST(MemberBootstrap, RefusesListsThatLeaveAQuorumOut) {
  World world(5);
  world.found(names_up_to(3), "7.d");
  Operator two_out(world, wish_of(Kind::bootstrap, "", "", {"n3", "n4", "n5"}));
  ASSERT_TRUE(two_out.refused());
  EXPECT_TRUE(two_out.writes.empty());
  Operator one_out(world, wish_of(Kind::bootstrap, "", "", {"n2", "n3", "n4"}));
  EXPECT_TRUE(one_out.done());
}

/// Servers that moved to TLS or to host names: the URLs are new, the servers are not. The members
/// were m1, m2, ...
World world_by_other_names(std::size_t count) {
  World world(count);
  Marker former;
  former.state = Marker::State::active;
  former.deployment = "7.d";
  for (std::size_t i = 1; i <= count; ++i) former.members.push_back("m" + std::to_string(i));
  for (std::size_t i = 1; i <= count; ++i) {
    former.self = former.members[i - 1];
    world.write(name_of(i), former, milliseconds(-1), world.now - 2 * full_quarantine);
  }
  return world;
}

TEST(MemberBootstrap, OfTheSameNodesByOtherNamesThatIsKilledAfterAnyStepIsResumed) {
  for (std::size_t count = 1; count <= 5; ++count) {
    for (int steps = 0;; ++steps) {
      SCOPED_TRACE(std::to_string(count) + " nodes, " + std::to_string(steps) + " steps");
      World world = world_by_other_names(count);
      const MemberWish wish = wish_of(Kind::bootstrap, "", "", names_up_to(count));
      Operator killed(world, wish);
      for (int i = 0; i < steps; ++i) killed.step();
      if (killed.has_ended()) break;
      ASSERT_TRUE(Operator(world, wish).done()) << world.describe();
      world.now += 2 * full_quarantine;
      EXPECT_TRUE(world.serves(names_up_to(count))) << world.describe();
    }
  }
}

// An interrupted bootstrap left markers on two nodes. They do not let another list take a node from
// a deployment that uses it.
TEST(MemberBootstrap, OfAnotherListThanTheInterruptedOneLeavesADeploymentAlone) {
  World world = world_by_other_names(5);
  Operator killed(world, wish_of(Kind::bootstrap, "", "", names_up_to(5)));
  while (killed.writes.size() < 2) ASSERT_TRUE(killed.step());
  Operator run(world, wish_of(Kind::bootstrap, "", "", {"n1", "n2", "n3"}));
  ASSERT_TRUE(run.refused());
  EXPECT_TRUE(run.writes.empty());
}

// The interrupted bootstrap had read a blank node, which has joined another deployment since.
TEST(MemberBootstrap, ThatWasInterruptedTakesNoNodeFromADeploymentThatItHasNotSeen) {
  World world(3);
  const MemberWish wish = wish_of(Kind::bootstrap, "", "", names_up_to(3));
  Operator killed(world, wish);
  while (killed.writes.size() < 2) ASSERT_TRUE(killed.step());
  Marker theirs;
  theirs.state = Marker::State::active;
  theirs.deployment = "1.d";
  theirs.members = {"m1", "m2", "n3"};
  theirs.self = "n3";
  world.write("n3", theirs, milliseconds(-1));
  Operator run(world, wish);
  ASSERT_TRUE(run.refused()) << world.describe();
  EXPECT_TRUE(run.writes.empty());
}

TEST(MemberBootstrap, RefusesWhileAChangeIsUnderWayAndNamesIt) {
  World world(4);
  world.found(names_up_to(3), "7.d");
  const MemberWish change = wish_of(Kind::replace, "n3", "n4", {"n1"});
  Operator killed(world, change);
  while (killed.writes.size() < 2) ASSERT_TRUE(killed.step());
  Operator run(world, wish_of(Kind::bootstrap, "", "", names_up_to(4)));
  ASSERT_TRUE(run.refused());
  EXPECT_NE(run.refused()->remedy.find("members replace n3 n4"), std::string::npos);
  EXPECT_TRUE(run.writes.empty());
}

TEST(MemberBootstrap, RefusesWhileThereAreLocksAndWhileANodeIsMissing) {
  World world(3);
  const MemberWish wish = wish_of(Kind::bootstrap, "", "", names_up_to(3));
  Operator run(world, wish);
  run.held = "n1 has a lock";
  ASSERT_TRUE(run.refused());
  EXPECT_EQ(run.refused()->reason, ChangeRefused::Reason::held);
  EXPECT_TRUE(run.writes.empty());
  world.at("n2").up = false;
  EXPECT_TRUE(std::holds_alternative<WaitFor>(Operator(world, wish).run()));
}

}  // namespace
}  // namespace redlock::core::test
