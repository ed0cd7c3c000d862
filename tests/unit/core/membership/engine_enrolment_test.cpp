// Clients take back nodes that forgot their deployment, and open deployments that all nodes forgot.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/membership/marker.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

/// Three nodes that keep their markers as mark.lua does.
struct EnrollingClient : Harness {
  EnrollingClient() : Harness(settings()) {
    tick();
    // A client that wants no lock writes nothing.
    acquire(100, 10s);
    cancel(100);
  }

  static Settings settings() {
    Settings settings = Harness::settings_for(3);
    settings.restart_guard = true;
    settings.quarantine = 31s;
    return settings;
  }
  static Marker blank(NodeIndex node) {
    Marker marker;
    marker.incarnation = "i";
    marker.run_id = "server" + std::to_string(node);
    marker.replid = "r";
    marker.max_ttl = std::chrono::milliseconds(30s);
    return marker;
  }
  static Marker member(NodeIndex node) {
    Marker marker = blank(node);
    marker.state = Marker::State::active;
    marker.deployment = "D";
    marker.members = {"node0", "node1", "node2"};
    marker.self = "node" + std::to_string(node);
    return marker;
  }
  /// A marker written by a client that has other names for the same nodes.
  static Marker opening_elsewhere(NodeIndex node) {
    Marker marker = member(node);
    marker.incarnation = "j";
    marker.state = Marker::State::opening;
    marker.members = {"proxy0", "proxy1", "proxy2"};
    marker.self = "proxy" + std::to_string(node);
    return marker;
  }
  std::string come_up(NodeIndex node, const Marker& marker, Duration quarantine = {}) {
    markers[node] = format_marker(marker) + " 1";
    NodeUp event;
    event.marker = markers[node];
    event.quarantine = quarantine;
    event.quarantine_why = "it restarted";
    return up_as(node, event);
  }
  /// Connects to the server of node 2 by another name.
  std::string come_up_as_duplicate(NodeIndex node, const Marker& marker) {
    markers[node] = format_marker(marker) + " 1";
    NodeUp event;
    event.marker = markers[node];
    event.server = "server2";
    return up_as(node, event);
  }
  /// Answers read-marker.
  std::string read(NodeIndex node) { return answer(node, Reply::marker, markers[node]); }
  /// Lets time pass and answers the reads meanwhile, until the engine writes.
  std::string look(Duration by) {
    constexpr Duration step = 100ms;
    std::string text;
    for (Duration passed{}; passed < by; passed += step) {
      note(text, pass(step));
      for (NodeIndex node = 0; node < 3; ++node) {
        while (open(node) > 0 && text.find("write-marker") == std::string::npos) {
          note(text, read(node));
        }
      }
    }
    return text;
  }
  static void note(std::string& text, const std::string& more) {
    if (!text.empty() && !more.empty()) text += "; ";
    text += more;
  }
  /// The engine's pending write.
  [[nodiscard]] Marker to_write() const {
    for (const Command& command : commands()) {
      const Request* request = request_in(command);
      if (request == nullptr || request->terms.marker == nullptr) continue;
      EXPECT_EQ(request->form, ScriptForm::text) << "the node has not seen the script before";
      return parse_marker(request->terms.marker->text + " 2").value();
    }
    ADD_FAILURE() << "nothing is written";
    return {};
  }
  /// The node writes the marker, because no other client was faster.
  std::string write(NodeIndex node, const Marker& marker, Duration quarantine) {
    markers[node] = format_marker(marker) + " 2";
    return answer_written(node, quarantine);
  }
  /// Gives nodes 0 and 1 the admission under which node 2 is taken back, and re-reads both.
  std::string give_admission() {
    read(2);
    write(0, to_write(), 0s);
    write(1, to_write(), 0s);
    read(0);
    return read(1);
  }
  /// Answers write-marker with the marker that some client has written.
  std::string answer_written(NodeIndex node, Duration quarantine) {
    return marker_answer(node, markers[node], quarantine);
  }

  std::map<NodeIndex, std::string> markers;
};

