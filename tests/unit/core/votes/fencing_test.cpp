#include "core/votes/fencing.hpp"

#include <gtest/gtest.h>

#include "core/membership/marker.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

std::uint64_t token_of(Harness& h) { return h.engine().claim(h.lease)->fencing()->number; }

TEST(FencingToken, IsNotMadeOfAcknowledgementsOfDifferentNumbers) {
  Connected h(3);
  h.acquire_fenced(1, 10s, 5000);
  h.fenced(0, Reply::behind, 7000);
  h.fenced(1, Reply::granted, 5000);
  EXPECT_EQ(h.fenced(0, Reply::granted, 7001), "");
  EXPECT_EQ(h.fenced(1, Reply::behind, 9000), "")
      << "node 1 said yes to 5000 only; node 2 may still answer";
  EXPECT_EQ(h.fenced(2, Reply::behind, 100), "raise t1 7001 -> 2");
  EXPECT_EQ(h.fenced(2, Reply::behind, 9500), "raise t1 9501 -> 0 1 2");
  h.fenced(0, Reply::granted, 9501);
  EXPECT_EQ(h.fenced(1, Reply::granted, 9501), "acquired #1 until 9898ms");
  EXPECT_EQ(token_of(h), 9501U);
}

TEST(FencingToken, MakesTheAttemptFailWhenTooFewNodesCanAcknowledgeIt) {
  Connected h(3);
  h.acquire_fenced(1, 10s, 5000);
  h.fenced(0, Reply::behind, 7000);
  EXPECT_EQ(h.fenced(1, Reply::granted, 5000), "raise t1 7001 -> 0 1");
  h.down(2);
  EXPECT_EQ(h.down(1), "release t1 -> 0") << "it may be back in a moment";
  h.pass(10ms);
  EXPECT_EQ(h.down(1, "refused"), "failed #1 unavailable");
}

TEST(FencingToken, ThatComesTooLateIsNoLease) {
  Connected h(1);
  h.acquire_fenced(1, 100ms, 5000);
  EXPECT_EQ(h.fenced(0, Reply::behind, 7000), "raise t1 7001 -> 0");
  h.oversleep(98ms);
  EXPECT_EQ(h.fenced(0, Reply::granted, 7001), "release t1 -> 0; failed #1 expired");
}

/// Three nodes with known clocks that acknowledge numbers without a script.
struct Numbered : Harness {
  Numbered() : Harness(settings()) {
    static_cast<void>(tick());
    for (NodeIndex node = 0; node < 3; ++node) {
      NodeUp event;
      event.capabilities = {Capability::run_scripts, Capability::set_fenced};
      static_cast<void>(up_as(node, event));
      static_cast<void>(clock(node, 5000us));
    }
  }
  static Settings settings() {
    Settings settings = settings_for(3);
    settings.clock_guard = true;
    return settings;
  }
  void answer_all() {
    for (NodeIndex node = 0; node < 3; ++node) {
      while (open(node) > 0) Harness::answer(node, Reply::taken, "other");
    }
  }
  static constexpr std::uint64_t day = 86'400'000'000;
};

TEST(Numbering, AcknowledgesWhereTheNumberIsHigherAndTheKeyIsStillOurs) {
  struct Row {
    std::uint64_t highest;  ///< of the node, before
    const char* holder;
    const char* then;  ///< once another node has acknowledged
  };
  const Row rows[] = {{4999, "t1", "acquired #1 until 9898ms"},
                      {0, "t1", "acquired #1 until 9898ms"},
                      {5000, "t1", "raise t1 5001 -> 0 1"},  // somebody else's number
                      {4000, "", "raise t1 5001 -> 0 1"},
                      {4000, "other", "raise t1 5001 -> 0 1"}};
  for (const Row& row : rows) {
    Numbered nodes;
    EXPECT_EQ(nodes.acquire_fenced(1, 10s, 5000), "set-fenced t1 5000 -> 0 1 2");
    EXPECT_EQ(nodes.fenced(0, Reply::granted, row.highest, row.holder), "");
    EXPECT_EQ(nodes.fenced(1, Reply::granted, 0, "t1"), row.then) << row.highest << row.holder;
  }
}

