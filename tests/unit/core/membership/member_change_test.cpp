// An operator changes the members. It runs to its end over model nodes: it is killed after every
// step, it competes with another operator, nodes die, and clients could be granted leases all the
// time.
//
// Covered without gaps: every change of one to five nodes (cases()), and for each change a crash, a
// node that forgets and a node that is down, after every step of the operator. With two operators
// and at most three nodes: every pair of steps at which both are still at work. Everything at once
// is drawn at random. After each write the ledger of World compares all leases that were possible.

#include "core/membership/member_change.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "unit/core/membership/member_world.hpp"

namespace redlock::core::test {
namespace {

using Kind = MemberWish::Kind;

struct Case {
  Names before;
  MemberWish wish;
  Names after;
};

/// Every kind of change, with the leaving node first, in the middle and last.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (std::size_t count = 1; count <= 5; ++count) {
    const Names before = names_up_to(count);
    const std::string entering = name_of(count + 1);
    const auto put = [&](MemberWish wish) {
      Names after = members_after(before, wish);
      all.push_back({before, std::move(wish), std::move(after)});
    };
    put(wish_of(Kind::add, "", entering, before));
    for (std::size_t i = 1; i <= count && count > 1; ++i) {
      put(wish_of(Kind::replace, name_of(i), entering, before));
      put(wish_of(Kind::remove, name_of(i), "", before));
    }
  }
  return all;
}

std::string title(const Case& change) {
  return command_of(change.wish) + " of " + std::to_string(change.before.size());
}

/// All members serve the same deployment, after its quarantines.
void expect_made(World& world, const Case& change) {
  world.let_clients_act();
  world.now += 2 * full_quarantine;
  world.let_clients_act();
  world.now += 2 * full_quarantine;
  world.let_clients_act();
  EXPECT_TRUE(world.serves(change.after)) << world.describe();
}

World world_of(const Case& change) {
  World world(change.before.size() + 2);
  world.found(change.before, "7.d");
  return world;
}

TEST(MemberChange, CommandsAreQuotedForTheShell) {
  MemberWish wish;
  wish.kind = MemberWish::Kind::replace;
  wish.leaving = "redis://[::1]:7001";
  wish.entering = "redis://a;reboot";
  EXPECT_EQ(command_of(wish), "members replace 'redis://[::1]:7001' 'redis://a;reboot'");
  wish.kind = MemberWish::Kind::add;
  wish.entering = "--config=/tmp/mine";
  EXPECT_EQ(command_of(wish), "members add -- '--config=/tmp/mine'");
  EXPECT_EQ(shell_list({"redis://a", "redis://it's"}), "'redis://a,redis://it'\\''s'");
  EXPECT_EQ(shell_list({"redis://a:7001", "unix:///run/r.sock"}),
            "redis://a:7001,unix:///run/r.sock");
}

TEST(MemberChange, IsMadeOneNodeAtATime) {
  for (const Case& change : cases()) {
    SCOPED_TRACE(title(change));
    World world = world_of(change);
    Operator run(world, change.wish);
    const auto done = run.done();
    ASSERT_TRUE(done);
    EXPECT_EQ(done->members, change.after);
    EXPECT_EQ(generation_of(done->deployment), 8U);
    const bool enters = !change.wish.entering.empty();
    EXPECT_EQ(run.writes.size(), change.after.size() + (enters ? 1U : 0U));
    if (enters) {
      EXPECT_EQ(run.writes.front().node, change.wish.entering);
      EXPECT_EQ(run.writes.front().marker.state, Marker::State::joining);
      EXPECT_EQ(run.writes.back().node, change.wish.entering);
      EXPECT_EQ(run.writes.back().quarantine, full_quarantine);
    }
    EXPECT_TRUE(run.waits.empty());
    for (const std::string& name : change.after) {
      const Marker marker = world.marker(name);
      EXPECT_EQ(marker.remembers_since,
                name == change.wish.entering ? marker.written_at : Marker::always);
    }
    Operator again(world, change.wish);
    EXPECT_TRUE(again.done());
    EXPECT_TRUE(again.writes.empty());
    expect_made(world, change);
  }
}

TEST(MemberChange, AMemberThatIsTakenBackRemembersSinceThen) {
  World world(4);
  world.found(names_up_to(3), "7.d");
  world.restart_empty("n2");
  ASSERT_TRUE(Operator(world, wish_of(Kind::add, "", "n4", names_up_to(3))).done());
  EXPECT_EQ(world.marker("n1").remembers_since, Marker::always);
  EXPECT_NE(world.marker("n2").remembers_since, Marker::always);
}