TEST(EngineEnrolment, ANodeThatForgotIsTakenBackOnceTheOthersWereReadAgain) {
  EnrollingClient h;
  h.come_up(0, EnrollingClient::member(0));
  h.come_up(1, EnrollingClient::member(1));
  EXPECT_EQ(h.come_up(2, EnrollingClient::blank(2), 31s), "read-marker -> 2");
  EXPECT_EQ(h.read(2), "write-marker 0");
  EXPECT_EQ(h.write(0, h.to_write(), 0s), "write-marker 1");
  EXPECT_EQ(h.write(1, h.to_write(), 0s), "read-marker -> 0 1");
  EXPECT_EQ(h.read(0), "");
  EXPECT_EQ(h.read(1), "write-marker 2");
  const Marker marker = h.to_write();
  EXPECT_EQ(marker.deployment, "D");
  EXPECT_EQ(marker.self, "node2");
  EXPECT_EQ(h.write(2, marker, 31s), "excluded 2") << "once, when it is clear why";
  EXPECT_EQ(h.engine().exclusion(2), "quarantined for 31 s more: it restarted");
  h.pass(31s);
  EXPECT_EQ(h.acquire(1, 10s), "set t4 -> 0 1 2");
}

TEST(EngineEnrolment, AQuarantineIsOverIfTheNextHandshakeFindsAnotherMarkerAndNone) {
  for (const bool another : {true, false}) {
    EnrollingClient h;
    for (NodeIndex node = 0; node < 3; ++node) h.come_up(node, EnrollingClient::member(node), 31s);
    for (NodeIndex node = 0; node < 3; ++node) {
      h.down(node);
      Marker marker = EnrollingClient::member(node);
      if (another) marker.incarnation = "j";
      h.come_up(node, marker);
    }
    EXPECT_EQ(h.acquire(1, 10s).find("set t") == 0, another);
  }
}

TEST(EngineEnrolment, VotesOfAMemberThatAnotherClientHasWrittenMeanwhileDoNotCount) {
  for (const bool ours : {true, false}) {
    EnrollingClient h;
    h.come_up(0, EnrollingClient::member(0));
    h.come_up(1, EnrollingClient::member(1));
    h.come_up(2, EnrollingClient::blank(2));
    EXPECT_EQ(h.read(2), "write-marker 0");
    Marker marker = h.to_write();
    // Before the write, the node may have forgotten its marker and become a member again.
    if (!ours) marker.incarnation = "another";
    EXPECT_EQ(h.write(0, marker, 0s).find("disconnect 0") == std::string::npos, ours);
  }
}

/// The server that nodes 0 and 1 know as node 2 is not the one that is connected.
struct LostPlace : EnrollingClient {
  LostPlace() {
    for (const NodeIndex node : {NodeIndex{0}, NodeIndex{1}}) come_up(node, now_admitted(node));
    come_up(2, member(2));
  }
  static Marker now_admitted(NodeIndex node) {
    Marker marker = member(node);
    set_admission(marker, "node2", "1.i");
    return marker;
  }
};

TEST(EngineEnrolment, ANodeThatLostItsPlaceIsConnectedToAnewBecauseItsNameMayLeadElsewhere) {
  LostPlace h;
  EXPECT_THAT(h.engine().exclusion(2), testing::StartsWith("its place was given to another"));
  EXPECT_EQ(h.look(4900ms).find("connect"), std::string::npos);
  EXPECT_THAT(h.look(100ms), testing::HasSubstr("disconnect 2; connect 2"));
  h.come_up(2, LostPlace::now_admitted(2));
  EXPECT_EQ(h.look(6s).find("connect"), std::string::npos);
  EXPECT_THAT(h.acquire(1, 10s), testing::EndsWith("-> 0 1 2"));
}

TEST(EngineEnrolment, ANodeThatLostItsPlaceIsTakenBackInTheEndThoughItIsConnectedToAnew) {
  LostPlace h;
  std::string seen;
  int connections = 0;
  for (int i = 0; i < 320 && seen.find("write-marker") == std::string::npos; ++i) {
    seen = h.look(100ms);
    if (seen.find("disconnect 2") == std::string::npos) continue;
    ++connections;
    EnrollingClient::note(seen, h.come_up(2, EnrollingClient::member(2)));
  }
  EXPECT_THAT(seen, testing::HasSubstr("write-marker"));
  EXPECT_GE(connections, 5);
}