TEST(Numbering, IsTheScriptsWhereTheNodeWouldRefuseTheNumber) {
  Numbered h;
  EXPECT_EQ(h.acquire_fenced(1, 10s, 5000 + static_cast<std::int64_t>(Numbered::day)),
            "set-fenced t1 86400005000 -> 0 1 2");
  h.cancel(1);
  for (NodeIndex node = 0; node < 3; ++node) h.answers({node, node}, Reply::taken);
  EXPECT_EQ(h.acquire_fenced(2, 10s, 5001 + static_cast<std::int64_t>(Numbered::day)),
            "take t2 86400005001 -> 0 1 2");
}

TEST(Numbering, IsTendedByTheFirstOfAConnectionAndEveryThousandth) {
  Numbered h;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    const std::string sent = h.acquire_fenced(i, 10s, static_cast<std::int64_t>(5000 + i));
    ASSERT_NE(sent.find("set-fenced"), std::string::npos) << sent;
    h.answer_all();
  }
  h.acquire_fenced(2000, 10s, 9000);
  h.answer_all();
  EXPECT_EQ(h.pruned(), 6U);
}

/// Three members that number without a script, with both guards, as clients have them.
struct Short : Harness {
  Short() : Harness(settings()) {
    static_cast<void>(tick());
    for (NodeIndex node = 0; node < 3; ++node) {
      const std::string record = record_of(node);
      NodeUp event;
      event.marker = record;
      event.capabilities = {Capability::run_scripts, Capability::set_fenced};
      static_cast<void>(up_as(node, event));
      static_cast<void>(clock(node, 5000us));
    }
  }
  static Settings settings() {
    Settings settings = settings_for(3);
    settings.restart_guard = settings.clock_guard = true;
    return settings;
  }
  static std::string record_of(NodeIndex node) {
    Marker marker;
    marker.state = Marker::State::active;
    marker.incarnation = "i";
    marker.deployment = "D";
    marker.run_id = "server" + std::to_string(node);
    marker.replid = "r";
    marker.max_ttl = std::chrono::milliseconds(30s);
    marker.members = {"node0", "node1", "node2"};
    marker.self = "node" + std::to_string(node);
    return format_marker(marker) + " 1";
  }
  /// Answers the fenced SET, and then the marker and floor that were read after it.
  std::string votes(NodeIndex node, Reply reply, std::string_view holder, std::uint64_t floor) {
    EXPECT_EQ(fenced(node, reply, 0, holder), "") << "it is held back";
    return read(node, floor);
  }
  std::string plain_yes(NodeIndex node, std::uint64_t floor) {
    EXPECT_EQ(assented(node), "") << "it is held back";
    return read(node, floor);
  }
  std::string read(NodeIndex node, std::uint64_t floor) {
    return fenced(node, Reply::marker, floor, record_of(node));
  }
};

TEST(ShortForm, AcknowledgesWithAFloorBelowTheNumberReadBehindItIfTheKeyIsStillOurs) {
  struct Row {
    const char* holder;
    std::uint64_t floor;
    const char* then;  ///< once another node has acknowledged
  };
  const Row rows[] = {{"t1", 4999, "acquired #1 until 9898ms"},
                      {"t1", 5000, "raise t1 5001 -> 0 1"},
                      {"t1", 0, "raise t1 5001 -> 0 1"},  // it has no floor
                      {"other", 1, "raise t1 5001 -> 0 1"}};
  for (const Row& row : rows) {
    Short nodes;
    EXPECT_EQ(nodes.acquire_fenced(1, 10s, 5000), "set-fenced-short t1 5000 -> 0 1 2");
    EXPECT_EQ(nodes.end_turn(), "read-floor-and-marker -> 0 1 2");
    EXPECT_EQ(nodes.votes(0, Reply::granted, row.holder, row.floor), "");
    EXPECT_EQ(nodes.votes(1, Reply::granted, "t1", 1), row.then) << row.holder << row.floor;
  }
}