TEST(MemberChange, ThatIsKilledAfterAnyStepIsResumedByTheSameWish) {
  for (const Case& change : cases()) {
    for (int steps = 0;; ++steps) {
      SCOPED_TRACE(title(change) + ", killed after step " + std::to_string(steps));
      World world = world_of(change);
      Operator killed(world, change.wish);
      for (int i = 0; i < steps; ++i) killed.step();
      if (killed.has_ended()) break;
      std::set<std::string> all(change.before.begin(), change.before.end());
      if (!change.wish.entering.empty()) all.insert(change.wish.entering);
      if (const auto reported = change_under_way(world.survey(all))) {
        EXPECT_EQ(command_of(*reported), command_of(change.wish));
      }
      const auto done = Operator(world, change.wish).done();
      ASSERT_TRUE(done) << world.describe();
      EXPECT_EQ(done->members, change.after);
      expect_made(world, change);
    }
  }
}

TEST(MemberChange, ThatIsKilledBesideANodeThatRefusesIsKnownToBeHalfDone) {
  for (const Case& change : cases()) {
    std::set<std::string> all(change.before.begin(), change.before.end());
    if (!change.wish.entering.empty()) all.insert(change.wish.entering);
    for (const std::string& victim : all) {
      for (int steps = 0;; ++steps) {
        SCOPED_TRACE(title(change) + ", killed after step " + std::to_string(steps) + " beside " +
                     victim);
        World world = world_of(change);
        Operator killed(world, change.wish);
        for (int i = 0; i < steps; ++i) killed.step();
        if (killed.has_ended()) break;
        world.at(victim).up = false;
        const auto seen = change_under_way(world.survey(all));
        Operator again(world, change.wish);
        if (!seen || again.done()) continue;
        EXPECT_TRUE(again.is_under_way()) << world.describe();
        const std::string reported = describe_unfinished(world.survey(all), change.wish);
        EXPECT_NE(reported.find("missing on "), std::string::npos) << reported;
        EXPECT_NE(reported.find("Resume it with: quorum-lock " + command_of(change.wish)),
                  std::string::npos);
        EXPECT_NE(reported.find("To take it back, finish it first"), std::string::npos);
      }
    }
  }
}

TEST(MemberChange, GoesOnBesideAnotherRunOfTheSameWishAtEveryPoint) {
  for (const Case& change : cases()) {
    if (change.before.size() > 3) continue;
    bool first_ended = false;
    for (int first = 0; !first_ended; ++first) {
      bool second_ended = false;
      for (int second = 0; !second_ended; ++second) {
        SCOPED_TRACE(title(change) + " " + std::to_string(first) + "/" + std::to_string(second));
        World world = world_of(change);
        Operator a(world, change.wish);
        Operator b(world, change.wish);
        for (int i = 0; i < first; ++i) a.step();
        first_ended = a.has_ended();
        for (int i = 0; i < second; ++i) b.step();
        second_ended = b.has_ended();
        EXPECT_TRUE(a.done());
        EXPECT_TRUE(b.done());
        expect_made(world, change);
      }
    }
  }
}

TEST(MemberChange, OfTwoThatDifferOneIsMadeAtEveryInterleaving) {
  const Names before = names_up_to(3);
  const std::vector<MemberWish> wishes{
      wish_of(Kind::replace, "n1", "n4", before), wish_of(Kind::replace, "n3", "n5", before),
      wish_of(Kind::add, "", "n4", before), wish_of(Kind::remove, "n1", "", before),
      wish_of(Kind::remove, "n2", "", before)};
  for (const MemberWish& one : wishes) {
    for (const MemberWish& other : wishes) {
      if (&one == &other) continue;
      bool first_ended = false;
      for (int first = 0; !first_ended; ++first) {
        bool second_ended = false;
        for (int second = 0; !second_ended; ++second) {
          for (int third = 0; third < 2; ++third) {
            SCOPED_TRACE(command_of(one) + " against " + command_of(other) + " " +
                         std::to_string(first) + "/" + std::to_string(second) + "/" +
                         std::to_string(third));
            World world(5);
            world.found(before, "7.d");
            Operator a(world, one);
            Operator b(world, other);
            for (int i = 0; i < first; ++i) a.step();
            first_ended = a.has_ended();
            for (int i = 0; i < second; ++i) b.step();
            second_ended = b.has_ended();
            for (int i = 0; i < third; ++i) a.step();
            b.run();
            a.run();
            // Each operator begins again, until both changes are made or make no sense any longer.
            for (int i = 0; i < 3; ++i) {
              Operator(world, one).run();
              Operator(world, other).run();
            }
            const bool stuck = change_under_way(world.survey({"n1", "n2", "n3", "n4", "n5"})) &&
                               !Operator(world, one).done() && !Operator(world, other).done();
            EXPECT_FALSE(stuck) << world.describe();
          }
        }
      }
    }
  }
}

