#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/membership/marker.hpp"
#include "unit/core/harness.hpp"

/// Calls by token on a client that has not met the nodes, such as each command of the shell.
namespace redlock::core::test {
namespace {

Settings with_guards(std::size_t nodes) {
  Settings settings = Harness::settings_for(nodes);
  settings.restart_guard = true;
  settings.clock_guard = true;
  return settings;
}

/// The marker of a node in a deployment of `members` nodes.
std::string marker_of(NodeIndex node, std::size_t members = 3, std::string_view deployment = "D") {
  Marker marker;
  marker.state = Marker::State::active;
  marker.incarnation = "i";
  marker.deployment = deployment;
  marker.run_id = "server" + std::to_string(node);
  marker.replid = "r";
  marker.max_ttl = std::chrono::milliseconds(30s);
  for (std::size_t i = 0; i < members; ++i) marker.members.push_back("node" + std::to_string(i));
  marker.self = "node" + std::to_string(node);
  return format_marker(marker) + " 1";
}

/// A client that has just begun to connect.
struct JustBegun : Harness {
  explicit JustBegun(std::size_t nodes = 3) : Harness(with_guards(nodes)) { tick(); }
  std::string come_up(NodeIndex node, const std::string& marker) {
    NodeUp event;
    event.marker = marker;
    return up_as(node, event);
  }
  std::string come_up(NodeIndex node) { return come_up(node, marker_of(node)); }
  /// The nodes answer the upkeep: their clocks are right, and their markers unchanged.
  std::string answer_upkeep(const std::vector<NodeIndex>& nodes) {
    std::string text;
    for (const NodeIndex node : nodes) text += answer(node, Reply::marker, marker_of(node));
    return text;
  }
};

ExtendToken extend() { return {CallId{1}, "r", *Token::parse("abc"), 10s}; }

TEST(ByTokenInFirstContact, AnExtendCountsTheNodesThatComeUpAfterIt) {
  JustBegun h;
  EXPECT_EQ(h.step(extend()), "");
  EXPECT_EQ(h.come_up(0), "read-clock -> 0") << "one node does not say which deployment counts";
  EXPECT_EQ(h.come_up(1), "read-clock -> 1; extend abc -> 0 1");
  EXPECT_EQ(h.come_up(2), "read-clock -> 2; extend abc -> 2");
  for (NodeIndex node = 0; node < 3; ++node) h.clock(node, 1000s);
  h.end_turn();
  h.answers({0, 1}, Reply::extended);
  EXPECT_EQ(h.answer_upkeep({0, 1}), "extended until 9898ms; extended #1 until 9898ms");
}

TEST(ByTokenInFirstContact, EveryCallBeginsWhenAQuorumOfOneDeploymentIsUp) {
  const Token token = *Token::parse("abc");
  ReleaseToken broken{CallId{1}, "r", token, true};
  broken.delay = 5s;
  const std::vector<std::pair<Event, std::string>> calls{
      {extend(), "extend abc"},
      {ReleaseToken{CallId{1}, "r", token}, "release abc"},
      {broken, "break abc"},
      {Inspect{CallId{1}, "r"}, "inspect "},
  };
  for (const auto& [call, name] : calls) {
    JustBegun h(5);
    EXPECT_EQ(h.step(call), "");
    for (NodeIndex node = 0; node < 2; ++node) {
      EXPECT_EQ(h.come_up(node, marker_of(node, 5)), "read-clock -> " + std::to_string(node));
    }
    EXPECT_EQ(h.come_up(2, marker_of(2, 5)), "read-clock -> 2; " + name + " -> 0 1 2");
    EXPECT_EQ(h.come_up(3, marker_of(3, 5)), "read-clock -> 3; " + name + " -> 3");
  }
}

TEST(ByTokenInFirstContact, TheQuorumIsThatOfTheMembersNotOfTheList) {
  // Three nodes of a deployment of five: three have to release it.
  JustBegun h(3);
  h.step(ReleaseToken{CallId{1}, "r", *Token::parse("abc")});
  for (NodeIndex node = 0; node < 2; ++node) h.come_up(node, marker_of(node, 5));
  EXPECT_EQ(h.come_up(2, marker_of(2, 5)),
            "read-clock -> 2; release abc -> 0 1 2; learned 3; learned 4");
  for (NodeIndex node = 0; node < 3; ++node) h.clock(node, 1000s);
  EXPECT_EQ(h.answers({0, 1}, Reply::released), "");
  EXPECT_EQ(h.answer(2, Reply::released), "released #1");
}

TEST(ByTokenInFirstContact, ANodeOfAnotherDeploymentDoesNotDecide) {
  JustBegun h;
  h.step(extend());
  EXPECT_EQ(h.come_up(0, marker_of(0, 3, "E")), "read-clock -> 0");
  EXPECT_EQ(h.come_up(1), "excluded 1; read-clock -> 1");
  EXPECT_EQ(h.come_up(2), "read-clock -> 2; extend abc -> 0 1 2");
}

TEST(ByTokenInFirstContact, AClientThatClosesAnswersAllTheSame) {
  JustBegun h;
  h.step(extend());
  h.step(Shutdown{1s});
  EXPECT_EQ(h.pass(1s), "failed #1 closed; drained; disconnect 0; disconnect 1; disconnect 2");
}

}  // namespace
}  // namespace redlock::core::test