TEST(ShortForm, OfWhichANodeSaysYesAndNothingElseCountsAsOneThatNamesUs) {
  Short h;
  EXPECT_EQ(h.acquire_fenced(1, 10s, 5000), "set-fenced-short t1 5000 -> 0 1 2");
  h.end_turn();
  EXPECT_EQ(h.plain_yes(0, 4999), "");
  EXPECT_EQ(h.plain_yes(1, 1), "acquired #1 until 9898ms");
  EXPECT_EQ(token_of(h), 5000U);
  EXPECT_EQ(h.plain_yes(2, 1), "") << "a straggler";
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
}

TEST(ShortForm, OfWhichANodeSaysYesCountsByItsFloor) {
  Short h;
  h.acquire_fenced(1, 10s, 5000);
  h.end_turn();
  EXPECT_EQ(h.plain_yes(0, 5000), "");
  EXPECT_EQ(h.plain_yes(1, 0), "raise t1 5001 -> 0 1") << "no floor";
  EXPECT_EQ(h.plain_yes(2, 1), "raise t1 5001 -> 2") << "it granted when the others were raised";
}

TEST(ShortForm, GivesWayToTheLongOneWhereOthersAreAhead) {
  Short h;
  h.acquire_fenced(1, 10s, 5000);
  h.end_turn();
  EXPECT_EQ(h.votes(0, Reply::behind, "", 1), "");
  EXPECT_EQ(h.votes(1, Reply::granted, "t1", 1), "raise t1 5001 -> 0 1");
  h.end_turn();
  h.fenced(0, Reply::behind, 7000);
  EXPECT_EQ(h.answer(0, Reply::marker, h.record_of(0)), "");
  h.cancel(1);
  for (NodeIndex node = 0; node < 3; ++node) {
    while (h.open(node) > 0) {
      const Stamp stamp = h.take_open(node);
      const std::string record = h.record_of(node);
      Answer event{node, stamp, Reply::taken, {}, {}};
      if (is_upkeep(stamp.verb)) event.reply = Reply::done;
      if (is_marker_reading(stamp.verb)) {
        event.reply = Reply::marker;
        event.text = record;
      } else if (stamp.verb == Verb::read_clock) {
        event.reply = Reply::clock;
        event.time = 5000us;
      }
      static_cast<void>(h.step(event));
    }
  }
  EXPECT_EQ(h.acquire_fenced(2, 10s, 5000), "set-fenced t2 7001 -> 0 1 2");
  EXPECT_EQ(h.end_turn(), "read-marker -> 0 1 2");
  for (const NodeIndex node : {NodeIndex{0}, NodeIndex{1}}) {
    h.fenced(node, Reply::granted, 7000, "t2");
    h.answer(node, Reply::marker, h.record_of(node));
  }
  EXPECT_EQ(token_of(h), 7001U);
  h.release(3);
  for (const NodeIndex node : {NodeIndex{0}, NodeIndex{1}}) h.answer(node, Reply::released);
  EXPECT_EQ(h.acquire_fenced(4, 10s, 5000), "set-fenced-short t3 7002 -> 0 1 2")
      << "nobody was ahead of 7001";
}

TEST(ShortForm, IsNotForAnAttemptThatWasRefusedBefore) {
  Short h;
  Acquire event;
  event.request = CallId{1};
  event.resource = "resource";
  event.ttl = 10s;
  event.wait = 1s;
  event.fencing = 5000us - h.now().time_since_epoch();
  EXPECT_EQ(h.step(event), "set-fenced-short t1 5000 -> 0 1 2") << "with what is left of the key";
  h.end_turn();
  for (NodeIndex node = 0; node < 2; ++node) {
    h.answer(node, Reply::taken, "other", 10ms);
    h.read(node, 1);
  }
  const std::string later = h.pass(900ms);
  EXPECT_EQ(later.find("short"), std::string::npos) << later;
}