TEST(MemberChange, SurvivesThatAnyNodeForgetsEverythingAtAnyPoint) {
  for (const Case& change : cases()) {
    for (std::size_t victim = 1; victim <= change.before.size() + 1; ++victim) {
      if (change.before.size() < 3) continue;  // one of two members cannot take the other back
      for (int steps = 0;; ++steps) {
        SCOPED_TRACE(title(change) + ", " + name_of(victim) + " forgets after step " +
                     std::to_string(steps));
        World world = world_of(change);
        Operator run(world, change.wish);
        for (int i = 0; i < steps; ++i) run.step();
        if (run.has_ended()) break;
        world.restart_empty(name_of(victim));
        world.let_clients_act();
        run.run();
        world.let_clients_act();
        const auto done = Operator(world, change.wish).done();
        ASSERT_TRUE(done) << world.describe();
        expect_made(world, change);
      }
    }
  }
}

TEST(MemberChange, WaitsForAMemberThatIsDownAndGoesOnWhenItIsBack) {
  for (const Case& change : cases()) {
    for (const std::string& victim : change.after) {
      for (int steps = 0;; ++steps) {
        SCOPED_TRACE(title(change) + ", " + victim + " down after step " + std::to_string(steps));
        World world = world_of(change);
        Operator run(world, change.wish);
        for (int i = 0; i < steps; ++i) run.step();
        if (run.has_ended()) break;
        world.at(victim).up = false;
        run.run();
        if (const auto* refused = std::get_if<ChangeRefused>(&run.run())) {
          ADD_FAILURE() << refused->why;
        }
        world.at(victim).up = true;
        ASSERT_TRUE(Operator(world, change.wish).done()) << world.describe();
        expect_made(world, change);
      }
    }
  }
}

TEST(MemberChange, ReplacesANodeThatDiedWhileItEntered) {
  for (const Case& change : cases()) {
    if (change.wish.entering.empty() || change.after.size() < 3) continue;
    for (int steps = 0;; ++steps) {
      SCOPED_TRACE(title(change) + ", dead after step " + std::to_string(steps));
      World world = world_of(change);
      Operator run(world, change.wish);
      for (int i = 0; i < steps; ++i) run.step();
      if (run.has_ended()) break;
      world.at(change.wish.entering).up = false;
      const MemberStep& end = run.run();
      const bool waits = std::holds_alternative<WaitFor>(end);
      const bool others_have_it =
          world.marker(change.after.front()).members == change.after && waits;
      if (!others_have_it) continue;
      const std::string next = name_of(change.before.size() + 2);
      const Case then{
          change.after,
          wish_of(Kind::replace, change.wish.entering, next, {change.after[0], change.after[1]}),
          members_after(change.after, wish_of(Kind::replace, change.wish.entering, next, {}))};
      Operator again(world, then.wish);
      ASSERT_TRUE(again.done()) << world.describe();
      EXPECT_FALSE(again.waits.empty()) << "within a quarantine of the change before";
      expect_made(world, then);
    }
  }
}

TEST(MemberChange, CanBeTakenBackLaterWithTheNodeThatWasRemoved) {
  const Case there{
      names_up_to(3), wish_of(Kind::replace, "n3", "n4", names_up_to(3)), {"n1", "n2", "n4"}};
  World world = world_of(there);
  ASSERT_TRUE(Operator(world, there.wish).done());
  const Case back{there.after, wish_of(Kind::replace, "n4", "n3", there.after), names_up_to(3)};
  Operator run(world, back.wish);
  ASSERT_TRUE(run.done());
  EXPECT_FALSE(run.waits.empty()) << "two changes within one quarantine are not safe";
  expect_made(world, back);
}

