#include "quorum-lock/verbs/deployment_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace redlock::cli {
namespace {

using FindingKind = admin::Finding::Kind;

admin::Finding found(FindingKind kind, const std::string& node, std::string what = "It is wrong.") {
  return {node, kind, std::move(what), "A cause.", "A remedy."};
}

std::string quiet_text(std::vector<admin::Finding> findings) {
  Settings settings;
  settings.detail = Settings::Detail::quiet;
  admin::DeploymentCheck check;
  check.findings = std::move(findings);
  return check_text(Style(false), settings, check, {});
}

TEST(CheckText, NamesTheNodesOfOneProblemTogether) {
  EXPECT_EQ(quiet_text({found(FindingKind::unreachable, "a"), found(FindingKind::clock, "b"),
                        found(FindingKind::unreachable, "c")}),
            R"(
unreachable  a, c
  what    It is wrong.
  why     A cause.
  remedy  A remedy.

clock  b
  what    It is wrong.
  why     A cause.
  remedy  A remedy.
)");
}

TEST(CheckText, SaysOfEachNodeWhatDiffers) {
  EXPECT_EQ(quiet_text({found(FindingKind::quarantined, "a", "It votes in 1 s."),
                        found(FindingKind::quarantined, "b", "It votes in 2 s.")}),
            R"(
quarantined  a, b
  what    a: It votes in 1 s.
          b: It votes in 2 s.
  why     A cause.
  remedy  A remedy.
)");
}

TEST(CheckText, KeepsProblemsWithDifferentRemediesApart) {
  admin::Finding socket = found(FindingKind::unreachable, "unix:///run/redis");
  socket.remedy = "Another remedy.";
  EXPECT_THAT(quiet_text({found(FindingKind::unreachable, "a"), socket}),
              testing::HasSubstr("unreachable  unix:///run/redis\n"));
}

TEST(CheckText, CountsProblemsAndNotTheirNodes) {
  admin::DeploymentCheck check;
  check.findings = {found(FindingKind::clock, "a"), found(FindingKind::clock, "b")};
  const std::string text = check_text(Style(false), Settings(), check, {false, "1 of 3 can vote"});
  EXPECT_TRUE(text.ends_with("\n1 problem; 1 of 3 can vote\n")) << text;
}

/// A primary with two replicas, one of which is away.
admin::NodeCheck replicated_node() {
  admin::NodeCheck node;
  node.url = "redis://db?servers=3";
  node.reachable = node.marked = true;
  node.run_id = "run";
  admin::ReignCheck reign;
  reign.servers = 3;
  reign.stands = true;
  reign.confirmed_for = std::chrono::seconds(12);
  reign.acknowledged = reign.needed = 1;
  admin::ServerCheck primary{"10.0.0.7:6379", true, {}, 4012, 0, std::nullopt};
  admin::ServerCheck replica{"10.0.0.8:6379", false, "online", 4000, 12, std::chrono::seconds(1)};
  reign.seen = {primary, replica};
  node.reign = reign;
  return node;
}

TEST(CheckText, ShowsTheServersOfAReplicatedNodeBelowIt) {
  admin::DeploymentCheck check;
  check.nodes = {replicated_node()};
  EXPECT_THAT(check_text(Style(false), Settings(), check, {}),
              testing::HasSubstr(
                  "\n  10.0.0.7:6379  primary  offset 4012\n"
                  "  10.0.0.8:6379  replica  online, 12 bytes behind, acknowledged 1 s ago\n"
                  "  reign confirmed 12.000 s ago; acknowledged by 1 of 2 replicas, 1 needed\n"));
  check.nodes[0].reign->stands = false;
  check.nodes[0].reign->why_not = "no client has confirmed it";
  EXPECT_THAT(check_text(Style(false), Settings(), check, {}),
              testing::HasSubstr("\n  reign does not stand: no client has confirmed it\n"));
  EXPECT_EQ(state_of(check.nodes[0]), "reign does not stand");
}

TEST(OpenedText, SaysWhenTheFirstLockIsGranted) {
  admin::DeploymentCheck check;
  check.nodes = {replicated_node()};
  check.granted_in = std::chrono::seconds(0);
  const auto last_line = [&] {
    const std::string text = opened_text(Style(false), Settings(), check);
    return text.substr(text.rfind('\n', text.size() - 2) + 1);
  };
  EXPECT_EQ(last_line(), "deployment of 1 node is open\n");
  check.nodes[0].reign->stands = false;
  check.nodes[0].reign->why_not = "1 of its 3 servers is up to date; 2 are needed";
  check.granted_in = std::chrono::seconds(30);
  EXPECT_EQ(last_line(),
            "deployment of 1 node is open: first lock 30.000 s after a client has asked for it\n");
  check.granted_in.reset();
  EXPECT_EQ(
      last_line(),
      "deployment of 1 node is open: no lock is granted before a majority of the servers follows: "
      "redis://db?servers=3: 1 of its 3 servers is up to date; 2 are needed\n");
}

TEST(ChangeText, NamesTheNodesOfOneProblemTogether) {
  FindingChanges::Change change;
  change.gone = {found(FindingKind::clock, "a"), found(FindingKind::clock, "b")};
  change.appeared = {found(FindingKind::loading, "c"), found(FindingKind::loading, "d")};
  Settings settings;
  settings.detail = Settings::Detail::quiet;
  EXPECT_EQ(change_text(Style(false), settings, {}, {}, change, {}), R"(
clock  a, b
  gone

loading  c, d
  what    It is wrong.
  why     A cause.
  remedy  A remedy.
)");
}

}  // namespace
}  // namespace redlock::cli