TEST(FencingToken, PastWhatLuaCanCountIsRefused) {
  Connected h(1);
  h.acquire_fenced(1, 10s, 5000);
  EXPECT_EQ(h.fenced(0, Reply::behind, fence_limit - 1), "release t1 -> 0; failed #1 excluded");
}

/// Far above the numbers that other nodes would accept from a client whose clock shows 5000.
constexpr std::uint64_t far_ahead = 30 * std::uint64_t{86'400'000'000};

TEST(FencingToken, LeavesOutANodeWhoseNumbersAreFarAheadWhileTheOthersSuffice) {
  Connected h(3);
  h.acquire_fenced(1, 10s, 5000);
  EXPECT_EQ(h.fenced(0, Reply::behind, far_ahead), "");
  EXPECT_EQ(h.fenced(1, Reply::granted, 5000), "") << "it takes nobody along";
  EXPECT_EQ(h.fenced(2, Reply::granted, 5000), "acquired #1 until 9898ms");
  EXPECT_EQ(token_of(h), 5000U);
  const NodeVote vote = h.engine().claim(h.lease)->round->vote(0);
  EXPECT_EQ(vote.vote, Vote::excluded);
  EXPECT_EQ(vote.text, "its fencing numbers are 719 hours ahead of our clock");
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
  h.answers({0, 1, 2}, Reply::released);
  EXPECT_EQ(h.acquire_fenced(3, 10s, 6000), "take t2 6000 -> 0 1 2") << "nor is it proposed";
}

TEST(FencingToken, IsRaisedAboveNumbersFarAheadWhereNoQuorumIsPossibleWithoutThem) {
  Connected h(3);
  h.down(2);
  h.acquire_fenced(1, 10s, 5000);
  EXPECT_EQ(h.fenced(0, Reply::behind, far_ahead), "");
  EXPECT_EQ(h.fenced(1, Reply::granted, 5000), "raise t1 2592000000001 -> 0 1");
  h.fenced(0, Reply::granted, far_ahead + 1);
  EXPECT_EQ(h.fenced(1, Reply::granted, far_ahead + 1), "acquired #1 until 9898ms");
  EXPECT_EQ(token_of(h), far_ahead + 1);
  h.release(2);
  h.answers({0, 1}, Reply::released);
  EXPECT_EQ(h.acquire_fenced(3, 10s, 6000), "take t2 6000 -> 0 1");
}

TEST(FencingToken, ThatWasRefusedForBeingTooFarAheadIsNotAskedForAgain) {
  Connected h(1);
  h.acquire_fenced(1, 10s, 5000);
  h.fenced(0, Reply::behind, 7000);
  h.fenced(0, Reply::granted, 7001);
  h.release(2);
  h.answer(0, Reply::released);
  EXPECT_EQ(h.acquire_fenced(3, 10s, 5000), "take t2 7002 -> 0");
  h.answer(0, Reply::error, "FENCE the number asked for is more than a day ahead of this node");
  EXPECT_EQ(h.acquire_fenced(4, 10s, 5000), "take t3 5000 -> 0");
}

TEST(FencingNumbers, ProposesNothingThatTheNodesWouldRefuse) {
  FencingNumbers memory;
  const Duration clock = 5s;
  memory.note("r", fencing_number_at(clock + fence_lead) + 7);
  EXPECT_EQ(memory.propose("r", clock), fencing_number_at(clock));
}

TEST(FencingNumbers, ProposesTheClockOrWhatIsJustAboveTheHighestNumber) {
  FencingNumbers memory;
  EXPECT_EQ(memory.propose("r", 9us), 9U);
  memory.note("r", 20);
  memory.note("r", 15);
  EXPECT_EQ(memory.propose("r", 9us), 21U);
  EXPECT_EQ(memory.propose("r", 30us), 30U);
  EXPECT_EQ(memory.propose("r", -5us), 21U) << "a clock before 1970";
}

}  // namespace
}  // namespace redlock::core::test
