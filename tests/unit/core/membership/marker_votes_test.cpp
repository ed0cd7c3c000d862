#include <gtest/gtest.h>

#include "core/membership/marker.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

Settings with_restart_guard(std::size_t nodes) {
  Settings settings = Harness::settings_for(nodes);
  settings.restart_guard = true;
  return settings;
}

/// The marker of a member of the only deployment.
std::string text_of_marker(NodeIndex node, std::string_view incarnation = "i") {
  Marker marker;
  marker.state = Marker::State::active;
  marker.incarnation = incarnation;
  marker.deployment = "D";
  marker.run_id = "server" + std::to_string(node);
  marker.replid = "r";
  marker.max_ttl = std::chrono::milliseconds(30s);
  marker.members = {"node0", "node1", "node2"};
  marker.self = "node" + std::to_string(node);
  return format_marker(marker) + " 1";
}

/// Three connected members that remember their votes.
struct Remembering : Harness {
  Remembering() : Harness(with_restart_guard(3)) {
    tick();
    for (NodeIndex node = 0; node < 3; ++node) come_up(node);
  }
  std::string come_up(NodeIndex node, std::string_view incarnation = "i") {
    const std::string marker = text_of_marker(node, incarnation);
    NodeUp event;
    event.marker = marker;
    return up_as(node, event);
  }
  /// Answers read-marker with the known marker.
  std::string unchanged(NodeIndex node) {
    return answer(node, Reply::marker, text_of_marker(node));
  }
};

TEST(Waiting, EndsAtOnceWhereOnlyAnOperatorHelps) {
  const auto outcome = [](Marker::State state, std::chrono::milliseconds max_ttl) {
    Harness h(with_restart_guard(3));
    h.tick();
    std::vector<std::string> texts;
    for (NodeIndex node = 0; node < 3; ++node) {
      Marker marker = *parse_marker(text_of_marker(node));
      if (state == Marker::State::blank && node > 0) {
        const Marker member = std::exchange(marker, Marker());
        marker.incarnation = member.incarnation;
        marker.run_id = member.run_id;
        marker.replid = member.replid;
      }
      marker.max_ttl = max_ttl;
      texts.push_back(format_marker(marker) + " 1");
      NodeUp event;
      event.marker = texts.back();
      h.up_as(node, event);
    }
    const Instant asked = h.now();
    std::string out = h.acquire(1, 10s, 60s);
    // Another client may have taken nodes back: their markers are read again before it gives up.
    while (out.empty() || out.starts_with("read-marker")) {
      for (NodeIndex node = 0; node < 3; ++node) {
        while (h.open(node) > 0) h.answer(node, Reply::marker, texts.at(node));
      }
      out = h.pass(250ms);
    }
    EXPECT_LT(h.now() - asked, 5s) << "long before the wait is over";
    return out;
  };
  EXPECT_EQ(outcome(Marker::State::active, 30s), "set t1 -> 0 1 2");
  EXPECT_EQ(outcome(Marker::State::active, 60s), "failed #1 excluded");
  EXPECT_EQ(outcome(Marker::State::blank, 30s), "failed #1 excluded") << "too few remember";
}

/// What becomes of a lease when two of three nodes, which had evicted five keys, come back so.
struct Returned {
  const char* name;
  std::uint64_t evicted;
  bool keeps_keys;
  bool another_memory;  ///< by the marker, the node has forgotten something meanwhile
  bool lost;
};

class ResetCounters : public testing::TestWithParam<Returned> {
 protected:
  std::string come_up(NodeIndex node, const Returned& as) {
    std::string marker = text_of_marker(node);
    if (as.another_memory) marker.insert(marker.size() - 2, " 7");
    NodeUp event;
    event.evicted = as.evicted;
    event.keeps_keys = as.keeps_keys;
    event.marker = marker;
    return h_.up_as(node, event);
  }

  Harness h_{with_restart_guard(3)};
};

TEST_P(ResetCounters, EndALeaseOnlyIfANodeMayHaveEvictedIt) {
  h_.tick();
  for (NodeIndex node = 0; node < 3; ++node) come_up(node, {"", 5, true, false, false});
  h_.acquire(1, 10s);
  h_.end_turn();
  std::string commands;
  for (NodeIndex node = 0; node < 3; ++node) {
    h_.answers({node}, Reply::granted);
    commands += h_.answer(node, Reply::marker, text_of_marker(node));
  }
  ASSERT_NE(commands.find("acquired #1"), std::string::npos) << commands;
  commands.clear();
  for (const NodeIndex node : {NodeIndex{0}, NodeIndex{1}}) {
    h_.down(node);
    commands += come_up(node, GetParam()) + "; ";
  }
  commands += h_.pass(0ms);
  EXPECT_EQ(commands.find("lost") != std::string::npos, GetParam().lost) << commands;
  const bool reported = commands.find("counters-reset 1") != std::string::npos;
  EXPECT_EQ(reported, GetParam().evicted == 0 && GetParam().keeps_keys) << commands;
}