TEST(EngineEnrolment, OneOfThreeTakesNobodyBack) {
  EnrollingClient h;
  h.come_up(0, EnrollingClient::member(0));
  EXPECT_EQ(h.come_up(1, EnrollingClient::blank(1)), "excluded 1");
  EXPECT_EQ(h.come_up(2, EnrollingClient::blank(2)), "excluded 2");
  EXPECT_EQ(h.acquire(1, 10s), "failed #1 excluded");
  EXPECT_EQ(h.engine().exclusion(1), "it belongs to no deployment: it is new, or forgot which");
  // Other clients, or an operator, can do what this client cannot.
  EXPECT_EQ(h.pass(1s), "read-marker -> 0; read-marker -> 1; read-marker -> 2");
}

TEST(EngineEnrolment, WhatWasKeptBeforeTheNodeForgotIsWorthNothing) {
  // A lease on nodes 0 and 1. Node 1 forgets it and is taken back: an extend there proves nothing.
  EnrollingClient h;
  for (NodeIndex node = 0; node < 3; ++node) h.come_up(node, EnrollingClient::member(node));
  h.acquire(1, 10s);
  h.end_turn();
  h.answers({0, 1}, Reply::granted);
  h.answer(2, Reply::taken);
  h.read(0);
  EXPECT_EQ(h.read(1).substr(0, 11), "acquired #1");
  h.read(2);
  h.down(1);
  h.come_up(1, EnrollingClient::blank(1), 31s);
  h.read(1);
  h.write(0, h.to_write(), 0s);
  h.write(2, h.to_write(), 0s);
  h.read(0);
  h.read(2);
  h.write(1, h.to_write(), 31s);
  EXPECT_EQ(h.extend(2, 10s), "extend t1 -> 0 1 2");
  h.end_turn();
  for (NodeIndex node = 0; node < 2; ++node) h.answer(node, Reply::extended);
  h.answer(2, Reply::gone);
  h.read(0);
  h.read(1);
  EXPECT_NE(h.read(2).find("failed #2"), std::string::npos);
}

/// Three nodes, and a client that has not requested a lock.
struct Onlookers : Harness {
  explicit Onlookers(Duration max_ttl = 30s) : Harness(settings(max_ttl)) { tick(); }
  static Settings settings(Duration max_ttl) {
    Settings settings = EnrollingClient::settings();
    settings.max_ttl = max_ttl;
    settings.quarantine = max_ttl + 1s;
    return settings;
  }
  std::string come_up(NodeIndex node, const Marker& marker) {
    const std::string text = format_marker(marker) + " 1";
    NodeUp event;
    event.marker = text;
    event.unmarked = marker.run_id != "server" + std::to_string(node);
    return up_as(node, event);
  }
  /// The node's marker from before its restart.
  static Marker restarted(NodeIndex node) {
    Marker marker = EnrollingClient::member(node);
    marker.run_id = "before";
    return marker;
  }
};

TEST(EngineEnrolment, WhoWantsNoLockMarksNothingAndTakesNothingBack) {
  Onlookers h;
  h.come_up(0, EnrollingClient::member(0));
  EXPECT_EQ(h.come_up(1, EnrollingClient::blank(1)), "excluded 1");
  EXPECT_EQ(h.come_up(2, Onlookers::restarted(2)), "excluded 2");
  EXPECT_EQ(h.engine().exclusion(2), nobody_met_it);
  EXPECT_EQ(h.engine().link(2).mandate->known_as(), "") << "it may have the data of another node";
  EXPECT_EQ(h.pass(500ms), "");
  EXPECT_EQ(h.acquire(1, 10s), "disconnect 2");
  EXPECT_EQ(h.tick(), "connect 2 and mark") << "which is waited for";
  EXPECT_EQ(h.come_up(2, EnrollingClient::blank(2)), "failed #1 excluded; excluded 2");
}

TEST(EngineEnrolment, ANodeIsMarkedAtOnceAlsoAfterAnOutage) {
  Onlookers h;
  h.come_up(0, EnrollingClient::member(0));
  h.come_up(1, EnrollingClient::member(1));
  for (int i = 0; i < 10; ++i) {
    h.down(2, "refused");
    h.pass(1s);
  }
  h.come_up(2, Onlookers::restarted(2));
  EXPECT_EQ(h.acquire(1, 10s).find("disconnect 2"), 0U);
  EXPECT_EQ(h.tick(), "connect 2 and mark") << "the end of that connection is no failure";
}