TEST(MemberChange, BeginsOnlyWhenEveryMarkerIsOldEnoughByItsOwnClock) {
  World world(4);
  world.found(names_up_to(3), "7.d");
  world.write("n2", world.marker("n2"), milliseconds(-1));
  Operator run(world, wish_of(Kind::replace, "n3", "n4", {"n1"}));
  run.step();
  while (run.waits.empty() && run.step()) EXPECT_TRUE(run.writes.empty());
  ASSERT_EQ(run.waits.size(), 1U);
  EXPECT_EQ(run.waits[0].node, "n2");
  EXPECT_EQ(run.waits[0].cause, WaitFor::Cause::age);
  EXPECT_EQ(run.waits[0].left, full_quarantine + milliseconds(1));
  EXPECT_TRUE(run.done());
}

TEST(MemberChange, WaitsWhileAMemberIsQuarantinedSoThatThereIsNoOutage) {
  World world(4);
  world.found(names_up_to(3), "7.d");
  world.at("n1").quarantined_until = world.now + milliseconds(700);
  Operator run(world, wish_of(Kind::replace, "n3", "n4", {"n1"}));
  ASSERT_TRUE(run.done());
  ASSERT_EQ(run.waits.size(), 1U);
  EXPECT_EQ(run.waits[0].cause, WaitFor::Cause::quarantine);
}

TEST(MemberChange, RefusesWhatCannotBeMeant) {
  World world(5);
  world.found(names_up_to(3), "7.d");
  const auto expect_usage = [&](const MemberWish& wish) {
    Operator run(world, wish);
    const auto refused = run.refused();
    ASSERT_TRUE(refused) << command_of(wish);
    EXPECT_EQ(refused->reason, ChangeRefused::Reason::wish);
    EXPECT_TRUE(run.writes.empty());
  };
  expect_usage(wish_of(Kind::replace, "n4", "n5", {"n1"}));
  expect_usage(wish_of(Kind::replace, "n1", "n2", {"n1"}));
  World single(2);
  single.found(names_up_to(1), "7.d");
  Operator run(single, wish_of(Kind::replace, "n1", "n2", {"n1"}));
  ASSERT_TRUE(run.refused());
  EXPECT_EQ(run.refused()->reason, ChangeRefused::Reason::wish);
  Operator last(single, wish_of(Kind::remove, "n1", "", {"n1"}));
  ASSERT_TRUE(last.refused());
}

TEST(MemberChange, RefusesAnotherNameOfTheMemberThatLeaves) {
  World world(4);
  world.found(names_up_to(3), "1.d");
  world.at("n4").seen.run_id = world.at("n3").seen.run_id;
  Operator run(world, wish_of(Kind::remove, "n4", "", names_up_to(3)));
  ASSERT_TRUE(run.refused());
  EXPECT_EQ(run.refused()->why, "n4 is the member n3: name it so");
  EXPECT_EQ(run.refused()->reason, ChangeRefused::Reason::wish);
  EXPECT_TRUE(run.writes.empty());
}

TEST(MemberChange, RefusesAnotherNumberOfServersOfAMemberAndSaysWhatToDo) {
  World world(4);
  world.found(names_up_to(3), "1.d");
  world.at("n4").seen.run_id = world.at("n3").seen.run_id;
  const auto refusal_of = [&](const std::string& entering) {
    world.at("n4").seen.name = entering;
    Operator run(world, wish_of(Kind::replace, "n3", entering, names_up_to(3)));
    EXPECT_TRUE(run.refused() && run.writes.empty());
    return run.refused() ? run.refused()->why : std::string();
  };
  EXPECT_EQ(refusal_of("n4"), "n4 and the member n3 are the same server");
  EXPECT_EQ(
      refusal_of("n4?servers=3"),
      "n4?servers=3 and the member n3 are the same server. To change its sentinels or its "
      "number of servers, stop all clients, then run quorum-lock bootstrap with the new list");
}