INSTANTIATE_TEST_SUITE_P(Evictions, ResetCounters,
                         testing::Values(Returned{"Unchanged", 5, true, false, false},
                                         Returned{"Reset", 0, true, false, false},
                                         Returned{"ResetAndMayEvict", 0, false, false, true},
                                         Returned{"ResetAndEvictedSince", 4, true, false, true},
                                         Returned{"SeenToEvictAndReset", 0, true, true, true}),
                         [](const auto& returned) { return returned.param.name; });

TEST(MarkerBehindVotes, AVoteCountsWhenTheMarkerBehindItIsUnchanged) {
  Remembering h;
  h.acquire(1, 10s);
  h.end_turn();
  EXPECT_EQ(h.answers({0, 1}, Reply::granted), "");
  EXPECT_EQ(h.unchanged(0), "");
  EXPECT_EQ(h.unchanged(1), "acquired #1 until 9898ms");
}

TEST(MarkerBehindVotes, ConfirmsAllThatCameAheadOfItInTheSameRead) {
  Remembering h;
  h.acquire(1, 10s);
  h.end_turn();
  h.acquire(2, 10s);
  for (const NodeIndex node : {NodeIndex{0}, NodeIndex{1}}) {
    const std::string marker = text_of_marker(node);
    // The vote after the marker waits for a marker of its own.
    const std::vector<PlainYes> answers{{h.take_open(node), Reply::granted},
                                        {h.take_open(node), Reply::marker},
                                        {h.take_open(node), Reply::granted}};
    EXPECT_EQ(h.step(PlainYeses{node, answers, marker}),
              node == 0 ? "" : "acquired #1 until 9898ms");
  }
  h.end_turn();
  EXPECT_EQ(h.unchanged(0), "");
  EXPECT_EQ(h.unchanged(1), "acquired #2 until 9898ms");
}

TEST(MarkerBehindVotes, ConfirmsInTheirOrderWhatIsHeldBackFromBefore) {
  Remembering h;
  h.acquire(1, 10s);
  h.acquire(2, 10s);
  h.end_turn();
  for (const NodeIndex node : {NodeIndex{0}, NodeIndex{1}}) {
    h.answer(node, Reply::granted);
    const std::string marker = text_of_marker(node);
    const std::vector<PlainYes> answers{{h.take_open(node), Reply::granted},
                                        {h.take_open(node), Reply::marker}};
    EXPECT_EQ(h.step(PlainYeses{node, answers, marker}),
              node == 0 ? "" : "acquired #1 until 9898ms; acquired #2 until 9898ms");
  }
}

TEST(MarkerBehindVotes, AnotherOneThatComesTogetherWithVotesTakesThemBack) {
  Remembering h;
  h.acquire(1, 10s);
  h.end_turn();
  std::vector<PlainYes> answers{{h.take_open(0), Reply::granted}, {h.take_open(0), Reply::marker}};
  h.acquire(2, 10s);
  answers.push_back({h.take_open(0), Reply::granted});
  const std::string marker = text_of_marker(0, "another");
  EXPECT_TRUE(h.step(PlainYeses{0, answers, marker}).starts_with("disconnect 0"));
  h.answers({1}, Reply::granted);
  EXPECT_EQ(h.unchanged(1), "");
}

TEST(MarkerBehindVotes, ANodeThatForgotBeforeItGrantedHasNoVoteAndIsAskedAnewAtOnce) {
  Remembering h;
  h.acquire(1, 10s);
  h.end_turn();
  h.answers({0, 1}, Reply::granted);
  h.unchanged(0);
  EXPECT_EQ(h.answer(1, Reply::marker, ""), "disconnect 1");
  EXPECT_EQ(h.until_deadline(), 0s);
  EXPECT_EQ(h.tick(), "connect 1 and mark");
  // Node 2 decides: the answer of node 1 does not count.
  h.answer(2, Reply::taken, "other");
  EXPECT_EQ(h.unchanged(2).find("acquired"), std::string::npos);
}

TEST(MarkerBehindVotes, AnExtendCountsOnlyWithItsMarkerToo) {
  Remembering h;
  h.acquire(1, 10s);
  h.end_turn();
  h.answers({0, 1}, Reply::granted);
  h.unchanged(0);
  h.unchanged(1);
  h.extend(2, 10s);
  EXPECT_EQ(h.end_turn(), "read-marker -> 0 1 2");
  EXPECT_EQ(h.answers({0, 1}, Reply::extended), "");
  h.unchanged(0);
  EXPECT_EQ(h.answer(1, Reply::marker, ""), "disconnect 1") << "one vote is no quorum";
}