TEST(EngineEnrolment, AClientThatWantsALockMarksNodesOnceAQuorumIsThere) {
  Onlookers h;
  EXPECT_EQ(h.acquire(1, 10s), "");
  EXPECT_EQ(h.come_up(0, Onlookers::restarted(0)), "excluded 0") << "others may know better";
  EXPECT_EQ(h.come_up(1, EnrollingClient::member(1)), "disconnect 0");
  EXPECT_EQ(h.tick(), "connect 0 and mark");
}

TEST(EngineEnrolment, AClientWithAnotherMaxTtlThanTheOthersMarksNothing) {
  Onlookers h(3600s);
  h.come_up(0, EnrollingClient::member(0));
  h.come_up(1, EnrollingClient::member(1));
  h.come_up(2, Onlookers::restarted(2));
  EXPECT_EQ(h.acquire(1, 10s), "failed #1 excluded");
  h.down(2);
  EXPECT_EQ(h.pass(h.until_deadline()), "connect 2");
}

TEST(EngineEnrolment, ANodeThatAClientWithAnotherMaxTtlHasMetSaysWhyItStaysClosed) {
  Onlookers h(3600s);
  for (NodeIndex node = 0; node < 3; ++node) h.come_up(node, EnrollingClient::blank(node));
  EXPECT_EQ(h.acquire(1, 10s), "failed #1 excluded");
  EXPECT_EQ(h.engine().exclusion(0),
            "it belongs to no deployment yet: a client with a max TTL of 30 s has met it, this one "
            "has 3600 s, and clients that disagree open none");
}

TEST(EngineEnrolment, NothingIsWrittenWithoutTheGuard) {
  Settings settings = EnrollingClient::settings();
  settings.restart_guard = false;
  Harness h(settings);
  h.tick();
  NodeUp event;
  const std::string marker = format_marker(EnrollingClient::blank(0)) + " 1";
  event.marker = marker;
  for (NodeIndex node = 0; node < 3; ++node) EXPECT_EQ(h.up_as(node, event), "");

  // A node without a marker is not re-read, even with too few nodes up.
  Harness alone(settings);
  alone.tick();
  alone.up(0);
  EXPECT_EQ(alone.pass(2s).find("read-marker"), std::string::npos);
}

TEST(EngineEnrolment, WithoutTheGuardALeaseMayNotOutliveWhatNodesThatForgotStayAwayFor) {
  for (const auto own : {30s, 60s}) {
    Settings settings = EnrollingClient::settings();
    settings.restart_guard = false;
    settings.max_ttl = own;
    Harness h(settings);
    h.tick();
    for (NodeIndex node = 0; node < 3; ++node) {
      const std::string marker = format_marker(EnrollingClient::member(node)) + " 1";
      NodeUp event;
      event.marker = marker;
      h.up_as(node, event);
    }
    EXPECT_EQ(h.acquire(1, 10s), own == 30s ? "set t1 -> 0 1 2" : "failed #1 excluded");
  }
}

TEST(EngineEnrolment, AMemberThatTheListNamesOtherwiseIsNotLearned) {
  EnrollingClient h;
  for (NodeIndex node = 0; node < 3; ++node) {
    Marker marker = EnrollingClient::member(node);
    marker.members = {"node0", "node1", "proxy2"};
    if (node == 2) marker.self = "proxy2";
    EXPECT_EQ(h.come_up(node, marker), "");
  }
  h.down(2);
  EXPECT_EQ(h.come_up(2, EnrollingClient::blank(2)).find("learned"), std::string::npos);
}

/// Nodes 0 and 1 have named a member that could not be connected to, and that may be node 2.
struct WithLearned : EnrollingClient {
  WithLearned() {
    for (NodeIndex node = 0; node < 2; ++node) come_up(node, member_of_proxy(node));
    EXPECT_EQ(down(2), "learned 3");
    EXPECT_EQ(tick(), "connect 3 and mark");
  }
  static Marker member_of_proxy(NodeIndex node) {
    Marker marker = member(node);
    marker.members = {"node0", "node1", "proxy2"};
    if (node == 2) marker.self = "proxy2";
    return marker;
  }
};