TEST(MemberChange, SeesANodeThatWasAskedAtAMembersUrlUnderThatUrl) {
  World world(4);
  world.found(names_up_to(3), "1.d");
  const auto names_of = [&](const std::set<std::string>& asked) {
    Names names;
    for (const ObservedNode& node : with_member_names(world.survey(asked))) {
      names.push_back(node.name);
    }
    return names;
  };
  // n4 is another name of n2.
  world.at("n4").seen = world.at("n2").seen;
  world.at("n4").seen.name = "n4";
  EXPECT_EQ(names_of({"n1", "n3", "n4"}), (Names{"n1", "n3", "n2"}));
  EXPECT_EQ(names_of({"n1", "n2", "n4"}), (Names{"n1", "n2", "n4"})) << "it is there already";
  // n2's own marker belongs to another deployment, or is that of a blank node met as n4.
  Marker of_another;
  of_another.state = Marker::State::active;
  of_another.deployment = "1.e";
  of_another.members = {"n4"};
  of_another.self = "n4";
  Marker blank;
  blank.self = "n4";
  for (const Marker& marker : {of_another, blank}) {
    world.write("n2", marker, milliseconds(-1));
    const auto seen = with_member_names(world.survey({"n1", "n2", "n3"}));
    EXPECT_EQ(seen.at(1).name, "n2");
    EXPECT_TRUE(unseen_members(seen).empty());
  }
}

TEST(MemberChange, RefusesANodeOfAnotherDeployment) {
  World world(6);
  world.found(names_up_to(3), "7.d");
  Marker other;
  other.state = Marker::State::active;
  other.deployment = "9.e";
  other.members = {"n4", "n5", "n6"};
  other.self = "n4";
  world.write("n4", other, milliseconds(-1));
  Operator run(world, wish_of(Kind::replace, "n3", "n4", {"n1"}));
  ASSERT_TRUE(run.refused());
  EXPECT_EQ(run.refused()->reason, ChangeRefused::Reason::state);
  EXPECT_TRUE(run.writes.empty());
}

TEST(MemberChange, RefusesBesideADeploymentThatIsNotThere) {
  World world(4);
  Operator run(world, wish_of(Kind::add, "", "n4", names_up_to(3)));
  ASSERT_TRUE(run.refused());
  EXPECT_TRUE(run.writes.empty());
}

TEST(MemberChange, BelievesNoSingleMarker) {
  World world(4);
  world.found(names_up_to(3), "7.d");
  // One marker names one more member, and later says that another one was replaced.
  Marker edited = world.marker("n1");
  edited.members = {"n1", "n2", "n3", "n4"};
  world.write("n1", edited, milliseconds(-1), milliseconds(1));
  EXPECT_TRUE(unseen_members(world.survey({"n1", "n2", "n3"})).empty());
  Operator other_members(world, wish_of(Kind::remove, "n3", "", names_up_to(3)));
  ASSERT_TRUE(other_members.refused());
  EXPECT_NE(other_members.refused()->why.find("n1 has a marker that names other members"),
            std::string::npos)
      << other_members.refused()->why;
  EXPECT_TRUE(other_members.writes.empty());
  edited.members = names_up_to(3);
  set_admission(edited, "n2", "9.x");
  world.write("n1", edited, milliseconds(-1), milliseconds(1));
  EXPECT_TRUE(Operator(world, wish_of(Kind::remove, "n3", "", names_up_to(3))).done());
  EXPECT_TRUE(world.serves(names_up_to(2)));
}

/// Operators that crash and compete, nodes that die, forget and come back, and clients that adopt,
/// at random; in the end the change is made.
TEST(MemberChange, IsSafeAndIsMadeWhateverHappensMeanwhile) {
  const auto all = cases();
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&random](std::size_t count) { return random() % count; };
    const Case& change = all[pick(all.size())];
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + title(change));
    World world = world_of(change);
    std::vector<std::optional<Operator>> runs(2);
    std::size_t lost = 0;
    for (int i = 0; i < 60; ++i) {
      auto& run = runs[pick(2)];
      const std::string node = name_of(1 + pick(change.before.size() + 1));
      switch (pick(12)) {
        case 0:
          run.reset();
          break;
        case 1:
          if (change.before.size() >= 3 && lost++ < 1) world.restart_empty(node);
          break;
        case 2:
          world.let_clients_act();
          break;
        case 3:
          world.at(node).up = !world.at(node).up;
          break;
        case 4:
          world.now += milliseconds(pick(600));
          break;
        default:
          if (!run || run->has_ended()) run.emplace(world, change.wish);
          run->step();
      }
    }
    for (std::size_t i = 1; i <= change.before.size() + 1; ++i) world.at(name_of(i)).up = true;
    world.let_clients_act();
    EXPECT_TRUE(Operator(world, change.wish).done()) << world.describe();
    expect_made(world, change);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace redlock::core::test