TEST(MarkerBehindVotes, AReplicaOrOneThatLoadsItsDataEndsTheConnection) {
  for (const char* error :
       {"READONLY You can't write against a read only replica.",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "LOADING Redis is loading the dataset in memory",
        "ERR Error running script: @user_script: 1: -READONLY You can't write"}) {
    Remembering h;
    h.acquire(1, 10s);
    h.end_turn();
    EXPECT_EQ(h.answer(0, Reply::error, error), "disconnect 0") << error;
  }
  Remembering h;
  h.acquire(1, 10s);
  h.end_turn();
  EXPECT_EQ(h.answer(0, Reply::error, "OOM command not allowed"), "");
}

TEST(MarkerBehindVotes, WithoutTheRestartGuardNothingIsRead) {
  Connected h(3);
  h.acquire(1, 10s);
  EXPECT_EQ(h.end_turn(), "");
  EXPECT_EQ(h.answers({0, 1}, Reply::granted), "acquired #1 until 9898ms");
}

/// Three nodes, one of which an operator has already put into another deployment.
struct Mixed : Harness {
  explicit Mixed(std::size_t nodes, std::initializer_list<std::pair<int, std::string>> members)
      : Harness(with_restart_guard(nodes)) {
    tick();
    for (const auto& [node, deployment] : members) {
      const std::string marker = member(static_cast<NodeIndex>(node), deployment);
      NodeUp event;
      event.marker = marker;
      up_as(static_cast<NodeIndex>(node), event);
    }
  }
  /// "D" has three members, "E" has five.
  static std::string member(NodeIndex node, const std::string& deployment) {
    std::string marker = text_of_marker(node);
    marker.replace(marker.find(" D "), 3, " " + deployment + " ");
    if (deployment == "E") marker.replace(marker.find("node0,"), 6, "a,b,node0,");
    return marker;
  }
};

TEST(DeploymentIds, OneRoundCountsTheVotesOfOneDeployment) {
  Mixed h(3, {{0, "E"}, {1, "D"}, {2, "D"}});
  EXPECT_EQ(h.acquire(1, 10s), "set t1 -> 1 2");
  h.end_turn();
  h.answers({1, 2}, Reply::granted);
  h.answer(1, Reply::marker, Mixed::member(1, "D"));
  EXPECT_EQ(h.answer(2, Reply::marker, Mixed::member(2, "D")), "acquired #1 until 9898ms");
  EXPECT_EQ(h.engine().exclusion(0), "it belongs to another deployment than most of the nodes");
  // The extend reaches node 2 as well, but its answer is not a vote for the lease.
  h.extend(2, 10s);
  h.end_turn();
  EXPECT_EQ(h.answer(0, Reply::extended) + h.answer(1, Reply::extended), "");
  h.answer(0, Reply::marker, Mixed::member(0, "E"));
  EXPECT_EQ(h.answer(1, Reply::marker, Mixed::member(1, "D")), "");
  EXPECT_EQ(h.commands().size(), 0U);
}

TEST(DeploymentIds, AClientThatKnowsTooFewMembersGetsTheReason) {
  Mixed h(1, {{0, "D"}});
  EXPECT_EQ(h.acquire(1, 10s), "failed #1 excluded") << "one of three";
  EXPECT_EQ(h.engine().exclusion(0),
            "it belongs to a deployment of 3 nodes; this client has 1 node");
}

TEST(DeploymentIds, WithoutTheGuardBlankNodesCountOnlyAmongThemselves) {
  Settings settings = with_restart_guard(3);
  settings.restart_guard = false;
  Harness h(settings);
  h.tick();
  NodeUp event;
  for (NodeIndex node = 0; node < 3; ++node) h.up_as(node, event);
  EXPECT_EQ(h.acquire(1, 10s), "set t1 -> 0 1 2");
  h.down(0);
  const std::string member = text_of_marker(0);
  event.marker = member;
  h.up_as(0, event);
  EXPECT_EQ(h.acquire(2, 10s), "failed #2 excluded");
  EXPECT_EQ(h.engine().exclusion(1), "it belongs to no deployment, and others do");
}

TEST(MarkerBehindVotes, AJoiningNodeHasNoVoteAndAnotherMaxTtlNeither) {
  Harness h(with_restart_guard(3));
  h.tick();
  std::string marker = text_of_marker(0);
  marker.replace(marker.find("active"), 6, "joining");
  NodeUp event;
  event.marker = marker;
  EXPECT_EQ(h.up_as(0, event), "excluded 0");
  EXPECT_EQ(h.engine().exclusion(0), "it is joining a deployment");
  // Its result is never reported.
  EXPECT_EQ(h.pass(1s).substr(0, 16), "read-marker -> 0");
  h.down(0);
  marker = text_of_marker(0);
  marker.replace(marker.find("30000"), 5, "60000");
  event.marker = marker;
  h.up_as(0, event);
  EXPECT_EQ(h.engine().exclusion(0),
            "it belongs to a deployment with a max TTL of 60 s; this client has 30 s");
}

}  // namespace
}  // namespace redlock::core::test