TEST(EngineEnrolment, ANodeThatForgotIsTakenBackByTheNameThatTheMembersHaveForIt) {
  WithLearned h;
  EXPECT_EQ(h.come_up(2, EnrollingClient::blank(2)).find("write-marker"), std::string::npos);
  const std::string found = h.come_up_as_duplicate(3, EnrollingClient::blank(2));
  EXPECT_NE(found.find("read-marker -> 2"), std::string::npos) << found;
  h.give_admission();
  EXPECT_EQ(h.to_write().self, "proxy2");
  EXPECT_EQ(h.to_write().state, Marker::State::active);
}

TEST(EngineEnrolment, AQuorumThatOneMarkerAsksForIsNotBelievedBeforeTheOthersAreThere) {
  EnrollingClient h;
  Marker edited = EnrollingClient::member(0);
  for (int i = 3; i < 12; ++i) edited.members.push_back("node" + std::to_string(i));
  std::sort(edited.members.begin(), edited.members.end());
  EXPECT_EQ(h.come_up(0, edited), "excluded 0");
  EXPECT_EQ(h.acquire(1, 10s), "") << "first contact goes on";
  h.come_up(1, EnrollingClient::member(1));
  EXPECT_EQ(h.come_up(2, EnrollingClient::member(2)), "set t1 -> 1 2");
  EXPECT_EQ(h.engine().exclusion(0),
            "its membership record names other members than that of most of the nodes");
}

TEST(EngineEnrolment, ANodeThatRefusesToBeMarkedEndsNoWait) {
  EnrollingClient h;
  h.come_up(0, EnrollingClient::opening_elsewhere(0));
  h.come_up(1, EnrollingClient::blank(1));
  h.come_up(2, EnrollingClient::blank(2));
  h.look(3s);
  h.answer(0, Reply::error, "OOM command not allowed");
  h.down(2);
  h.come_up(2, EnrollingClient::opening_elsewhere(2));
  EXPECT_EQ(h.look(2900ms).find("write-marker"), std::string::npos);
  EXPECT_NE(h.look(2s).find("write-marker 0"), std::string::npos);
}

TEST(EngineEnrolment, AnotherNameOfANodeThatWasLearnedDoesNotKeepTheDeploymentClosed) {
  WithLearned h;
  h.come_up(2, WithLearned::member_of_proxy(2));
  h.come_up_as_duplicate(3, WithLearned::member_of_proxy(2));
  for (NodeIndex node = 0; node < 4; ++node) h.down(node);
  for (NodeIndex node = 0; node < 3; ++node) h.come_up(node, EnrollingClient::blank(node));
  const std::string opens = h.come_up_as_duplicate(3, EnrollingClient::blank(2));
  EXPECT_NE(opens.find("write-marker 0"), std::string::npos) << opens;
}

TEST(EngineEnrolment, AClientThatClosesAtOnceLeavesNoOpeningHalfDone) {
  EnrollingClient h;
  h.come_up(0, EnrollingClient::blank(0));
  h.come_up(1, EnrollingClient::blank(1));
  EXPECT_EQ(h.step(Shutdown{1s}), "") << "the third node is a moment away";
  EXPECT_EQ(h.come_up(2, EnrollingClient::blank(2)), "write-marker 0");
  for (NodeIndex node = 0; node < 3; ++node) h.write(node, h.to_write(), 31s);
  for (NodeIndex node = 0; node < 3; ++node) h.read(node);
  h.write(0, h.to_write(), 31s);
  h.write(1, h.to_write(), 31s);
  h.read(0);
  h.read(1);
  EXPECT_EQ(h.write(2, h.to_write(), 31s), "excluded 2; drained");

  EnrollingClient alone;
  alone.come_up(0, EnrollingClient::blank(0));
  EXPECT_EQ(alone.step(Shutdown{1s}), "");
  EXPECT_NE(alone.pass(100ms).find("drained"), std::string::npos) << "but not for long";
}

}  // namespace
}  // namespace redlock::core::test
